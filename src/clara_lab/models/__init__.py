"""Models that another process serves in OpenAI's wire format: NVIDIA NIM, vLLM, llama.cpp, gateways, OpenAI itself."""
