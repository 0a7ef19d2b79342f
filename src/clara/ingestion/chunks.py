"""Cutting documents into passages that fit a model, measured in tokens.

The three strategies and their sizes are those of the Level-2 cache: recursive (paragraphs, lines, sentences, words,
characters), fixed (lines packed to size) and none.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, Literal, get_args

from semantic_text_splitter import TextSplitter

from clara.errors import Invalid
from clara.retrieval.passage import Passage
from clara.retrieval.tokens import TokenCounter, furthest

Strategy = Literal["recursive", "fixed", "none"]
Span = tuple[int, int]


# CommonMark 0.31: "# Title ##", or a paragraph of one line underlined with = or -. A line of dashes right under other lines
# is a rule or the end of a preamble, so an underlined title must follow a blank line.
_HASHES = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$")
_UNDERLINE = re.compile(r" {0,3}(=+|-{2,})[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")


class ChunkingError(Invalid, ValueError):
    """A text cannot be cut as asked. The message names the setting, what it was and what it may be."""


@dataclass(frozen=True, slots=True)
class Cutting:
    """How texts are cut; sizes in tokens, at first the Level-2 cache's settings. Raises ChunkingError."""

    strategy: Strategy = "recursive"
    size: int = 512
    overlap: int = 50

    def __post_init__(self) -> None:
        strategy, size, overlap = self.strategy, self.size, self.overlap
        if strategy not in get_args(Strategy):
            raise ChunkingError(f"strategy is {strategy!r}; it must be one of {', '.join(get_args(Strategy))}")
        if size < 1:
            raise ChunkingError(f"size is {size} tokens; it must be 1 or more")
        if not 0 <= overlap < size:
            raise ChunkingError(f"overlap is {overlap} tokens; it must be 0 or more and below the size, {size}")


USUAL: Final = Cutting()


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a text: number `index` of `total`, counted from 0, the characters `start` to `end`, no blanks around.

    `text` is that slice, with lone surrogates as "?". `heading` is the path of titles in force where it starts.
    """

    text: str
    index: int
    total: int
    heading: tuple[str, ...]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Document:
    """A text as it was loaded. `id` is stable and unique in its corpus; `metadata` is JSON; `language` is empty if unknown."""

    id: str
    title: str
    text: str
    collection: str
    language: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Outline:
    """Where headings start, in characters, and the path of titles in force from there, outermost first."""

    starts: tuple[int, ...]
    paths: tuple[tuple[str, ...], ...]

    def at(self, place: int) -> tuple[str, ...]:
        """Give the path in force at this character; a heading is in force from its own line on."""
        index = bisect_right(self.starts, place) - 1
        return self.paths[index] if index >= 0 else ()


def chunk(text: str, *, counter: TokenCounter, cutting: Cutting = USUAL, title: str = "") -> list[Chunk]:
    """Cut a text into chunks of at most `cutting.size` tokens, in order; neighbours share at most `cutting.overlap` tokens.

    Nothing but blanks is lost; a blank text gives no chunks. Only a character that alone takes more tokens than the size makes
    a chunk above it. "none" gives the whole text as one chunk, whatever its size. `title` comes first in every heading path.
    Raises TokenCounterUnavailableError.
    """
    safe = text.encode("utf-8", "replace").decode("utf-8")
    kept = list(_bare(safe, _spans(safe, cutting, partial(_tokens, counter, cutting.size))))
    headings, above = outline(safe), (title,) if title else ()
    paths = [headings.at(start) for start, _ in kept]
    return [
        Chunk(safe[start:end], index, len(kept), path if path[:1] == above else above + path, start, end)
        for index, ((start, end), path) in enumerate(zip(kept, paths, strict=True))
    ]


def passages_of_document(document: Document, corpus: str, *, counter: TokenCounter, cutting: Cutting = USUAL) -> list[Passage]:
    """Turn a document into passages, in order; the same document gives the same ids and texts every time.

    A document of one chunk keeps its id, others number their passages from 0: "a#0", "a#1". The section is the innermost
    heading below the title. `parent_id`, `index` and `total` join the metadata and win over entries of these names. Raises
    TokenCounterUnavailableError.
    """
    chunks = chunk(document.text, counter=counter, cutting=cutting, title=document.title)
    return [
        Passage(
            id=document.id if piece.total == 1 else f"{document.id}#{piece.index}",
            corpus=corpus,
            collection=document.collection,
            document_id=document.id,
            section=piece.heading[-1] if len(piece.heading) > bool(document.title) else "",
            heading=piece.heading,
            text=piece.text,
            language=document.language,
            metadata={**document.metadata, "parent_id": document.id, "index": piece.index, "total": piece.total},
        )
        for piece in chunks
    ]


def _spans(text: str, cutting: Cutting, tokens: Callable[[str], int]) -> Iterable[Span]:
    match cutting.strategy:
        case "recursive":
            # The library's own trimming takes 8 s for 4,000 lines of one blank, and grows with their square.
            splitter = TextSplitter.from_callback(tokens, cutting.size, cutting.overlap, trim=False)
            return _split(text, (0, len(text)), splitter)
        case "fixed":
            return _packed(text, tokens, cutting.size, cutting.overlap)
        case "none":
            return [(0, len(text))]


def _tokens(counter: TokenCounter, size: int, text: str) -> int:
    """Count exactly up to `size`; above it, any number above it will do, which a beginning of the text may show.

    Without this a word of 300,000 letters is counted to its end again for every chunk: 9.8 s instead of 2.9.
    """
    end = 8 * size
    while end < len(text):
        if (count := counter.count(text[:end])) > size:
            return count
        end *= 4
    count, bare = counter.count(text), text.strip()
    # " word" may be one token and "word" two: what fits must fit with the blanks around it and without.
    return count if count > size or bare == text else max(count, counter.count(bare))


def _split(text: str, span: Span, splitter: TextSplitter) -> list[Span]:
    start, end = span
    return [(start + at, start + at + len(piece)) for at, piece in splitter.chunk_indices(text[start:end])]


def _packed(text: str, tokens: Callable[[str], int], size: int, overlap: int) -> Iterator[Span]:
    lines = list(_lines(text, tokens, size))

    def within(limit: int, first: int, after: int) -> bool:
        return tokens(text[lines[first][0] : lines[after - 1][1]].strip()) <= limit

    def reached(first: int, after: int) -> int:
        return furthest(after + 1, len(lines), lambda last: within(size, first, last))

    def repeated(first: int, after: int) -> int:
        # Lines said again must leave room for a new one, or the next chunk would not get any further.
        most = after - first - 1 if after < len(lines) else 0
        return furthest(0, most, lambda n: within(overlap, after - n, after) and within(size, after - n, after + 1))

    first, after = 0, 0
    while after < len(lines):
        after = reached(first, after)
        yield lines[first][0], lines[after - 1][1]
        first = after - repeated(first, after)


def _lines(text: str, tokens: Callable[[str], int], size: int) -> Iterator[Span]:
    """Give the lines; one that is too long by itself is cut where the recursive strategy would."""
    splitter = TextSplitter.from_callback(tokens, size, 0, trim=False)
    start = 0
    for line in text.splitlines(keepends=True):
        span = (start, start + len(line))
        if tokens(line.strip()) <= size:
            yield span
        else:
            yield from _split(text, span, splitter)
        start += len(line)


def _bare(text: str, spans: Iterable[Span]) -> Iterator[Span]:
    """Take the blanks off both ends of every span, and leave out those that then say nothing that their neighbours do not."""
    held: Span | None = None
    for start, end in spans:
        piece = text[start:end]
        last = start + len(piece.rstrip())
        first = last - len(piece.strip())
        if first == last or (held and last <= held[1]):
            continue
        if held and held[0] < first:
            yield held
        held = first, last
    if held:
        yield held


def outline(text: str) -> Outline:
    """Read the headings of a text; what stands in a fenced block of code is none."""
    starts: list[int] = []
    paths: list[tuple[str, ...]] = []
    open_levels: list[tuple[int, str]] = []
    for start, level, title in _headings(text):
        open_levels = [outer for outer in open_levels if outer[0] < level] + [(level, title)]
        starts.append(start)
        paths.append(tuple(name for _, name in open_levels))
    return Outline(tuple(starts), tuple(paths))


def _headings(text: str) -> list[tuple[int, int, str]]:
    found: list[tuple[int, int, str]] = []
    fence = ""
    before = [(0, ""), (0, "")]
    place = 0
    for whole in text.splitlines(keepends=True):
        line = whole.rstrip("\r\n")
        mark = _FENCE.match(line)
        if fence:
            bare = line.strip()
            fence = "" if len(bare) >= len(fence) and not bare.strip(fence[0]) else fence
        elif mark:
            fence = mark[1]
        elif hashes := _HASHES.match(line):
            found += [(place, len(hashes[1]), hashes[2])] if hashes[2] else []
        elif (under := _UNDERLINE.match(line)) and before[1][1].strip() and not before[0][1].strip():
            found.append((before[1][0], 1 if under[1][0] == "=" else 2, before[1][1].strip()))
        before = [before[1], (place, line)]
        place += len(whole)
    return found
