"""Searching without writing an answer: one query, or a file of them; and how well an index finds."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any

from clara.data_files import TEXT, BatchError, read_lines
from clara.retrieval.options.policies import Policy
from clara.retrieval.passage import Found, Hit, Passage, Query, Retrieve, Status
from clara.retrieval.validation import InvalidQueryError, validate


@dataclass(frozen=True, slots=True)
class SearchChoice:
    """What is searched and how: a corpus, the number of passages wanted, what they must be, and the policy around the search.

    `bounds` names what the policy calls relevant (a key of `options.policies.BOUNDS`). `focus` is as in Query.
    Clara's own corpus has the policy of the settings, and is searched for what holds; another one only where `today` is given.
    """

    limit: int
    corpus: str
    collections: tuple[str, ...] = ()
    filters: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    exact: bool = False
    policy: Policy = "none"
    bounds: str = "measured"
    today: date | None = None
    focus: tuple[str, ...] = ()


class CorpusSearch:
    """Searches corpora. `retriever` gives what searches as it was chosen, `detect` the language that a query is written in.

    Both raise UnknownCorpusError.
    """

    def __init__(self, retriever: Callable[[SearchChoice], Retrieve], detect: Callable[[str, str], str | None]) -> None:
        self._retriever = retriever
        self._detect = detect

    def query(self, text: str, asking: SearchChoice) -> Query:
        """Ask as the conversation does: without what is no text, and in the language that it is written in."""
        safe = text.encode("utf-8", "replace").decode("utf-8")
        query = Query(
            safe, asking.corpus, self._detect(safe, asking.corpus), asking.limit, today=asking.today, focus=asking.focus
        )
        return replace(query, collections=asking.collections, filters=asking.filters, exact=asking.exact)

    def find(self, text: str, asking: SearchChoice) -> Found:
        """Give what one query finds. Raises InvalidQueryError."""
        return self._retriever(asking)(self.query(text, asking))

    def batch(self, source: Path, target: Path, asking: SearchChoice, progress: Callable[[int, int], None]) -> int:
        """Search every line of `source` ({"id","query"}) and write one line each to `target`.

        Raises BatchError before anything is searched.
        """
        lines = read_lines(source, {"id": TEXT, "query": TEXT})
        questions = [(line["id"], self.query(line["query"], asking)) for line in lines]
        if faults := [f"{source}: id '{name}': {fault}" for name, query in questions for fault in _faults(query)]:
            raise BatchError("\n".join(faults))
        retrieve = self._retriever(asking)
        with target.open("w", encoding="utf-8") as out:
            for number, (name, query) in enumerate(questions, 1):
                found = retrieve(query)
                line = {"id": name, "status": found.status.value, "tier": found.tier, "hits": _hits(found)}
                out.write(json.dumps(line) + "\n")
                progress(number, len(questions))
        return len(questions)


def found_json(found: Found) -> dict[str, Any]:
    """Give what a query found, with texts and scores."""
    hits = [
        {
            **shown,
            "section": hit.passage.section,
            "heading": list(hit.passage.heading),
            "text": hit.passage.text,
            **{name: getattr(hit, name) for name in ("cosine", "lexical", "coverage")},
        }
        for shown, hit in zip(_hits(found), found.hits, strict=False)
    ]
    timings = {stage: round(spent, 3) for stage, spent in found.timings_ms.items()}
    return {
        "status": found.status.value,
        "tier": found.tier,
        "outages": list(found.outages),
        "hits": hits,
        "ended": [
            {"passage_id": hit.passage.id, "until": _last_day(hit.passage), "score": round(hit.score, 6)} for hit in found.ended
        ],
        "timings_ms": timings,
    }


def _faults(query: Query) -> Sequence[str]:
    try:
        validate(query)
    except InvalidQueryError as error:
        return error.faults
    return ()


def _last_day(passage: Passage) -> str | None:
    last = passage.validity.last if passage.validity else None
    return last.isoformat() if last else None


def _hits(found: Found) -> list[dict[str, Any]]:
    """Give the evidence; a directory of what exists is no evidence."""
    if found.status is not Status.FOUND:
        return []
    return [
        {"passage_id": hit.passage.id, "document_id": hit.passage.document_id, "score": round(hit.score, 6)}
        for hit in found.hits
    ]


# Passages whose own text is asked for, to compare the approximate index with an exact search.
SAMPLE = 200
# Below this share of the exact neighbours, the approximate index costs answers.
ENOUGH = 0.99
# Searches a corpus for what is near a vector.
Search = Callable[[Query, Sequence[float]], Sequence[Hit]]


@dataclass(frozen=True, slots=True)
class Recall:
    """How many of the exact nearest ten passages the approximate index gives, over a sample of a corpus.

    One as near as the tenth counts as one of the ten: which of equal passages comes first says nothing about the index.
    """

    asked: int
    at_10: float


def recall(search: Search, name: str, vectors: Sequence[Sequence[float]], progress: Callable[[int, int], None]) -> Recall:
    """Compare HNSW with an exact search of a corpus, each asked for the neighbours of these passages' vectors."""
    found, wanted = 0, 0
    for number, vector in enumerate(vectors, 1):
        query = Query("", name, limit=10, vector=tuple(vector))
        exact = _cosines(search(replace(query, exact=True), vector))
        wanted += len(exact)
        found += sum(cosine >= min(exact) for cosine in _cosines(search(query, vector)))
        progress(number, len(vectors))
    return Recall(len(vectors), found / wanted if wanted else 0.0)


def _cosines(hits: Sequence[Hit]) -> list[float]:
    return [hit.cosine for hit in hits if hit.cosine is not None]
