"""Searching without writing an answer: one query, or a file of them."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any

from clara.container import Container
from clara.json_lines import TEXT, BatchError, read_lines
from clara.knowledge.passages import CORPUS
from clara.retrieval.options.policies import Policy
from clara.retrieval.passage import Found, Passage, Query, Retrieve, Status
from clara.retrieval.validation import InvalidQueryError, validate


@dataclass(frozen=True, slots=True)
class Asking:
    """What is searched and how: a corpus, the number of passages wanted, what they must be, and the policy around the search.

    Clara's own corpus has the policy of the settings, and is searched for what holds; another one only where `today` is given.
    """

    limit: int
    corpus: str = CORPUS
    collections: tuple[str, ...] = ()
    filters: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    exact: bool = False
    policy: Policy = "none"
    today: date | None = None


def search(services: Container, text: str, asking: Asking) -> dict[str, Any]:
    """Give what one query finds, with texts and scores. Raises InvalidQueryError, UnknownCorpusError."""
    found = retriever_of(services, asking)(asked(services, text, asking))
    hits = [
        {
            **shown,
            "section": hit.passage.section,
            "heading": list(hit.passage.heading),
            "text": hit.passage.text,
            "cosine": hit.cosine,
            "lexical": hit.lexical,
            "coverage": hit.coverage,
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


def search_batch(services: Container, source: Path, target: Path, asking: Asking, progress: Callable[[int, int], None]) -> int:
    """Search every line of `source` ({"id","query"}) and write one line each to `target`.

    Raises BatchError before anything is searched, UnknownCorpusError.
    """
    lines = read_lines(source, {"id": TEXT, "query": TEXT})
    questions = [(line["id"], asked(services, line["query"], asking)) for line in lines]
    if faults := [f"{source}: id '{name}': {fault}" for name, query in questions for fault in _faults(query)]:
        raise BatchError("\n".join(faults))
    retrieve = retriever_of(services, asking)
    with target.open("w", encoding="utf-8") as out:
        for number, (name, query) in enumerate(questions, 1):
            found = retrieve(query)
            line = {"id": name, "status": found.status.value, "tier": found.tier, "hits": _hits(found)}
            out.write(json.dumps(line) + "\n")
            progress(number, len(questions))
    return len(questions)


def asked(services: Container, text: str, asking: Asking) -> Query:
    """Ask as the conversation does: without what is no text, and in the language that it is written in."""
    safe = text.encode("utf-8", "replace").decode("utf-8")
    language = services.snapshot().tools.detector.detect(safe) if asking.corpus == CORPUS else None
    query = Query(safe, asking.corpus, language, asking.limit, today=asking.today)
    return replace(query, collections=asking.collections, filters=asking.filters, exact=asking.exact)


def retriever_of(services: Container, asking: Asking) -> Retrieve:
    """Give what searches the corpus, on the day that it is searched for. Raises UnknownCorpusError."""
    if asking.corpus == CORPUS:
        return services.snapshot(asking.today).retriever if asking.today else services.retriever
    return services.corpus_retriever(asking.corpus, asking.policy)


def _last_day(passage: Passage) -> str | None:
    last = passage.validity.last if passage.validity else None
    return last.isoformat() if last else None


def _faults(query: Query) -> Sequence[str]:
    try:
        validate(query)
    except InvalidQueryError as error:
        return error.faults
    return ()


def _hits(found: Found) -> list[dict[str, Any]]:
    """Give the evidence; a directory of what exists is no evidence."""
    if found.status is not Status.FOUND:
        return []
    return [
        {"passage_id": hit.passage.id, "document_id": hit.passage.document_id, "score": round(hit.score, 6)}
        for hit in found.hits
    ]
