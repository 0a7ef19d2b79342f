"""The words of a subject, as data: what needs no search, what says nothing, and what else a thing is called."""

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clara.errors import Invalid

Phrase = tuple[str, ...]

FIELDS = frozenset({"courtesies", "stop_words", "expansions", "kinds", "specifics", "logic"})
NOTES = frozenset({"$schema", "description"})

# Chinese is written without spaces: each ideograph counts as a word, so that phrases match as runs of ideographs.
_WORD = re.compile(r"[\u3400-\u9fff]|[^\W_\u3400-\u9fff]+")
_IDEOGRAPHS = re.compile(r"[\u3400-\u9fff]")
_EDGES = re.compile(r"^[\W_]+|[\W_]+$")


class VocabularyError(Invalid, ValueError):
    """A vocabulary cannot be read; the message names the file, the field and the remedy."""


class _Marks(dict[int, int | None]):
    """What becomes of each character when marks are taken away, looked up once: half the time of asking for each again."""

    def __missing__(self, code: int) -> int | None:
        kept = None if unicodedata.category(chr(code)) == "Mn" else code
        if code < _COMMON:
            self[code] = kept
        return kept


# Every alphabet of the ten languages stands below. What lies above is not kept, or a hostile text would fill the memory.
_COMMON = 0x3100
_MARKS = _Marks()


def folded(text: str) -> str:
    """Write a text without capitals, accents and other marks: "¿Qué AÑO?" becomes "¿que ano?"."""
    if text.isascii():  # no mark to take away, and tens of thousands of such words are read at the start
        return text.casefold()
    return unicodedata.normalize("NFKD", text).casefold().translate(_MARKS)


def words(text: str) -> list[str]:
    """Cut a text into comparable words, without capitals and accents: "¿Cuánto TARDA?" gives ["cuanto", "tarda"]."""
    return _WORD.findall(folded(text))


def length(text: str) -> int:
    """Count the words of a text; two ideographs count as one word, as most Chinese words have two."""
    found = words(text)
    ideographs = sum(1 for word in found if _IDEOGRAPHS.fullmatch(word))
    return len(found) - ideographs + (ideographs + 1) // 2


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Phrases, each with what it stands for; `longest` is the number of words of the longest one."""

    entries: Mapping[Phrase, tuple[str, ...]]
    longest: int

    def spans(self, text_words: Sequence[str]) -> list[tuple[int, int]]:
        """Give (start, end) of each phrase found as whole words, left to right without overlaps; the longest counts."""
        found: list[tuple[int, int]] = []
        start = 0
        while start < len(text_words):
            ends = range(min(start + self.longest, len(text_words)), start, -1)
            end = next((end for end in ends if tuple(text_words[start:end]) in self.entries), None)
            if end is not None:
                found.append((start, end))
            start = end or start + 1
        return found

    def meanings(self, text_words: Sequence[str]) -> list[str]:
        """Give what the phrases of a text stand for, each once, in the order of the text."""
        found = (self.entries[tuple(text_words[start:end])] for start, end in self.spans(text_words))
        return list(dict.fromkeys(meaning for meanings in found for meaning in meanings))


def lexicon(entries: Iterable[tuple[str, Iterable[str]]]) -> Lexicon:
    """Build a lexicon from phrases and their meanings; a phrase given twice has the meanings of both."""
    gathered: dict[Phrase, tuple[str, ...]] = {}
    for phrase, meanings in entries:
        if key := tuple(words(phrase)):
            gathered[key] = tuple(dict.fromkeys((*gathered.get(key, ()), *meanings)))
    return Lexicon(gathered, max(map(len, gathered), default=0))


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What is known about the words of a subject; comparable words throughout (see `words`).

    `courtesies` are greetings, thanks and the like, which need no search. `stop_words` say nothing by themselves.
    `expansions` lead from what people say to what the passages say. `kinds` are the kinds of thing that can be asked for, in
    the passages' words, and `cues` lead to them from what betrays that one is asked for. `specifics` and `logic` are the
    signs of a question that is not simple: names of exact things, and words that join or exclude.
    """

    courtesies: Lexicon
    stop_words: frozenset[str]
    expansions: Lexicon
    kinds: tuple[str, ...]
    cues: Lexicon
    specifics: Lexicon
    logic: Lexicon

    def content(self, text: str) -> list[str]:
        """Give the words that carry meaning, as typed: stop words, greetings and signs around words are left out."""
        return [_EDGES.sub("", piece) for piece in text.split() if any(self._carries(word) for word in words(piece))]

    def _carries(self, word: str) -> bool:
        return word not in self.stop_words and (word,) not in self.courtesies.entries


def read_vocabulary(file: Path) -> Vocabulary:
    """Read a vocabulary from JSON (data/schema/vocabulary.schema.json describes it). Raises VocabularyError."""
    fields = _document(file)
    by_kind = _mapping(fields["kinds"], f"{file}: kinds")
    return Vocabulary(
        courtesies=_plain(_every(fields["courtesies"], f"{file}: courtesies")),
        stop_words=frozenset(word for text in _texts(fields["stop_words"], f"{file}: stop_words") for word in words(text)),
        expansions=lexicon(_expansions(fields["expansions"], f"{file}: expansions")),
        kinds=tuple(by_kind),
        cues=lexicon((cue, (kind,)) for kind, cues in by_kind.items() for cue in _texts(cues, f"{file}: kinds.{kind}")),
        specifics=_plain(_texts(fields["specifics"], f"{file}: specifics")),
        logic=_plain(_texts(fields["logic"], f"{file}: logic")),
    )


def _plain(phrases: Iterable[str]) -> Lexicon:
    return lexicon((phrase, ()) for phrase in phrases)


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


def _expansions(value: object, place: str) -> list[tuple[str, list[str]]]:
    pairs: list[tuple[str, list[str]]] = []
    for number, entry in enumerate(_list(value, place)):
        here = f"{place}[{number}]"
        if _mapping(entry, here).keys() != {"said", "means"}:
            raise VocabularyError(f"{here}: must have the fields said and means and no other; add or remove fields")
        means = _texts(entry["means"], f"{here}.means")
        pairs += [(said, means) for said in _texts(entry["said"], f"{here}.said")]
    return pairs
