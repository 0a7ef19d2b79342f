"""Law as evidence: norms of the official gazette cut into articles, compared, and pointed at by facts."""
