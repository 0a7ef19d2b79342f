"""How many messages are answered: one person's flood must not use up what is there for everybody, nor cost without end.

A message over a limit is stored and not answered; the first one of a sender in each window is answered with a notice.
"""

from dataclasses import dataclass

from clara.delivery.message import Limit


@dataclass(frozen=True, slots=True)
class Limits:
    """The most messages that are answered in a minute and in a day: of one sender, and of everyone together."""

    sender_per_minute: int
    sender_per_day: int
    everyone_per_minute: int
    everyone_per_day: int


@dataclass(frozen=True, slots=True)
class Counts:
    """The messages counted so far in the windows of one message, that message included where it counts.

    A message counts for the sender's minute; within that limit also for the sender's day; within both for everyone's minute;
    within all three for everyone's day. So a flood is no loss for the others, and what was refused for the minute is not
    missing in the day. `refused` counts the messages of the sender, this one included, that met the same limit in the same
    window; 0 when this one met none.
    """

    sender_minute: int
    sender_day: int
    everyone_minute: int
    everyone_day: int
    refused: int = 0


@dataclass(frozen=True, slots=True)
class Admission:
    """Whether a message is answered: `limit` is the one it is over, `notice` whether it is the one that says so."""

    limit: Limit | None = None
    notice: bool = False

    @property
    def scheduled(self) -> bool:
        """Whether the message gets a turn: for its answer, or for the notice."""
        return self.limit is None or self.notice


def reached(counts: Counts, limits: Limits) -> Limit | None:
    """Name the limit that a message is over; of several the sender's before everyone's, and the longer window first.

    The longer one tells for how long to wait: whoever was told "tomorrow" is not told "in a minute" afterwards.
    """
    used = {
        Limit.SENDER_DAY: (counts.sender_day, limits.sender_per_day),
        Limit.SENDER_MINUTE: (counts.sender_minute, limits.sender_per_minute),
        Limit.EVERYONE_DAY: (counts.everyone_day, limits.everyone_per_day),
        Limit.EVERYONE_MINUTE: (counts.everyone_minute, limits.everyone_per_minute),
    }
    return next((limit for limit, (count, most) in used.items() if count > most), None)


def admit(counts: Counts, limits: Limits) -> Admission:
    """Decide whether a message is answered, or gets the notice, or neither."""
    limit = reached(counts, limits)
    return Admission(limit, notice=limit is not None and counts.refused == 1)
