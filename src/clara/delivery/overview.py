"""How the messages on their way stand, for whoever keeps Clara running."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

# Turns take a second or two, three at most with what they wait for; whoever waits for ten times that is kept by something.
OVERDUE_SECONDS: Final = 30.0
SAID: Final = {
    "unanswered": "messages without a reply (a worker takes them)",
    "unsent": "replies that wait to be sent",
    "uncertain": "of these, may be on their way: looked for at the channel before they are sent again",
    "refused": "replies that the channel refused or could not deliver, in 24 hours",
    "over_limit": "messages over a limit, in 24 hours",
    "set_aside": "messages that broke their worker: `clara delivery aside`",
    "spooled": "messages and reports in this machine's spool",
}


@dataclass(frozen=True, slots=True)
class DeliveryStatus:
    """Messages on their way. `unanswered_for` is the age of the oldest without a reply, in seconds.

    `refused` and `over_limit` are those of the last 24 hours; `uncertain` are the unsent ones that may be on their way.
    """

    unanswered: int
    unanswered_for: float
    unsent: int
    uncertain: int
    refused: int
    over_limit: int
    set_aside: int


@dataclass(frozen=True, slots=True)
class SetAside:
    """A message that broke its worker: how it was answered after all, and what became of the reply; None: nothing yet."""

    inbox_id: int
    since: datetime
    tries: int
    text: str | None
    answered: str | None
    delivery: str | None


def wants_attention(counted: Mapping[str, Any]) -> bool:
    """Whether a person should do something about what was counted: a DeliveryStatus, and what is `spooled`."""
    return counted["unanswered_for"] > OVERDUE_SECONDS or bool(counted["set_aside"])


def overview_lines(counted: Mapping[str, Any]) -> Iterator[str]:
    """Say the same in words."""
    for name, meaning in SAID.items():
        yield f"{counted[name]:>7}  {meaning}"
    if counted["unanswered_for"] > OVERDUE_SECONDS:
        yield f"The oldest message without a reply waits for {counted['unanswered_for']:.0f} seconds. Does a worker run?"
