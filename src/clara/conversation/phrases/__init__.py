"""Recognising what is meant by how people really write: phrases as data, words as they are misspelt."""
