"""What a corpus may ask for beyond the default: policies, rerankers, diversity, context pages."""
