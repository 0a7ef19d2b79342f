"""Cross-encoders behind an HTTP endpoint: NVIDIA NIM, vLLM, Jina, Cohere and whatever speaks like them."""
