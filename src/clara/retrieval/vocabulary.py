"""The words of a subject, as data: what needs no search, what says nothing, and what else a thing is called."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clara.errors import Invalid
from clara.language.phrases import Phrases
from clara.language.tokens import words

FIELDS = frozenset({"courtesies", "stop_words", "expansions", "kinds", "specifics", "logic"})
NOTES = frozenset({"$schema", "description"})

_EDGES = re.compile(r"^[\W_]+|[\W_]+$")


class VocabularyError(Invalid, ValueError):
    """A vocabulary cannot be read; the message names the file, the field and the remedy."""


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


def read_vocabulary(file: Path) -> Vocabulary:
    """Read a vocabulary from JSON (data/schema/vocabulary.schema.json describes it). Raises VocabularyError."""
    fields = _document(file)
    by_kind = _mapping(fields["kinds"], f"{file}: kinds")
    return Vocabulary(
        courtesies=_plain(_every(fields["courtesies"], f"{file}: courtesies")),
        stop_words=frozenset(word for text in _texts(fields["stop_words"], f"{file}: stop_words") for word in words(text)),
        expansions=Phrases(_expansions(fields["expansions"], f"{file}: expansions")),
        kinds=tuple(by_kind),
        cues=Phrases((cue, kind) for kind, cues in by_kind.items() for cue in _texts(cues, f"{file}: kinds.{kind}")),
        specifics=_plain(_texts(fields["specifics"], f"{file}: specifics")),
        logic=_plain(_texts(fields["logic"], f"{file}: logic")),
    )


def _plain(phrases: Iterable[str]) -> Phrases[bool]:
    return Phrases((phrase, True) for phrase in phrases)


def _document(file: Path) -> dict[str, Any]:
    try:
        document = json.loads(file.read_text("utf-8"))
    except OSError as error:
        raise VocabularyError(f"{file}: cannot be read ({error.strerror}); restore it from the repository") from error
    except (ValueError, RecursionError) as error:
        raise VocabularyError(f"{file}: is no usable JSON ({error}); mend it or restore it from the repository") from error
    fields = _mapping(document, f"{file}: the whole")
    for name in sorted(FIELDS - fields.keys()):
        raise VocabularyError(f"{file}: {name}: is missing; add it, empty when there is nothing to say")
    for name in sorted(fields.keys() - FIELDS - NOTES):
        raise VocabularyError(f"{file}: {name}: is not known; remove it or name it one of {', '.join(sorted(FIELDS))}")
    return fields


def _mapping(value: object, place: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise VocabularyError(f"{place}: must be a JSON object; put its entries in {{}}")
    return value


def _list(value: object, place: str) -> list[Any]:
    if not isinstance(value, list):
        raise VocabularyError(f"{place}: must be a JSON array; put its entries in []")
    return value


def _texts(value: object, place: str) -> list[str]:
    texts = _list(value, place)
    for number, text in enumerate(texts):
        if not isinstance(text, str) or not words(text):
            raise VocabularyError(f"{place}[{number}]: must be a text with at least one word; write it or remove it")
    return texts


def _every(value: object, place: str) -> list[str]:
    by_language = _mapping(value, place)
    return [text for language, texts in by_language.items() for text in _texts(texts, f"{place}.{language}")]


def _expansions(value: object, place: str) -> list[tuple[str, str]]:
    pairs: list[tuple[str, str]] = []
    for number, entry in enumerate(_list(value, place)):
        here = f"{place}[{number}]"
        if _mapping(entry, here).keys() != {"said", "means"}:
            raise VocabularyError(f"{here}: must have the fields said and means and no other; add or remove fields")
        means = _texts(entry["means"], f"{here}.means")
        pairs += [(said, meaning) for said in _texts(entry["said"], f"{here}.said") for meaning in means]
    return pairs
