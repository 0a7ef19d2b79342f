"""Suite: what people write after a list of three procedures, or in a language they do not read; by authors who saw no rule.

`means` is what they want: "1", "2", "3", "several:1,3" in the order said, "all", "none", "other" (a new question, or anything
else that chooses nothing), or "language:xx". A refusal that is understood as a correction is as good as one of the list.
"""

from collections.abc import Iterator
from typing import Final

from clara.answering.dialogue.commands import LANGUAGE
from clara.answering.dialogue.steps import Dialogue
from clara.answering.message import Message, Past, Reply, ReplyStatus, Turn
from clara.data_files import TEXT
from clara.quality.suites.suite import Case, Judged, Stage, Suite, each, judged

OFFERED: Final = ("imv", "subsidio_desempleo", "nie")
LIST: Final = Past("una ayuda", ReplyStatus.CLARIFIED, "es", options=OFFERED)
ALL: Final = "all"
NONE: Final = "none"
OTHER: Final = "other"
ONE: Final = "one"
SEVERAL: Final = "several"


def _chosen(stage: Stage, case: Case) -> Iterator[Judged]:
    meant = case["means"]
    kind = ONE if meant.isdecimal() else meant.split(":")[0]
    read = understood(stage.snapshot.tools.dialogue, case["reply"], case["language"])
    yield judged(case, kind, read == meant, f"{meant}: {read}")


def understood(dialogue: Dialogue, reply: str, language: str) -> str:
    """Say what a reply to the list is understood to mean, in the words of `means`; "unclear" brings the list again."""
    choice = dialogue.choosing.choose(reply, (LIST,), language)
    if choice is None:
        return _not_chosen(dialogue, reply, language)
    if choice.declined:
        return NONE
    places = [str(OFFERED.index(option) + 1) for option in choice.chosen]
    if len(places) == len(OFFERED):
        return ALL
    return "unclear" if not places else places[0] if len(places) == 1 else f"{SEVERAL}:{','.join(places)}"


def _not_chosen(dialogue: Dialogue, reply: str, language: str) -> str:
    turn = Turn(Message(reply), question=reply, asked=reply, language=language, past=(LIST,))
    if isinstance(dialogue.correct(turn), Reply):
        return NONE
    command = dialogue.commands.recognise(reply, language)
    return f"{LANGUAGE}:{command[1]}" if command and command[0] == LANGUAGE else OTHER


CHOICES: Final = Suite(
    "choices",
    {"reply": TEXT, "means": TEXT},
    {ONE: 0.9, SEVERAL: 0.85, ALL: 0.85, NONE: 0.85, OTHER: 0.95, LANGUAGE: 0.9},
    each(_chosen),
)
