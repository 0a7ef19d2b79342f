"""What must be right whatever else fails: danger, abuse, scope, and what may not be said."""
