"""The proof of a reply: every statement held against the facts it cites, without any model."""
