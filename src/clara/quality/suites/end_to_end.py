"""Whole answers to questions as people ask them, through the real journey.

A reply passes when it is an answer about `procedure` and holds everything in `must`: each entry lists alternatives, the id of a
fact that is cited or a text that is said. Every answer's sentences are then proved against what they cite.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from clara.answering.message import Reply, ReplyStatus
from clara.answering.snapshot import KnowledgeSnapshot
from clara.data_files import DataError, Fault
from clara.knowledge.knowledge_base import Knowledge
from clara.quality.answers import Judged
from clara.quality.suites.journeys import cases_of, reply_to
from clara.quality.suites.proof import faults_in

NAME: Final = "end to end"
GOALS: Final[Mapping[str, float]] = {"end to end": 0.95, "no wrong figure": 1.0}


def judged(snapshot: KnowledgeSnapshot, split: str) -> list[Judged]:
    """Ask every question; judge what is said, and prove it. Raises DataError."""
    found: list[Judged] = []
    cases = cases_of("end_to_end", split, ("question", "procedure", "must"))
    knowledge = snapshot.knowledge
    if refused := list(unanswerable(cases, knowledge)):
        raise DataError(refused)
    for case in (with_corrected(case, knowledge) for case in cases):
        reply = reply_to(snapshot, case["question"])
        wrong = lacking(case, reply)
        found.append(Judged(case["id"], case["language"], "end to end", not wrong, wrong))
        if reply.status is ReplyStatus.ANSWERED:
            faults = faults_in(snapshot, reply, case["question"])
            found.append(Judged(case["id"], case["language"], "no wrong figure", not faults, "; ".join(faults)))
    return found


def unanswerable(cases: Sequence[Mapping[str, Any]], knowledge: Knowledge) -> Iterator[Fault]:
    """Name the cases that demand facts which may not be said, because they have no source, and nothing else."""
    known = {fact.id for procedure in knowledge.catalogue.procedures.values() for fact in procedure.facts}
    unpublished = known - {passage.id for passage in knowledge.passages}
    for case in cases:
        for alternatives in case["must"]:
            if unpublished.issuperset(alternatives):
                remedy = f"{', '.join(alternatives)} has no source and is never said; find one, or remove the case"
                yield Fault("end_to_end.jsonl", case["id"], remedy)


def with_corrected(case: Mapping[str, Any], knowledge: Knowledge) -> Mapping[str, Any]:
    """Let a corrected fact stand for what it said when the case was written: its new words are right."""
    before = {passage.id: passage.text for passage in knowledge.base.passages}
    gone = {name: before[name] for name in knowledge.corrected}
    must = [
        [*alternatives, *(name for name, text in gone.items() if any(wanted in text for wanted in alternatives))]
        for alternatives in case["must"]
    ]
    return {**case, "must": must}


def lacking(case: Mapping[str, Any], reply: Reply) -> str:
    """Say what a reply lacks, or nothing when it holds all it must."""
    if reply.status is not ReplyStatus.ANSWERED:
        return reply.status.value
    procedures = {citation.document_id for citation in reply.citations}
    if case["procedure"] not in procedures:
        return f"about {' '.join(sorted(procedures))}"
    cited = {citation.passage_id for citation in reply.citations}
    missing = [" or ".join(alternatives) for alternatives in case["must"] if not _held(alternatives, cited, reply.text)]
    return f"lacks {', '.join(missing)}" if missing else ""


def _held(alternatives: Sequence[str], cited: set[str], text: str) -> bool:
    return any(wanted in cited or wanted in text for wanted in alternatives)
