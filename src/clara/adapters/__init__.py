"""The edges: one folder a technology, none importing another."""
