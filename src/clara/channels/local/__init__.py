"""The chat page of this machine."""
