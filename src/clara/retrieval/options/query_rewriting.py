"""Other ways to ask the same: by its keywords, its subject's own words, the kind of thing asked for, or what was found."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Protocol

from clara.errors import Unavailable
from clara.language.tokens import words
from clara.retrieval.passage import Found, Hit, Query, Status
from clara.retrieval.vocabulary import Vocabulary

# Gives other texts for a question, the most promising first, from the question and what was found for it. May raise
# QueryWriterUnavailableError, on the call or while its texts are taken.
Rewrite = Callable[[Query, Found], Iterable[str]]

# How many of the first hits are asked about again: the prototype that raised R@5 of two-hop questions from 83.2 to 85.0 used 3.
FEEDBACK_HITS = 3
# A sentence is cut here: what is longer is a list, and the embedder would lose the question in it.
LONGEST_SENTENCE = 300

_SENTENCE = re.compile(r"(?<=[.!?؟])\s|(?<=[。！？])|\n")


class QueryWriterUnavailableError(Unavailable):
    """The writer of queries could not be asked, or gave nothing usable; the message says why, without the question."""


class QueryWriter(Protocol):
    """Writes other queries for a question, such as a language model does."""

    def write(self, question: str, count: int) -> list[str]:
        """Give at most `count` other queries, best first. Raises QueryWriterUnavailableError."""
        ...


def by_keywords(vocabulary: Vocabulary) -> Rewrite:
    """Ask with the words that carry meaning only; a short one such as an acronym stays."""

    def rewrite(query: Query, _found: Found) -> Iterable[str]:
        return [" ".join(vocabulary.content(query.text))]

    return rewrite


def by_vocabulary(vocabulary: Vocabulary) -> Rewrite:
    """Ask with the passages' own words for what was said, added to the question."""

    def rewrite(query: Query, _found: Found) -> Iterable[str]:
        said = words(query.text)
        new = [text for text in vocabulary.expansions.meanings(said) if not _within(words(text), said)]
        return [" ".join((query.text, *new))] if new else []

    return rewrite


def by_kind(vocabulary: Vocabulary) -> Rewrite:
    """Ask for one kind of thing: those that the question hints at, or each in turn when it hints at none.

    None is guessed when nothing was found: the name of a kind alone finds any passage of that kind.
    """

    def rewrite(query: Query, found: Found) -> Iterator[str]:
        said = words(query.text)
        keywords = " ".join(vocabulary.content(query.text))
        guesses = vocabulary.kinds if found.status is Status.FOUND else ()
        for kind in vocabulary.cues.meanings(said) or guesses:
            if not _within(words(kind), said):
                yield f"{kind} {keywords}"

    return rewrite


def by_feedback(hits: int = FEEDBACK_HITS) -> Rewrite:
    """Ask with the title and first sentence of each of the best hits added (pseudo-relevance feedback).

    Nothing is asked when nothing was found: what a miss brings along is a directory, and its own words would find it.
    """

    def rewrite(query: Query, found: Found) -> Iterator[str]:
        for hit in found.hits[:hits] if found.status is Status.FOUND else ():
            yield f"{query.text} {_gist(hit)}"

    return rewrite


def by_writer(writer: QueryWriter, count: int = 2) -> Rewrite:
    """Ask what the writer writes; it is not called before its first query is wanted."""

    def rewrite(query: Query, _found: Found) -> Iterator[str]:
        yield from writer.write(query.text, count)

    return rewrite


def rewrites(vocabulary: Vocabulary) -> Mapping[str, Rewrite]:
    """Give the ways that need no model, by name, in the order to try them.

    The subject's own words come first because nothing else bridges what shares no word with any passage, then feedback, the
    only other one that helped in a prototype; keywords and kinds are those of Advanced RAG.
    """
    return {
        "vocabulary": by_vocabulary(vocabulary),
        "feedback": by_feedback(),
        "keywords": by_keywords(vocabulary),
        "kind": by_kind(vocabulary),
    }


def _within(phrase: list[str], text: list[str]) -> bool:
    return any(text[start : start + len(phrase)] == phrase for start in range(len(text)))


def _gist(hit: Hit) -> str:
    sentence = next((piece for piece in _SENTENCE.split(hit.passage.text) if piece.strip()), "")
    return " ".join((*hit.passage.heading, sentence.strip()[:LONGEST_SENTENCE]))
