"""Cutting documents into passages that fit a model, measured in tokens.

The three strategies and their sizes are those of the Level-2 cache: recursive (paragraphs, lines, sentences, words,
characters), fixed (lines packed to size) and none.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, get_args

from semantic_text_splitter import TextSplitter

from clara.errors import Invalid
from clara.ingestion.headings import Outline, outline
from clara.retrieval.passage import Passage
from clara.retrieval.tokens import TokenCounter, furthest

Strategy = Literal["recursive", "fixed", "none"]
Span = tuple[int, int]

# The Level-2 cache's settings, in tokens.
SIZE = 512
OVERLAP = 50


class ChunkingError(Invalid, ValueError):
    """A text cannot be cut as asked. The message names the setting, what it was and what it may be."""


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


def chunk(
    text: str,
    *,
    counter: TokenCounter,
    strategy: Strategy = "recursive",
    size: int = SIZE,
    overlap: int = OVERLAP,
    title: str = "",
) -> list[Chunk]:
    """Cut a text into chunks of at most `size` tokens, in order; neighbours share at most `overlap` tokens.

    Nothing but blanks is lost; a blank text gives no chunks. Only a character that alone takes more than `size` tokens makes a
    chunk above it. "none" gives the whole text as one chunk, whatever its size. `title` comes first in every heading path.
    Raises ChunkingError, TokenCounterUnavailableError.
    """
    _check(strategy, size, overlap)
    safe = text.encode("utf-8", "replace").decode("utf-8")
    kept = list(_bare(safe, _spans(safe, strategy, partial(_tokens, counter, size), size, overlap)))
    headings = outline(safe)
    return [
        Chunk(safe[start:end], index, len(kept), _path(title, headings, start), start, end)
        for index, (start, end) in enumerate(kept)
    ]


def passages_of_document(
    document: Document,
    corpus: str,
    *,
    counter: TokenCounter,
    strategy: Strategy = "recursive",
    size: int = SIZE,
    overlap: int = OVERLAP,
) -> list[Passage]:
    """Turn a document into passages, in order; the same document gives the same ids and texts every time.

    A document of one chunk keeps its id, others number their passages from 0: "a#0", "a#1". The section is the innermost
    heading below the title. `parent_id`, `index` and `total` join the metadata and win over entries of these names. Raises
    ChunkingError, TokenCounterUnavailableError.
    """
    chunks = chunk(document.text, counter=counter, strategy=strategy, size=size, overlap=overlap, title=document.title)
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


def _check(strategy: str, size: int, overlap: int) -> None:
    if strategy not in get_args(Strategy):
        raise ChunkingError(f"strategy is {strategy!r}; it must be one of {', '.join(get_args(Strategy))}")
    if size < 1:
        raise ChunkingError(f"size is {size} tokens; it must be 1 or more")
    if not 0 <= overlap < size:
        raise ChunkingError(f"overlap is {overlap} tokens; it must be 0 or more and below the size, {size}")


def _spans(text: str, strategy: Strategy, tokens: Callable[[str], int], size: int, overlap: int) -> Iterable[Span]:
    match strategy:
        case "recursive":
            # The library's own trimming takes 8 s for 4,000 lines of one blank, and grows with their square.
            return _split(text, (0, len(text)), TextSplitter.from_callback(tokens, size, overlap, trim=False))
        case "fixed":
            return _packed(text, tokens, size, overlap)
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


def _path(title: str, headings: Outline, start: int) -> tuple[str, ...]:
    path = headings.at(start)
    return path if not title or path[:1] == (title,) else (title, *path)
