"""Google's Gemini API through its official SDK."""
