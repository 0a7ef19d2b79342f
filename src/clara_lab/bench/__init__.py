"""The bench: retrieval and generation measured on any corpus with questions, apart from the service that Clara is."""
