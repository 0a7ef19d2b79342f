"""How much two texts have in common: the whole judgement of the model stand-in."""

import re
from hashlib import blake2b
from typing import Final

# What a text is embedded for turns its vector by less than one word does.
TASK_WEIGHT: Final = 0.5


def overlap(question: str, text: str) -> float:
    """Give the share (0..1) of the question's words that the text has; 0 for a question without words."""
    asked, held = (set(re.findall(r"\w+", words.casefold())) for words in (question, text))
    return len(asked & held) / len(asked) if asked else 0.0


def spread(text: str, dimensions: int, task: str) -> list[float]:
    """Spread the words over the dimensions, as a vector of length 1: texts with the same words are near each other.

    The `task` is what the text is embedded for; empty, it turns nothing.
    """
    vector = [0.0] * dimensions
    weights = [(word, 1.0) for word in re.findall(r"\w+", text.casefold()) or [text]]
    weights += [(f"task {task}", TASK_WEIGHT)] if task else []
    for word, weight in weights:
        digest = int.from_bytes(blake2b(word.encode("utf-8", "replace"), digest_size=8).digest(), "big")
        vector[digest % dimensions] += weight
    length = sum(value * value for value in vector) ** 0.5
    return [value / length for value in vector]
