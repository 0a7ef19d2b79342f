"""Cutting a long reply into messages that the channel takes."""

from typing import Final

from semantic_text_splitter import TextSplitter

# Twilio takes 1,600 characters a message; counted in UTF-16 units, as the strictest reader would (an emoji is two).
MOST: Final = 1_600


def units(text: str) -> int:
    """Count UTF-16 units."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def split(text: str, most: int = MOST) -> tuple[str, ...]:
    """Cut where a reader would pause: between paragraphs, else lines, sentences, words. Never gives an empty message."""
    text = text.strip()
    if units(text) <= most:
        return (text,) if text else ()
    return tuple(TextSplitter.from_callback(units, most, trim=True).chunks(text))
