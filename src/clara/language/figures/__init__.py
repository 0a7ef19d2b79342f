"""Reading the figures of a text in any served language, with every reading an ambiguous one may have."""
