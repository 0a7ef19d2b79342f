"""The words with which people go on, choose, refuse and address: the file following.json of every language's pack."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from clara.data_files import DataError
from clara.language.packs import read_packs
from clara.language.phrases import Phrases
from clara.language.tokens import ARABIC_AND, words

_UKRAINIAN_APOSTROPHE: Final = re.compile(r"(?<=[\u0400-\u052f])['’ʼ`](?=[\u0400-\u052f])")


class PhraseKind(StrEnum):
    """What a phrase does in a message that may hang on what was said before."""

    OPENER = "openers"
    CONDITION = "conditions"
    POINTER = "pointers"
    ASK = "asks"
    LIGHT = "light"
    SITUATION = "situations"
    PERSON = "people"
    JOIN = "joins"
    REFUSAL = "refusals"
    MEANING = "meanings"
    RESTART = "restarts"
    NEGATION = "negations"


_CORRECTING: Final = (PhraseKind.REFUSAL, PhraseKind.MEANING, PhraseKind.RESTART, PhraseKind.NEGATION)
# What may stand around a choice: it names no matter.
_SMALL: Final = (
    *(PhraseKind.LIGHT, PhraseKind.OPENER, PhraseKind.POINTER, PhraseKind.JOIN, PhraseKind.PERSON, PhraseKind.NEGATION),
)
# What a message may be made of without naming a subject of its own.
_FOLLOWING: Final = tuple(kind for kind in PhraseKind if kind not in _CORRECTING)


@dataclass(frozen=True, slots=True)
class Phrasebook:
    """The phrases of one language. `numbers` gives the place in a list, -1 for the last one, by the word that says it.

    `small` are words that may stand around a choice, `speaking` those of who speaks of languages.
    """

    following: Phrases[PhraseKind]
    correcting: Phrases[PhraseKind]
    wants: Phrases[bool]
    addressing: Phrases[bool]
    agreement: frozenset[tuple[str, ...]]
    declines: Phrases[bool]
    every: Phrases[bool]
    speaking: frozenset[str]
    small: frozenset[str]
    numbers: Mapping[str, int]
    choosing: frozenset[str]

    def apart(self, asked: Iterable[str]) -> list[str]:
        """Take the Arabic "and" off the words it is written onto, where what remains is known."""
        known = {key[0] for key in self.following.entries}
        separate: list[str] = []
        for word in asked:
            rest = word[1:]
            split = word.startswith(ARABIC_AND) and (word,) not in self.following and rest in known
            separate += [ARABIC_AND, rest] if split else [word]
        return separate


def read_phrasebooks(folder: Path) -> dict[str, Phrasebook]:
    """Read following.json of every pack below `folder`. Raises DataError naming every fault."""
    documents, faults = read_packs(folder, "following")
    if faults:
        raise DataError(faults)
    return {language: _phrasebook(document) for language, document in documents.items()}


def _phrasebook(document: Mapping[str, Any]) -> Phrasebook:
    numbers = {_plain(word): place for place, said in enumerate(document["numbers"], 1) for word in said}
    return Phrasebook(
        following=_labelled(document, _FOLLOWING),
        correcting=_labelled(document, _CORRECTING),
        wants=Phrases((phrase, True) for phrase in document["wants"]),
        addressing=Phrases((phrase, True) for phrase in document["addressing"]),
        agreement=frozenset(tuple(words(phrase)) for phrase in document["agreement"]),
        declines=Phrases((phrase, True) for phrase in document["declines"]),
        every=Phrases((phrase, True) for phrase in document["every"]),
        speaking=_words_of(document["speaking"]),
        small=_words_of(phrase for kind in _SMALL for phrase in document[kind]),
        numbers={**numbers, **{_plain(word): -1 for word in document["last"]}},
        choosing=_words_of(document["choosing"]),
    )


def _words_of(phrases: Iterable[str]) -> frozenset[str]:
    return frozenset(word for phrase in phrases for word in words(joined(phrase)))


def _labelled(document: Mapping[str, Any], kinds: Iterable[PhraseKind]) -> Phrases[PhraseKind]:
    return Phrases((phrase, kind) for kind in kinds for phrase in document[kind])


def joined(text: str) -> str:
    """Take the apostrophe out of Ukrainian words, which it would cut in two ("п'ять")."""
    return _UKRAINIAN_APOSTROPHE.sub("", text)


def _plain(phrase: str) -> str:
    return " ".join(words(joined(phrase)))
