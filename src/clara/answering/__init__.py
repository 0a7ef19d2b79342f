"""The journey of a message: from what a person wrote to what Clara answers."""
