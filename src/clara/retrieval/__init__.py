"""A corpus-agnostic retrieval engine: it knows passages, queries and scores, and nothing of where they come from."""
