"""PostgreSQL: the one piece of infrastructure. Passages, search, inbox, outbox and turns live here."""
