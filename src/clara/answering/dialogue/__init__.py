"""Knowing the conversation: choices, commands, corrections, follow-ups and asking back."""
