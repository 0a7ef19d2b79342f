"""Taking messages in and bringing replies out, each exactly once, whatever dies on the way."""
