"""The edges: one folder a technology, none importing another but `http`, which `boe` and `models` use."""
