"""Google's Gemini API through `google-generativeai`, which Google has ended. Needs the extra `gemini-legacy`."""
