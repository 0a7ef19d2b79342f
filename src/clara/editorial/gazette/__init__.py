"""What the official gazette publishes each day, and which of it concerns what we know. Pure: nothing here reads or writes."""
