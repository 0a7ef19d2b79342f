"""Fetching what a source publishes, politely and from allowed domains only."""
