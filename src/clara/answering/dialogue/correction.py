"""Corrections: "eso no es lo que pregunté", "no, me refiero a la pensión". What was refused, and what is meant instead."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from clara.answering.dialogue.follow_ups import Following, last_subject, recent
from clara.answering.dialogue.phrasebook import Phrasebook, PhraseKind
from clara.answering.message import Past
from clara.knowledge.keyword_tier import NamedProcedures
from clara.language.phrases import outside
from clara.language.tokens import Token, length, located, texts_of
from clara.retrieval.passage import Found

# A correction is short; a longer message that begins with "no" tells a story of its own.
LONGEST: Final = 30
# "faux", "wrong", "te equivocas": so few words also begin other sentences ("wrong name on my card").
SHORT_REFUSAL: Final = 2
# A refusal stands at the beginning, or right behind "no" or "clara".
LATEST: Final = 3
# "no, la pensión": behind a bare "no" only a name is taken for what is meant, with so few words more.
BESIDE_NAME: Final = 2
_SIGNS: Final = " :,.;!？?¿¡-–—…，。"
_PAUSE: Final = re.compile(r"^\s*[,.;:!…،。！，；\-–—]")


# What corrects something in a message: start, end, and what it does.
_Phrases = Sequence[tuple[int, int, tuple[PhraseKind, ...]]]


@dataclass(frozen=True, slots=True)
class Correction:
    """What a person puts right. `meant` is the new information, empty when there is none.

    `asked` is what to look for now, and `apart` the procedure that was not meant, None when it was the right one.
    """

    meant: str
    asked: str = ""
    apart: str | None = None


class Correcting:
    """Recognises corrections of the last answer, and says what is asked instead."""

    def __init__(self, books: Mapping[str, Phrasebook], following: Following, named: NamedProcedures) -> None:
        self._books = books
        self._following = following
        self._named = named

    def correct(self, question: str, past: Sequence[Past], language: str) -> Correction | None:
        """Give the correction that a message is after these turns, or None."""
        last = last_subject(past)
        if last is None or (meant := self.meant(question, language)) is None:
            return None
        if not meant:
            return Correction("", apart=last.document_id)
        return self._instead(meant, past, last, language)

    def meant(self, question: str, language: str) -> str | None:
        """Give what is left of a correction without its refusal, empty when nothing is; None when it is no correction."""
        if not 0 < length(question) <= LONGEST:
            return None
        tried = dict.fromkeys((language, *self._books))
        found = (_without_refusal(question, self._books[name], self._named) for name in tried)
        left = next((rest for rest in found if rest is not None), None)
        if left is None:
            return None
        reading = self._following.read(left, language)
        return left if reading.own or reading.asks or reading.people or PhraseKind.SITUATION in reading.kinds else ""

    def asked_before(self, past: Sequence[Past], language: str) -> Past | None:
        """Give the newest turn that asked something: not a command, a number or a correction without a word of its own."""
        worded = (earlier for earlier in recent(past) if any(character.isalpha() for character in earlier.question))
        return next((earlier for earlier in worded if self.meant(earlier.question, language) != ""), None)

    def _instead(self, meant: str, past: Sequence[Past], last: Past, language: str) -> Correction:
        named = self._named.find(meant).keys()
        if last.document_id is not None and not named - {last.document_id}:
            if named:
                return Correction(meant, meant)
            if self._following.hangs(meant, last, language):
                return Correction(meant, self._following.whole(meant, (), last.document_id, language))
        before = None if self._following.asks_of(meant, language) else self.asked_before(past, language)
        asks = () if before is None else self._following.asks_of(before.question, before.language)
        return Correction(meant, f"{meant}: {' '.join(asks)}" if asks else meant, last.document_id)


def set_apart(found: Found, document: str | None) -> Found:
    """Leave out the passages of the procedure that was not meant, where there are others."""
    hits, ended = (tuple(hit for hit in part if hit.passage.document_id != document) for part in (found.hits, found.ended))
    return replace(found, hits=hits, ended=ended) if document is not None and hits else found


def _without_refusal(question: str, book: Phrasebook, named: NamedProcedures) -> str | None:
    written = located(question)
    said = texts_of(written)
    found = book.correcting.found(said)
    refusal = _refusal(question, written, found, book)
    if refusal is not None:
        start, end = refusal
        before = "" if _only(said[:start], book) else _meant_after(question[: written[start].start], book)
        after = _meant_after(question[written[end - 1].end :], book)
        return f"{before} {after}".strip()
    for start, end, kinds in found[:2]:
        if PhraseKind.RESTART in kinds and _only(said[:start], book):
            return question[written[end - 1].end :].strip(" :,.")
        if start == 0 and PhraseKind.NEGATION in kinds and end < len(said) and _PAUSE.match(question[written[end - 1].end :]):
            rest = _meant_after(question[written[end - 1].end :], book)
            if length(rest) - sum(named.find(rest).values()) <= BESIDE_NAME and named.find(rest):
                return rest
    return None


def _refusal(question: str, written: Sequence[Token], found: _Phrases, book: Phrasebook) -> tuple[int, int] | None:
    """Give the refusal of a message: at its beginning or, in several words, at its end."""
    said = texts_of(written)
    for start, end, kinds in found:
        if PhraseKind.REFUSAL not in kinds:
            continue
        if length(" ".join(said[start:end])) > SHORT_REFUSAL:
            if start <= LATEST or (end == len(said) and end - start > LATEST):
                return start, end
        elif _only(said[:start], book) and _ends(question, written, found, end):
            return start, end
    return None


def _ends(question: str, written: Sequence[Token], found: _Phrases, end: int) -> bool:
    """Whether a short refusal is a sentence of its own: nothing follows, or a pause, or what is meant."""
    if end == len(written) or _PAUSE.match(question[written[end - 1].end :]):
        return True
    following = next((kinds for start, _, kinds in found if start == end), ())
    return PhraseKind.MEANING in following or PhraseKind.RESTART in following


def _meant_after(text: str, book: Phrasebook) -> str:
    """Take off a text the words that only lead to what is meant, and further refusals."""
    written = located(text)
    said = texts_of(written)
    end = 0
    for start, stop in book.correcting.spans(said):
        if _only(said[end:start], book):
            end = stop
    return text[written[end - 1].end if end else 0 :].strip(_SIGNS)


def _only(said: Sequence[str], book: Phrasebook) -> bool:
    """Whether some words are only "no", "perdona", "clara" and the like."""
    said = outside(said, book.addressing.spans(said))
    said = outside(said, book.correcting.spans(said))
    return all(PhraseKind.OPENER in book.following.entries.get((word,), ()) for word in said)


# The procedures that a text may be about besides, likeliest first.
Nearest = Callable[[str], Sequence[str]]
