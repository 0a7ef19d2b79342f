"""Telegram through its Bot API: updates in, sendMessage out."""
