"""How much two texts have in common: the whole judgement of the model stand-in."""

import re


def overlap(question: str, text: str) -> float:
    """Give the share (0..1) of the question's words that the text has; 0 for a question without words."""
    asked, held = (set(re.findall(r"\w+", words.casefold())) for words in (question, text))
    return len(asked & held) / len(asked) if asked else 0.0
