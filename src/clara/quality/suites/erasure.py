"""Whether who wants to be forgotten is, in free words, and nobody else: the step of the journey over every phrase.

`kind` says what a phrase is: erasure, or other (what was forgotten by the person, what others are to delete, what is only
asked). An erasure passes when Clara erases at once; a question back counts as missed. What is no erasure passes when nothing is
erased; "left alone" counts how often it is not even asked about.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from clara.answering.message import Act, Message, Reply, Turn
from clara.answering.privacy.rights import asks_to_forget
from clara.answering.snapshot import KnowledgeSnapshot
from clara.quality.answers import Judged, read_cases
from clara.settings import resources

NAME: Final = "erasure"
GOALS: Final[Mapping[str, float]] = {"erasure": 0.95, "not erasure": 1.0, "left alone": 0.95}


def judged(snapshot: KnowledgeSnapshot, split: str) -> list[Judged]:
    """Decide every phrase of the split, in the language that is detected for it."""
    tools = snapshot.tools
    cases = read_cases(resources() / "eval" / "answers" / f"{NAME}.jsonl", split, ("kind", "text"))
    found: list[Judged] = []
    for case in cases:
        turn = Turn(Message(case["text"]), question=case["text"], language=tools.detector.detect(case["text"], None))
        outcome = tools.rights.answer(turn)
        found += _judged(case, tools.rights.ask(outcome) if isinstance(outcome, Turn) else outcome)
    return found


def _judged(case: Mapping[str, Any], outcome: Turn | Reply) -> Iterator[Judged]:
    identity, language = case["id"], case["language"]
    erased = isinstance(outcome, Reply) and outcome.act is Act.ERASE
    asked = isinstance(outcome, Reply) and asks_to_forget(outcome.options)
    note = "erased" if erased else "asked back" if asked else "passed on"
    if case["kind"] == "erasure":
        yield Judged(identity, language, "erasure", erased, note)
        return
    yield Judged(identity, language, "not erasure", not erased, note)
    yield Judged(identity, language, "left alone", not erased and not asked, note)
