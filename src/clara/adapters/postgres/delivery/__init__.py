"""Messages on PostgreSQL: inbox, turns, outbox, reports, limits."""
