"""What a Spanish public procedure is, and everything that can be read off the catalogue alone."""
