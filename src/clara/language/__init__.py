"""Reading what people write, in every served language: letters, words, figures."""
