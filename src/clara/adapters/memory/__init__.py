"""What lives in the memory of one process."""
