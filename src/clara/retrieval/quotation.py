"""Showing a found text as data: nothing hidden in it, and no way for it to end its own quotation.

A fence keeps a text from passing for the page around it; it does not keep a model from obeying what it reads.
"""

import re
from collections.abc import Iterable

from clara.language.fold import caseless

# What a reader does not see, a model reads all the same. Removed are control characters except line feed and tab, surrogates,
# noncharacters (illegal in XML 1.0), interlinear annotations, and Unicode's Default_Ignorable_Code_Point
# (DerivedCoreProperties.txt, 17.0): soft hyphens, zero-width characters, bidirectional overrides and marks, variation
# selectors, fillers, and the tag characters U+E0000 to U+E007F, which costs the flags of regions such as Scotland.
_NONCHARACTERS = "".join(f"{chr(plane + 0xFFFE)}{chr(plane + 0xFFFF)}" for plane in range(0, 0x110000, 0x10000))
_HIDDEN = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
    f"\ud800-\udfff\ufdd0-\ufdef{_NONCHARACTERS}"
)
# One joiner or non-joiner stays between two letters of the scripts that spell with them: Arabic and its neighbours, the Indic
# scripts from Devanagari to Sinhala, Tibetan, Myanmar, Khmer and Mongolian. Scripts that do not spell with them lose theirs.
_JOINING = (
    "\u0620-\u065f\u066e-\u06d3\u06d5\u06ee\u06ef\u06fa-\u06ff\u0700-\u08ff\u0900-\u0dff\u0f00-\u109f"
    "\u1780-\u17b3\u17b6-\u17d3\u1820-\u18af"
)
# Joiners and the selector of colour stay inside an emoji: a family, a heart on fire, a key with a digit.
_EMOJI = (
    "\xa9\xae\u203c\u2049\u2122\u2139\u2190-\u23ff\u24c2\u25a0-\u27bf\u2934\u2935\u2b00-\u2bff\u3030\u303d\u3297\u3299"
    "\U0001f000-\U0001faff"
)
_KEPT = (
    rf"(?<=[{_JOINING}])[\u200c\u200d](?=[{_JOINING}])"
    rf"|(?:(?<=[{_EMOJI}])|(?<=[{_EMOJI}]\ufe0f))\u200d(?=[{_EMOJI}])"
    rf"|(?<=[{_EMOJI}])[\ufe0e\ufe0f]|(?<=[0-9#*])\ufe0f(?=\u20e3)"
)
_SHOWN = re.compile(rf"({_KEPT})|[{_HIDDEN}]")
_LINE_BREAKS = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
# "[C1]" however it is written: other brackets, Cyrillic and full-width letters, blanks and accents, several marks in one pair.
_BRACKETED = re.compile(r"[\[［【〔⟦]+([^\[\]［］【】〔〕⟦⟧]*)([\]］】〕⟧]*)")
_MARK = re.compile(r"[\W_]*[cс][\W_]*\d")


def visible(text: str) -> str:
    """Take out what a reader would not see; every kind of line break becomes a line feed."""
    return _SHOWN.sub(r"\1", _LINE_BREAKS.sub("\n", text))


def one_line(text: str) -> str:
    """Give the visible text with single spaces for all blanks, so that it cannot begin a line of its own."""
    return " ".join(visible(text).split())


def unmarked(text: str) -> str:
    """Turn what looks like a mark of evidence, "[C1]", into round brackets, "(C1)": only the page may set marks."""
    return _BRACKETED.sub(_rounded, text)


def _rounded(match: re.Match[str]) -> str:
    if _MARK.match(caseless(match[1])):
        return f"({match[1]}{')' if match[2] else ''}"
    return match[0]


def fence(texts: Iterable[str], character: str = "`", least: int = 3) -> str:
    """Give a run of the character longer than any in the texts, `least` long or more: no text can close it."""
    runs = (len(run) for text in texts for run in re.findall(rf"{re.escape(character)}+", text))
    return character * max(least, 1 + max(runs, default=0))
