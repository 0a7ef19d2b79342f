"""The journey of a document: from a file in data/ to passages that can be found."""
