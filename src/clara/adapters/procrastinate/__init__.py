"""The job engine on the same PostgreSQL: procrastinate."""
