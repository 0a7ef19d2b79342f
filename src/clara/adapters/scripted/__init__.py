"""Language models without a language model: for evaluations and demonstrations."""
