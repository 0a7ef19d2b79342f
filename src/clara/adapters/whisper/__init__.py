"""Speech to text on this machine."""
