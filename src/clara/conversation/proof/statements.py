"""Cutting what is claimed into statements, each with the marks of the evidence it points to."""

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from clara.retrieval.sentences import ABBREVIATIONS, sentence_ends
from clara.retrieval.vocabulary import words

MARKS: Final = re.compile(r"\[\s*C\d{1,2}(?:\s*[,;]\s*C\d{1,2})*\s*\]")
_MARK: Final = re.compile(r"C\d{1,2}")
_LINK: Final = re.compile(r"\{\{[^{}\n]{1,12}\}\}")
_MARKS_BEHIND: Final = re.compile(rf"([.!?…。！？؟]+)((?:\s*{MARKS.pattern})+)")
_BULLET: Final = re.compile(r"^\s*(?:[•*–—▪·-]\s*)?(?:(?P<number>\d{1,2})[.)]\s+)?")
# Abbreviations before numbers and names in the served languages that the engine's list, made for Spanish, does not have.
_OTHERS: Final = "st ст п пп р г гг рр т тис тыс млн напр др см тел no nº n alin lit approx min p c арт م ص"
_SHORT: Final = ABBREVIATIONS | frozenset(_OTHERS.split())
# Stands for the blank before a mark while a line is cut: a private character, which no reply has.
_HELD: Final = "\ue000"
# A line that only announces what follows: "Para pedirlo necesitas:". Longer ones claim something.
_MOST_ANNOUNCING: Final = 12


@dataclass(frozen=True, slots=True)
class Statement:
    """One sentence. `text` is as it was written, `claim` the same without marks, links and its own number in a list."""

    text: str
    claim: str
    marks: tuple[str, ...]
    number: int | None = None

    @property
    def announces(self) -> bool:
        """Whether it only leads to what follows, or asks."""
        short = len(words(self.claim)) <= _MOST_ANNOUNCING and self.claim.endswith((":", "："))
        return short or self.claim.endswith(("?", "？", "؟"))


def _glued(text: str) -> str:
    """Join marks to what stands before them: "etc.) [C1]" must not be cut before the mark."""
    return re.sub(rf"\s+(?={MARKS.pattern})", _HELD, text)


def statements(text: str) -> list[Statement]:
    """Cut a reply into its statements, line by line. Marks behind a full stop belong to the sentence before it."""
    found: list[Statement] = []
    for line in text.splitlines():
        bullet = _BULLET.match(line)
        number = int(bullet["number"]) if bullet and bullet["number"] else None
        body = _glued(_MARKS_BEHIND.sub(r"\2\1", line[bullet.end() :] if bullet else line))
        for place, (start, end) in enumerate(pairwise([0, *sentence_ends(body, _SHORT)])):
            said = body[start:end].replace(_HELD, " ").strip()
            marks = tuple(dict.fromkeys(mark for group in MARKS.findall(said) for mark in _MARK.findall(group)))
            claim = " ".join(_LINK.sub(" ", MARKS.sub(" ", said)).split())
            claim = re.sub(r" (?=[.!?,;:。！？؟])", "", claim)
            if any(character.isalnum() for character in claim):
                found.append(Statement(said, claim, marks, number if place == 0 else None))
    return found
