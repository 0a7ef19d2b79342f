"""The journey of a correction: what sources say, what differs, what a person decides about each fact, and what is served."""
