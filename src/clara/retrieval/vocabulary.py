"""The words of a subject, as data: what needs no search, what says nothing, and what else a thing is called."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from clara.data_files import read_data
from clara.language.phrases import Phrases
from clara.language.tokens import words

_EDGES = re.compile(r"^[\W_]+|[\W_]+$")


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What is known about the words of a subject; comparable words throughout (see `clara.language.tokens`).

    `courtesies` are greetings, thanks and the like, which need no search. `stop_words` say nothing by themselves.
    `expansions` lead from what people say to what the passages say. `kinds` are the kinds of thing that can be asked for, in
    the passages' words, and `cues` lead to them from what betrays that one is asked for. `specifics` and `logic` are the
    signs of a question that is not simple: names of exact things, and words that join or exclude.
    """

    courtesies: Phrases[bool]
    stop_words: frozenset[str]
    expansions: Phrases[str]
    kinds: tuple[str, ...]
    cues: Phrases[str]
    specifics: Phrases[bool]
    logic: Phrases[bool]

    def content(self, text: str) -> list[str]:
        """Give the words that carry meaning, as typed: stop words, greetings and signs around words are left out."""
        return [_EDGES.sub("", piece) for piece in text.split() if any(self._carries(word) for word in words(piece))]

    def _carries(self, word: str) -> bool:
        return word not in self.stop_words and (word,) not in self.courtesies


def read_vocabulary(data: Path, subject: str) -> Vocabulary:
    """Read the words of a subject from `data`/vocabulary. Raises DataError naming every fault."""
    document = read_data(data, f"vocabulary/{subject}.json", "vocabulary")
    return Vocabulary(
        courtesies=_plain(phrase for phrases in document["courtesies"].values() for phrase in phrases),
        stop_words=frozenset(word for phrase in document["stop_words"] for word in words(phrase)),
        expansions=Phrases(
            (said, meaning) for entry in document["expansions"] for said in entry["said"] for meaning in entry["means"]
        ),
        kinds=tuple(document["kinds"]),
        cues=Phrases((cue, kind) for kind, cues in document["kinds"].items() for cue in cues),
        specifics=_plain(document["specifics"]),
        logic=_plain(document["logic"]),
    )


def _plain(phrases: Iterable[str]) -> Phrases[bool]:
    return Phrases((phrase, True) for phrase in phrases)
