"""Ways in which messages come and replies go: one folder a channel, one line each in `registry`."""
