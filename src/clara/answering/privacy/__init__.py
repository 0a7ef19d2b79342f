"""What people may ask about themselves, what they say of an answer, what says who they are, and ways to a person."""
