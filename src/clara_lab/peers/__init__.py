"""What an engineer would pick instead of Clara's search, each as its documentation recommends; for the bench only.

One module a peer. A module imports its framework and nothing of Clara's but the bench's values, because each runs in an
environment of its own: langchain-postgres wants an older pgvector, and LlamaIndex an older SQLAlchemy, than Clara does.
"""
