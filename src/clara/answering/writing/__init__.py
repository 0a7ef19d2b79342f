"""Writing an answer: by quoting facts, or with a model whose every sentence is reviewed."""
