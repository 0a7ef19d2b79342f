"""What a person or a schedule starts: one file a command."""
