"""Ways in which messages come and replies go: one folder a provider."""
