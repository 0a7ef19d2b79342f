"""Programs cut by tree-sitter. Needs the extra `code`: the parser and a wheel with the grammar of each language."""
