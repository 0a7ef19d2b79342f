"""Why a question is answered as it is, or not: the trace of the search, in words or as JSON."""

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from typing import Any

from clara.answering.journey import EVIDENCE, read
from clara.answering.message import Message, Turn
from clara.container import Container
from clara.data_files import day
from clara.delivery.message import StoredTurn
from clara.editorial.as_of import answered_again, cited_then, lines_of
from clara.errors import NotFound
from clara.jobs.search import Asking, asked, retriever_of
from clara.knowledge.passages import CORPUS
from clara.retrieval.passage import Found, Query
from clara.retrieval.turn_vectors import TurnVectors

# A vector in a plan is 5,000 characters of numbers that tell nobody anything.
VECTOR = re.compile(r"'\[[^\]]*\]'")
# PostgreSQL's bigint, and so the last number that a turn can have.
LARGEST_TURN = 2**63 - 1
HEADINGS = ("passage", "score", "dense", "cosine", "lexical", "bm25", "linked", "coverage")


# As many kinds of danger as a person looks at.
MOST_KINDS = 3


class UnknownTurnError(NotFound):
    """There is no turn with this number, or it was erased. The message says where the numbers are."""


def explain(services: Container, question: str, corpus: str, *, plan: bool, today: date | None = None) -> dict[str, Any]:
    """Search and tell everything that led to the result, as it would be if it were `today`."""
    asking = Asking(EVIDENCE, corpus, today=today)
    query = asked(services, question, asking)
    told = told_of(retriever_of(services, asking)(query))
    if corpus == CORPUS:
        told["danger"] = _danger(services, question)
    if plan:
        told["plan"] = _plan(services, _as_searched(query, told["trace"]))
    return told


def _danger(services: Container, question: str) -> dict[str, Any]:
    """Give the level of danger that is heard in a question, and how probable each kind is."""
    guard = services.snapshot().tools.guard
    vector = guard.vector(question, TurnVectors())
    shares = guard.danger.model.shares(question, vector)
    likeliest = sorted(shares, key=lambda kind: -shares[kind])[:MOST_KINDS]
    level = guard.danger.hear(question, vector).level.name.lower()
    return {"level": level, "shares": {kind: round(shares[kind], 3) for kind in likeliest}}


def told_of(found: Found) -> dict[str, Any]:
    """Give what a result says about itself, as JSON."""
    return {
        "status": found.status.value,
        "tier": found.tier,
        "confidence": found.confidence,
        "outages": list(found.outages),
        "failures": list(found.failures),
        "relaxed": dict(found.relaxed),
        "timings_ms": {stage: round(spent, 3) for stage, spent in found.timings_ms.items()},
        "trace": dict(found.trace),
    }


def replay(services: Container, turn: int, *, again: bool = False) -> dict[str, Any]:
    """Show the stored trace of a turn and what it cited, as it was served then, beside what the same message finds now.

    With `again`, the message is answered once more from the evidence of its time. Raises UnknownTurnError.
    """
    stored: StoredTurn | None = services.desk().turn(turn) if turn <= LARGEST_TURN else None
    if stored is None:
        raise UnknownTurnError(f"there is no turn {turn}; the table turns has their numbers (inbox_id)")
    told: dict[str, Any] = {"turn": turn, "then": {"status": stored.status, "tier": stored.tier, "trace": stored.trace}}
    told["citations"] = cited_then(services, stored)
    if again:
        told["again"] = answered_again(services, stored)
    question = read(Turn(Message(stored.text)), services.snapshot().tools).question
    if any(character.isalnum() for character in question):
        told["now"] = explain(services, question, CORPUS, plan=False)
    return told


def page(told: Mapping[str, Any]) -> str:
    """Write an explanation for a person."""
    if "turn" in told:
        then = told["then"]
        lines = [f"turn {told['turn']}, then: {then['status']} by {then['tier']}", *_search(then["trace"])]
        lines += lines_of(told)
        return "\n".join([*lines, "", "now: ", page(told["now"])]) if "now" in told else "\n".join(lines)
    lines = [f"{told['status']} by {told['tier']}"]
    for name in ("outages", "failures", "relaxed"):
        if told[name]:
            lines.append(f"{name}: {told[name]}")
    if heard := told.get("danger"):
        lines.append(
            f"danger: {heard['level']}; " + ", ".join(f"{kind} {share:.3f}" for kind, share in heard["shares"].items())
        )
    lines += _search(told["trace"])
    lines.append("took " + ", ".join(f"{stage} {spent:.1f} ms" for stage, spent in told["timings_ms"].items()))
    return "\n".join([*lines, *told.get("plan", [])])


def _search(trace: Mapping[str, Any]) -> list[str]:
    lines: list[str] = []
    if "cache" in trace:
        lines.append(f"remembered: {trace['cache']}; what follows is how it was found then")
    if judged := trace.get("judged"):
        chance = "nothing to judge" if judged["confidence"] is None else f"confidence {judged['confidence']:.3f}"
        evidence = ", ".join(f"{name} {value:.3f}" for name, value in judged["evidence"].items())
        lines.append(f"{chance}, shown from {judged['threshold']:.3f} on, judged by: {evidence or 'nothing'}")
    if understood := trace.get("understood"):
        meant = ", ".join(f"{document} +{weight:.2f}" for document, weight in understood["documents"].items())
        outside = understood["outside"]
        lines.append(f"probably about: {meant or 'nothing it knows'}; outside: {'?' if outside is None else f'{outside:.3f}'}")
    if filters := {name: accepted for name, accepted in trace.get("filters", {}).items() if accepted}:
        lines.append("only where " + "; ".join(f"{name} is {' or '.join(accepted)}" for name, accepted in filters.items()))
    if today := trace.get("today"):
        lines.append(f"today is {today}")
    if ended := trace.get("ended"):
        lines.append(f"held once: {', '.join(ended)}")
    if hits := trace.get("hits"):
        lines += ["", *_table(hits)]
    return lines


def _table(hits: list[Mapping[str, Any]]) -> list[str]:
    keys = ("id", "score", "dense_rank", "cosine", "lexical_rank", "bm25", "linked", "coverage")
    rows = [HEADINGS, *(tuple(_cell(hit.get(key)) for key in keys) for hit in hits)]
    widths = [max(len(row[place]) for row in rows) for place in range(len(HEADINGS))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _cell(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def _as_searched(query: Query, trace: Mapping[str, Any]) -> Query:
    """Give the query with what it was understood to be about and the places it was kept to: these shape the plan."""
    understood, filters = trace.get("understood", {}), trace.get("filters", {})
    sections = {pair.partition("/")[::2]: weight for pair, weight in understood.get("sections", {}).items()}
    territories = tuple(filters.get("territories", ()))
    today = day(trace.get("today"))
    return replace(query, documents=understood.get("documents", {}), sections=sections, territories=territories, today=today)


def _plan(services: Container, query: Query) -> list[str]:
    query = replace(query, corpus=services.served.standing(query.corpus).physical)
    embedder = services.embedders.asking(services.served_model(query.corpus))
    profile = services.profile(services.passages().profile_of(query.corpus))
    lines = services.index(profile, embedder).plan(query, embedder.embed([query.text], "query")[0])
    return [VECTOR.sub("'[…]'", line) for line in lines]
