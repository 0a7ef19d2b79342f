"""What editors decide and what is served, on PostgreSQL: findings, publications, the gazette."""
