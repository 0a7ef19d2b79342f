"""What arrives while the database is away, kept in files on this machine."""
