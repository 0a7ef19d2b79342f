"""Suite: conversations of two to four turns, each turn answered by the real journey with what was said before.

Groups: "conversations" asks of every turn the right procedure, kind of reply and language. "matters" asks of single turns
whether a fact of the right section is cited: whether what is asked survives, not only what it is asked about.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from clara.answering.journey import STEPS, Step, Tools, follow
from clara.answering.message import Message, Past, Reply, Turn, after
from clara.answering.snapshot import KnowledgeSnapshot
from clara.language.fold import caseless
from clara.quality.answers import Judged
from clara.retrieval.passage import Found, Query
from clara.settings import resources

NAME: Final = "conversations"
MATTERS: Final = "matters"
# "matters" is what a single question reaches too: the section first cited is right for .65 of the development questions.
GOALS: Final[Mapping[str, float]] = {NAME: 0.9, MATTERS: 0.75}
# Seconds between two messages of one conversation.
PAUSE: Final = 40.0


@dataclass(frozen=True, slots=True)
class Said:
    """One turn that was held: the reply, and what was looked for, empty when nothing was."""

    reply: Reply
    asked: str


def judged(snapshot: KnowledgeSnapshot, split: str) -> list[Judged]:
    """Hold every conversation of a split and judge it."""
    lines = (resources() / "eval" / "answers" / "conversations.jsonl").read_text("utf-8").splitlines()
    cases = [case for case in map(json.loads, lines) if split in ("all", case["split"])]
    tools, names = snapshot.tools, snapshot.knowledge.names
    return [judgement for case in cases for judgement in _judged(case, held(case, tools), names)]


def held(case: Mapping[str, Any], tools: Tools, steps: Sequence[Step] = STEPS) -> list[Said]:
    """Hold one conversation: each reply becomes the past of the next message, as the desk keeps it."""
    past: tuple[Past, ...] = ()
    said: list[Said] = []
    for turn in case["turns"]:
        asked: list[str] = []

        def retrieve(query: Query, asked: list[str] = asked) -> Found:
            asked.append(query.text)
            return tools.retrieve(query)

        previous = past[0].language if past else None
        reply = follow(Turn(Message(turn["text"]), previous, past=past), replace(tools, retrieve=retrieve), steps)
        said.append(Said(reply, asked[-1] if asked else ""))
        past = after(past, turn["text"], reply, PAUSE)
    return said


def _judged(case: Mapping[str, Any], said: Sequence[Said], names: Mapping[str, Mapping[str, str]]) -> Iterator[Judged]:
    faults: list[str] = []
    for number, (turn, held_turn) in enumerate(zip(case["turns"], said, strict=True), 1):
        expected = turn["expect"]
        faults += [f"turn {number}: {fault}" for fault in faults_of(expected, held_turn, names)]
        if "section" in expected:
            cited = {citation.section for citation in held_turn.reply.citations}
            right = not cited.isdisjoint(expected["section"])
            note = "" if right else f"cites {', '.join(sorted(cited)) or 'nothing'}"
            yield Judged(f"{case['id']}-{number}", case["language"], MATTERS, right, note)
    yield Judged(case["id"], case["language"], NAME, not faults, "; ".join(faults))


def faults_of(expected: Mapping[str, Any], said: Said, names: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Say in what a turn was not as it should be."""
    reply, faults = said.reply, []
    cited = reply.citations[0].document_id if reply.citations else None
    document = expected.get("document")
    if document is not None and cited != document and names[document][reply.language] not in reply.text:
        faults.append(f"about {cited}, not {document}")
    if reply.status.value != expected.get("status", reply.status.value):
        faults.append(f"{reply.status.value}, not {expected['status']}")
    if reply.language != expected.get("language", reply.language):
        faults.append(f"in {reply.language}, not {expected['language']}")
    missing = [word for word in expected.get("asked_has", ()) if caseless(word) not in caseless(said.asked)]
    return [*faults, *(f"asked without '{word}'" for word in missing)]
