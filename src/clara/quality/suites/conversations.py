"""Suite: conversations of two to four turns, each turn answered by the real journey with what was said before.

Groups: "conversations" asks of every turn the right procedure, kind of reply and language. "matters" asks of single turns
whether a fact of the right section is cited: whether what is asked survives, not only what it is asked about.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from clara.answering.journey import Tools, follow
from clara.answering.message import Message, Past, Reply, Turn, after
from clara.data_files import Field
from clara.language.fold import caseless
from clara.quality.suites.suite import Case, Judged, Stage, Suite, each, judged
from clara.retrieval.passage import Found, Query

MATTERS: Final = "matters"
# Seconds between two messages of one conversation.
PAUSE: Final = 40.0


@dataclass(frozen=True, slots=True)
class Said:
    """One turn that was held: the reply, and what was looked for, empty when nothing was."""

    reply: Reply
    asked: str


def held(case: Case, tools: Tools) -> list[Said]:
    """Hold one conversation: each reply becomes the past of the next message, as the desk keeps it."""
    past: tuple[Past, ...] = ()
    said: list[Said] = []
    for turn in case["turns"]:
        asked: list[str] = []

        def retrieve(query: Query, asked: list[str] = asked) -> Found:
            asked.append(query.text)
            return tools.retrieve(query)

        previous = past[0].language if past else None
        reply = follow(Turn(Message(turn["text"]), previous, past=past), replace(tools, retrieve=retrieve))
        said.append(Said(reply, asked[-1] if asked else ""))
        past = after(past, turn["text"], reply, PAUSE)
    return said


def _conversation(stage: Stage, case: Case) -> Iterator[Judged]:
    faults: list[str] = []
    names = stage.snapshot.knowledge.names
    for number, (turn, said) in enumerate(zip(case["turns"], held(case, stage.snapshot.tools), strict=True), 1):
        expected = turn["expect"]
        faults += [f"turn {number}: {fault}" for fault in faults_of(expected, said, names)]
        if "section" in expected:
            cited = {citation.section for citation in said.reply.citations}
            right = not cited.isdisjoint(expected["section"])
            note = "" if right else f"cites {', '.join(sorted(cited)) or 'nothing'}"
            yield judged({**case, "id": f"{case['id']}-{number}"}, MATTERS, right, note)
    yield judged(case, CONVERSATIONS.name, not faults, "; ".join(faults))


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


TURNS: Final = Field(lambda value: "" if isinstance(value, list) and value else "must be a list of turns")
# "matters" is what a single question reaches too: the section first cited is right for .65 of the development questions.
CONVERSATIONS: Final = Suite("conversations", {"turns": TURNS}, {"conversations": 0.9, MATTERS: 0.75}, each(_conversation))
