"""Suite: what people need, over all procedures, written by authors who saw the facts alone; halves are split by scenario.

A row of `phenomenon` "out" asks for nothing that is held and must be refused. Each other one is counted under its phenomenon,
where the first procedure cited must be one of `expected` or `accepted`, and under "answered or offered", where a list of
options that holds one is as good: who does not name her matter may be asked back. An "open" need, which several procedures fit,
counts as right either way. `previous` is what the person asked before.
"""

from collections.abc import Iterator
from typing import Final

from clara.answering.message import Reply, ReplyStatus
from clara.data_files import TEXT, TEXTS, one_of, or_null
from clara.quality.suites.conversations import held
from clara.quality.suites.replies import REFUSALS
from clara.quality.suites.suite import Case, Judged, Stage, Suite, each, judged

OPEN: Final = "open"
PHENOMENA: Final = ("named", "need", "phonetic", "story", "two", OPEN, "follow_up")
OUT: Final = "out"
# Whoever is beaten is told whom to call before anything is cited.
VIOLENCE: Final = "violencia_genero_urgencias"
FIRST: Final = "first procedure"
OFFERED: Final = "answered or offered"
REFUSED: Final = "refused"


def _need(stage: Stage, case: Case) -> Iterator[Judged]:
    reply = _reply(stage, case)
    cited = [citation.document_id for citation in reply.citations]
    note = f"{case['phenomenon']}: {reply.status.value} {' '.join(cited[:1])}".strip()
    if case["phenomenon"] == OUT:
        yield judged(case, REFUSED, reply.status in REFUSALS, note)
        return
    right = {*case["expected"], *case["accepted"]}
    first = cited[0] in right if cited else (reply.status is ReplyStatus.URGENT and VIOLENCE in right)
    offered = first or not right.isdisjoint(reply.options)
    yield judged(case, case["phenomenon"], offered if case["phenomenon"] == OPEN else first, note)
    yield judged(case, FIRST, first, note)
    yield judged(case, OFFERED, offered, note)


def _reply(stage: Stage, case: Case) -> Reply:
    if not case["previous"]:
        return stage.reply_to(case["query"])
    turns = [{"text": case["previous"]}, {"text": case["query"]}]
    return held({"turns": turns}, stage.snapshot.tools)[-1].reply


# The goals are the least that the release's evaluation asks of its judging half.
NEEDS: Final = Suite(
    "needs",
    {
        "scenario": TEXT,
        "phenomenon": one_of((*PHENOMENA, OUT)),
        "query": TEXT,
        "previous": or_null(TEXT),
        "expected": TEXTS,
        "accepted": TEXTS,
    },
    {FIRST: 0.94, REFUSED: 0.95, OFFERED: 0.94, **dict.fromkeys(PHENOMENA, 0.85)},
    each(_need),
)
