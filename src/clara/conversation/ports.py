"""What the conversation needs from outside."""

from typing import Protocol


class LanguageIdentifier(Protocol):
    """Guesses the language of a text among the served ones."""

    def identify(self, text: str) -> str | None:
        """Give a language code, or None when the text has nothing to judge by."""
        ...
