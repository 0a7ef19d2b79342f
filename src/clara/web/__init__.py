"""HTTP in: a request becomes a call, an outcome becomes a status. No SQL, no model, no policy."""
