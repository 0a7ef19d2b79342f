"""What may go wrong between a client and Twilio's REST API, as a queue of faults or as chance with a seed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from random import Random
from typing import Final


class FaultMode(StrEnum):
    """How one request goes wrong. In a listing, where nothing is taken, the kinds that take answer alike without that."""

    ERROR = "error"
    """Answered with the fault's status and code; nothing is taken."""
    RATE = "rate"
    """Answered 429 with `Retry-After` of the fault's seconds; nothing is taken."""
    CUT = "cut"
    """The connection is closed before anything is taken."""
    HANG = "hang"
    """Nothing is taken and nothing answered, until the client gives up."""
    ACCEPT_THEN_CUT = "accept_then_cut"
    """The message is taken, and the connection closed without an answer."""
    ACCEPT_THEN_500 = "accept_then_500"
    """The message is taken, and the answer is 500."""
    ACCEPT_SLOW = "accept_slow"
    """The message is taken at once, and answered after the fault's seconds."""
    GARBAGE = "garbage"
    """The message is taken, and the answer is 201 with HTML."""
    TRUNCATED = "truncated"
    """The message is taken, and the connection closed in the middle of the answer."""


TAKING: Final = frozenset(
    {FaultMode.ACCEPT_THEN_CUT, FaultMode.ACCEPT_THEN_500, FaultMode.ACCEPT_SLOW, FaultMode.GARBAGE, FaultMode.TRUNCATED}
)


@dataclass(frozen=True, slots=True)
class TwilioFault:
    """What one request gets. `status` and `code` count for an error, `seconds` for a rate and a slow answer."""

    kind: FaultMode = FaultMode.ERROR
    status: int = 500
    code: int = 20500
    seconds: float = 1.0


@dataclass(slots=True)
class FaultPlan:
    """Faults by chance: of each kind its share of the requests, from 0 to 1, in sum at most 1.

    The same seed gives the same faults in the same order of requests. `error` is what an error looks like, `slow` how many
    seconds a slow answer takes.
    """

    seed: int
    rates: Mapping[FaultMode, float]
    error: TwilioFault = field(default_factory=TwilioFault)
    slow: float = 1.0
    _chance: Random = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if sum(self.rates.values()) > 1.0 or min(self.rates.values(), default=0.0) < 0.0:
            msg = f"the shares of the faults must be 0 to 1 and at most 1 in sum: {dict(self.rates)}"
            raise ValueError(msg)
        self._chance = Random(self.seed)  # noqa: S311  repeatable on purpose

    def draw(self) -> TwilioFault | None:
        """Draw the next request's fault; None when it goes well."""
        place = self._chance.random()
        for kind, share in self.rates.items():
            if place < share:
                if kind is FaultMode.ERROR:
                    return self.error
                return TwilioFault(kind, seconds=self.slow if kind is FaultMode.ACCEPT_SLOW else 1.0)
            place -= share
        return None
