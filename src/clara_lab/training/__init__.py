"""Training the models of intents, topics, danger and wishes from the examples in data/."""
