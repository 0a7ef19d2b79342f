"""Encryption of what must not be read at rest."""
