"""What operators and schedules do, on PostgreSQL: runs, audit, figures, upkeep and what it forgets."""
