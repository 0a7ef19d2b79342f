"""Redis: a cache that several processes share."""
