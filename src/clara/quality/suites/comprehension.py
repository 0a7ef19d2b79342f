"""Suite: whether what people mean is understood, however they write it; by authors who saw the facts alone, halves by scenario.

A scenario holds one question plainly asked and what becomes of it: written by ear, with typing errors, in the short forms of
chats, inside a story. Others ask two things at once, glue orders to the machine to a question, mix languages, or go on in a
conversation (`turns` are what the same person said before). `expected` are the procedures that must answer: of "both" all of
them, else one, or one of `accepted`; none of what is outside. `fact` is the one that decides, where one does.
"""

from collections.abc import Iterator
from typing import Final

from clara.answering.message import Reply, ReplyStatus
from clara.data_files import TEXT, TEXTS, one_of, or_null
from clara.quality.suites.conversations import held
from clara.quality.suites.needs import FIRST, OFFERED, REFUSED, VIOLENCE
from clara.quality.suites.replies import REFUSALS
from clara.quality.suites.suite import Case, Judged, Stage, Suite, each, judged

BOTH: Final = "both"
OUT: Final = ("out", "orders_only")
WRITTEN: Final = ("plain", "phonetic", "typing", "chat", "story")
SAID: Final = ("both_one", "one_thing", "follow_up", "faq_inside", "change", "orders", "mixed", "need", "open")
DECIDED: Final = ("fact", "asked_last")
FACT: Final = "deciding fact"
SECTION: Final = "section first"


def _understood(stage: Stage, case: Case) -> Iterator[Judged]:
    turns = [{"text": text} for text in (*case["turns"], case["query"])]
    return judge_reply(case, held({"turns": turns}, stage.snapshot.tools)[-1].reply)


def judge_reply(case: Case, reply: Reply) -> Iterator[Judged]:
    """Judge the reply to the last message of a case."""
    cited = [citation.document_id for citation in reply.citations]
    phenomenon, right = case["phenomenon"], {*case["expected"], *case["accepted"]}
    note = f"{phenomenon}: {reply.status.value} {' '.join(cited[:1])}".strip()
    if not case["expected"]:
        yield judged(case, REFUSED, reply.status in REFUSALS, note)
        yield judged(case, "not answered", reply.status is not ReplyStatus.ANSWERED, note)
        return
    if phenomenon == BOTH:
        yield judged(case, BOTH, set(case["expected"]) <= set(cited), note)
        return
    first = cited[0] in right if cited else (reply.status is ReplyStatus.URGENT and VIOLENCE in right)
    yield judged(case, phenomenon, first, note)
    yield judged(case, FIRST, first, note)
    offered = first or not right.isdisjoint(reply.options)
    yield judged(case, OFFERED, offered, note)
    yield judged(case, f"{OFFERED}, {phenomenon}", offered, note)
    if case["fact"]:
        yield from _decided(case, reply, note)


def _decided(case: Case, reply: Reply, note: str) -> Iterator[Judged]:
    """See whether the fact that decides is told, and whether what is told first stands in its section."""
    told = [citation.passage_id for citation in reply.citations]
    yield judged(case, FACT, case["fact"] in told, note)
    section = case["fact"].removeprefix(f"{case['expected'][0]}-").rsplit("-", 1)[0]
    yield judged(case, SECTION, [citation.section for citation in reply.citations][:1] == [section], note)


UNDERSTANDING: Final = Suite(
    "understanding",
    {
        "scenario": TEXT,
        "phenomenon": one_of((BOTH, *OUT, *WRITTEN, *SAID, *DECIDED)),
        "query": TEXT,
        "turns": TEXTS,
        "expected": TEXTS,
        "accepted": TEXTS,
        "fact": or_null(TEXT),
    },
    {
        FIRST: 0.9,
        OFFERED: 0.97,
        REFUSED: 0.95,
        FACT: 0.9,
        SECTION: 0.8,
        "plain": 0.97,
        BOTH: 0.85,
        "follow_up": 0.93,
        "faq_inside": 0.85,
        f"{OFFERED}, need": 0.85,
        f"{OFFERED}, open": 0.85,
        **dict.fromkeys(("phonetic", "typing", "chat", "story", "orders", "mixed"), 0.9),
    },
    each(_understood),
)
