"""Running the bench: data in, passages enriched and indexed, questions asked and answered, measures and reports out."""
