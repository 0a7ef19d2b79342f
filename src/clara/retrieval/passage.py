"""The values the engine works with."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a document that can be found, shown and cited on its own.

    `id` is stable text, unique inside its corpus. `heading` is the path of titles that leads to the passage, outermost
    first; it is indexed together with `text`. `metadata` is JSON: whatever the owner needs to show the passage.
    """

    id: str
    corpus: str
    collection: str
    document_id: str
    section: str
    heading: tuple[str, ...]
    text: str
    language: str
    territory: str = "ES"
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def indexed_text(self) -> str:
        """Heading path and text as one string: what both legs of the search see.

        Heading + text instead of bare text raised hit@1 from .835 to .869 on 236 questions about procedures.
        """
        return f"{' > '.join(self.heading)}\n{self.text}" if self.heading else self.text


@dataclass(frozen=True, slots=True)
class Query:
    """One question to one corpus. `limit` is the number of passages wanted (1 to 100).

    `documents` and `sections` weigh what the question is known or guessed to be about: the passages of those documents join
    the candidates and gain that score, and those of the (document, section) pairs theirs; nothing else is excluded.
    `outside` is the probability that the question is about nothing in the corpus, None when nobody has judged it. With
    `territories`, only passages that hold in one of them are found.
    """

    text: str
    corpus: str
    language: str | None = None
    limit: int = 5
    documents: Mapping[str, float] = field(default_factory=dict)
    sections: Mapping[tuple[str, str], float] = field(default_factory=dict)
    outside: float | None = None
    territories: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage with the scores that brought it up.

    `score` is the fused score that orders the hits of one search; it compares within a search only. `cosine` is the
    similarity of the vectors, `lexical` the BM25 score, `coverage` the share (0..1) of the question's term weight that the
    passage contains; None where the tier does not measure it.
    """

    passage: Passage
    score: float
    cosine: float | None = None
    lexical: float | None = None
    coverage: float | None = None


class Status(StrEnum):
    """What the evidence allows to say."""

    FOUND = "found"
    NOT_FOUND = "not_found"
    OUTAGE = "outage"


@dataclass(frozen=True, slots=True)
class Found:
    """The outcome of one retrieval, whichever tier served it.

    `confidence` is the probability (0..1) that the first hit is of the right document, None when the tier cannot tell. `hits`
    are evidence when `status` is FOUND; the last tier of a chain may add a directory of what exists, marked by its
    status. `outages` names the tiers that could not be asked: then NOT_FOUND is never claimed. `timings_ms` is per stage.
    """

    status: Status
    tier: str
    hits: tuple[Hit, ...] = ()
    outages: tuple[str, ...] = ()
    timings_ms: Mapping[str, float] = field(default_factory=dict)
    confidence: float | None = None


Retrieve = Callable[[Query], Found]
