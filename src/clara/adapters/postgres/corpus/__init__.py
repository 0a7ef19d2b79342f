"""Corpora on PostgreSQL: passages, their vectors, the hybrid index."""
