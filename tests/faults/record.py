"""What was seen during a run. Times are seconds of the machine's monotonic clock, which all its processes share."""

from dataclasses import dataclass, field
from typing import Final

ACKNOWLEDGED: Final = "acknowledged"
UNREACHED: Final = "unreached"  # no connection: nothing was sent
BROKEN: Final = "broken"  # the connection broke after sending: perhaps it was stored
LATE: Final = "late"  # no answer in the time that Twilio waits
FAILED: Final = "failed"  # 5xx
REJECTED: Final = "rejected"  # anything else


@dataclass(frozen=True, slots=True)
class Attempt:
    """One post of one form. `due` is when it should have been posted."""

    sid: str
    listener: int
    due: float
    started: float
    ended: float
    outcome: str
    duplicate: bool = False


@dataclass(frozen=True, slots=True)
class Question:
    """What was asked, by whom."""

    sid: str
    sender: str
    body: str


@dataclass(frozen=True, slots=True)
class Take:
    """A message that the channel took from us."""

    at: float
    sid: str
    sender: str
    recipient: str
    body: str
    reply: int | None = None


@dataclass(frozen=True, slots=True)
class Told:
    """The last that a status callback said and that was acknowledged, by our number of the reply."""

    reply: int
    provider_sid: str
    status: str


@dataclass(frozen=True, slots=True)
class InboxRow:
    """A row of the inbox at the end."""

    id: int
    sid: str
    over_limit: str | None = None
    set_aside: bool = False


@dataclass(frozen=True, slots=True)
class OutboxRow:
    """A row of the outbox at the end. `unsettled` when a try to send is still recorded as open."""

    id: int
    inbox_id: int
    part: int
    body: str
    status: str
    provider_sid: str | None
    error_code: str | None = None
    attempts: int = 1
    unsettled: bool = False
    superseded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Killed:
    """A kill that was done; `held` are the messages that the process had begun to answer."""

    at: float
    kind: str
    process: str
    pid: int
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Begun:
    """A worker began to answer a message."""

    at: float
    pid: int
    sid: str


@dataclass(slots=True)
class Record:
    """Everything that a run left behind.

    `down` holds the times from which and until which the database was away, `windows` counts the windows in which somebody
    was over a limit.
    """

    questions: dict[str, Question] = field(default_factory=dict)
    attempts: list[Attempt] = field(default_factory=list)
    takes: list[Take] = field(default_factory=list)
    told: list[Told] = field(default_factory=list)
    inbox: list[InboxRow] = field(default_factory=list)
    outbox: list[OutboxRow] = field(default_factory=list)
    kills: list[Killed] = field(default_factory=list)
    begun: list[Begun] = field(default_factory=list)
    down: list[tuple[float, float]] = field(default_factory=list)
    canaries: list[str] = field(default_factory=list)
    windows: int = 0
    drained: bool = True
    left: str = ""
