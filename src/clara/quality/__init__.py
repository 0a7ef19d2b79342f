"""Measuring what a retriever finds, and deciding whether it may be released."""
