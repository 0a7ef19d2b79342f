"""Programs as documents: what is cut out of source code, and how each piece becomes passages."""

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Protocol

from clara.errors import Invalid
from clara.ingestion.chunks import Chunk, Cutting, chunk
from clara.ingestion.documents import LONGEST_ID
from clara.language.sentences import sentence_ends
from clara.retrieval.passage import Passage
from clara.retrieval.tokens import TokenCounter

LANGUAGES = ("python", "javascript", "typescript", "go", "java", "rust")
# What a file says as a whole is apart from its functions and classes, so that either can be asked for alone.
UNITS, FILES = "units", "files"
# What is called by a shorter name is called like a word of any program. Links by names that one unit alone has, of at least six
# letters, raised hit@3 on held out questions about our own source from .40 to .55, and from 0 to .40 on those in Spanish.
SHORTEST_OWN_NAME = 6
# Between the path of a file and the name of a unit in it, in the ids of passages.
SEPARATOR = "::"
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")

Heading = tuple[str, ...]


class Reason(StrEnum):
    """Why a file, a folder or a part of a file was left out."""

    BINARY = "binary"
    GENERATED = "generated"
    MINIFIED = "minified"
    HUGE = "huge"
    ENCODING = "not UTF-8"
    UNPARSABLE = "unparsable"
    UNREADABLE = "unreadable"
    LINK = "link"
    FOLDER = "folder of what is not the project's own"
    FAULTY = "unit with a syntax error"


class UnreadableProgramsError(Invalid):
    """Nothing can be loaded from a folder of programs. The message names the folder and the remedy."""


@dataclass(frozen=True, slots=True)
class ProgramUnit:
    """A function, class, method or the like as it was cut; lines count from 1, both ends included.

    `qualified` is the name inside its file, with dots: "Cache.get"; empty for the file itself. `path` is relative to the
    folder, with slashes. `signature` is everything before the body on one line, `documentation` the docstring or leading
    comment without its signs, `body` the rest of the source; units inside are there as their signatures. `calls` are names
    that the source calls, each once, of a chain the last one first.
    """

    kind: str
    name: str
    qualified: str
    language: str
    path: str
    first: int
    last: int
    signature: str
    documentation: str
    body: str
    calls: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        """Give file and name, "store/cache.py::Cache.get"; of what belongs to a file as a whole, the file alone."""
        return f"{self.path}{SEPARATOR}{self.qualified}" if self.qualified else self.path

    @property
    def said(self) -> str:
        """Give the name in words, the documentation and the signature; nothing for a file, or without documentation.

        The signature comes last: at the beginning, as source, it leads a small model away from what is said
        (docs/bench-code.md).
        """
        if not (self.qualified and self.documentation.strip()):
            return ""
        return f"{in_words(self.name)}: {self.documentation}\n{self.signature}"

    @property
    def text(self) -> str:
        """Give signature, documentation and body."""
        return "\n".join(part for part in (self.signature, self.documentation, self.body) if part.strip())


@dataclass(frozen=True, slots=True)
class Skipped:
    """A place that was left out, and why."""

    place: str
    reason: Reason


@dataclass(frozen=True)
class Survey:
    """What a folder of programs holds: its units, what was left out, and how many files were cut."""

    units: tuple[ProgramUnit, ...]
    skipped: tuple[Skipped, ...]
    files: int

    @cached_property
    def by_language(self) -> dict[str, Counter[str]]:
        """Count the units of each kind, language by language."""
        counted: dict[str, Counter[str]] = {}
        for unit in self.units:
            counted.setdefault(unit.language, Counter())[unit.kind] += 1
        return counted

    def lines(self, *, every: bool = False) -> Iterator[str]:
        """Say what was cut, a line a language, and what was left out, by reason; `every` place too, where it is wanted."""
        yield f"{len(self.units)} units in {self.files} files"
        for language, kinds in sorted(self.by_language.items()):
            yield f"  {language}: " + ", ".join(f"{number} {kind}" for kind, number in kinds.most_common())
        if self.skipped:
            reasons = Counter(one.reason for one in self.skipped)
            yield "left out: " + ", ".join(f"{number} {reason}" for reason, number in reasons.most_common())
        if every:
            yield from (f"  {one.place}: {one.reason}" for one in self.skipped)


Looked = Callable[[int, int], None]


class ProgramReader(Protocol):
    """Cuts the programs of a folder into units."""

    def read(self, folder: Path, languages: Sequence[str], progress: Looked) -> Survey:
        """Give the units of the files in these languages, in the order of path and line; without any language, in all.

        `progress` is told how many files of how many were cut. Raises UnreadableProgramsError.
        """


def passages_of_programs(
    units: Sequence[ProgramUnit], corpus: str, language: str, *, counter: TokenCounter, cutting: Cutting
) -> list[Passage]:
    """Make passages of each unit: what is said of it, in words and under what its file and its class say, and its source.

    A unit without documentation, and a file as a whole, is its source alone. What has more tokens than the size is cut; source
    stands under the signature. A document is a file, a passage is known by path and name, so a unit that only moves keeps its
    vectors. Two of one name are numbered, "a.py::f" and "a.py::f~2", and so are the passages of one unit: "a.py::f#0".
    `language` is that of the profile: how words are cut. Raises TokenCounterUnavailableError.
    """
    passages: list[Passage] = []
    seen: Counter[str] = Counter()
    called = Counter(unit.name for unit in units)
    about = {unit.place: _first_sentence(unit.documentation) for unit in units if unit.documentation.strip()}
    for unit in units:
        name = _id(unit, seen)
        pieces = list(_pieces(unit, about, lambda text: chunk(text, counter=counter, cutting=cutting)))
        passages += (
            Passage(
                id=name if len(pieces) == 1 else f"{name}#{index}",
                corpus=corpus,
                collection=UNITS if unit.qualified else FILES,
                document_id=_escaped(unit.path),
                section=unit.qualified,
                heading=heading,
                text=text,
                language=language,
                metadata={
                    **_metadata(unit),
                    "names": _names(unit, called) if index == 0 else [],
                    "parent_id": name,
                    "index": index,
                    "total": len(pieces),
                },
            )
            for index, (heading, text) in enumerate(pieces)
        )
    return passages


def _pieces(
    unit: ProgramUnit, about: Mapping[str, str], cut: Callable[[str], Sequence[Chunk]]
) -> Iterator[tuple[Heading, str]]:
    """Give the texts of a unit's passages, each with its heading; `about` says what a place is, in a sentence.

    Comments in a program look like the headings of a text and are none, so those of the pieces are not used.
    """
    owners = unit.qualified.split(".")[:-1]
    plain = (unit.path, *owners)
    said = cut(unit.said)
    if said:
        places = [unit.path, *(f"{unit.path}{SEPARATOR}{'.'.join(owners[:depth])}" for depth in range(1, len(owners) + 1))]
        told = tuple(part for name, place in zip(plain, places, strict=True) for part in (name, about.get(place, "")) if part)
        yield from ((told, piece.text) for piece in said)
    for piece in cut(unit.body if said else unit.text):
        yield (*plain, unit.signature) if said or piece.index else plain, piece.text


def _first_sentence(text: str) -> str:
    return " ".join(text[: sentence_ends(text)[0]].split())


def in_words(name: str) -> str:
    """Take an identifier apart: "lastUse" and "last_use" are "last use" and "last use"."""
    return " ".join(_HUMP.sub(" ", name).replace("_", " ").lower().split())


def _metadata(unit: ProgramUnit) -> dict[str, object]:
    return {
        **{name: getattr(unit, name) for name in ("language", "kind", "name", "signature")},
        "file_path": unit.path,
        "qualified_name": unit.qualified,
        "lines": [unit.first, unit.last],
        "calls": list(unit.calls),
    }


def _names(unit: ProgramUnit, called: Counter[str]) -> list[str]:
    """Give the name by which other programs speak of a unit; none where several are called so, or a file."""
    own = unit.qualified and called[unit.name] == 1 and len(unit.name) >= SHORTEST_OWN_NAME
    return [unit.name] if own else []


def _id(unit: ProgramUnit, seen: Counter[str]) -> str:
    plain = _escaped(unit.place)
    if len(plain) > LONGEST_ID:
        plain = f"{plain[: LONGEST_ID - 20]}~{hashlib.sha256(plain.encode()).hexdigest()[:12]}"
    seen[plain] += 1
    return plain if seen[plain] == 1 else f"{plain}~{seen[plain]}"


def _escaped(name: str) -> str:
    """Keep '#' for the numbers of pieces."""
    return name.replace("#", "%23")
