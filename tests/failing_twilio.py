"""A stand-in for Twilio that fails as it is told, lists and reports late, and holds voice notes."""

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import InitVar, dataclass, field, replace
from enum import StrEnum
from random import Random
from time import monotonic
from typing import Final

from clara_lab.stand_ins.server import Delivery, ScriptedReply, StandInRequest
from clara_lab.stand_ins.twilio_callbacks import Reported, Reporter
from clara_lab.stand_ins.twilio_server import ACCOUNT, MESSAGES, TakenMessage, TwilioStandIn, error

MEDIUM: Final = re.compile(rf"{ACCOUNT}/Messages/((?:MM|SM)[0-9a-f]{{32}}/Media/ME[0-9a-f]{{32}})$")
STORE: Final = "/store/"
CREATED: Final = 201


class FaultMode(StrEnum):
    """How one request goes wrong. In a listing, where nothing is taken, the kinds that take answer alike without that."""

    ERROR = "error"  # answered with the fault's status and code; nothing is taken
    RATE = "rate"  # answered 429 with `Retry-After` of the fault's seconds; nothing is taken
    CUT = "cut"  # the connection is closed before anything is taken
    HANG = "hang"  # nothing is taken and nothing answered, until the client gives up
    ACCEPT_THEN_CUT = "accept_then_cut"  # the message is taken, and the connection closed without an answer
    ACCEPT_THEN_500 = "accept_then_500"  # the message is taken, and the answer is 500
    ACCEPT_SLOW = "accept_slow"  # the message is taken at once, and answered after the fault's seconds
    GARBAGE = "garbage"  # the message is taken, and the answer is 201 with HTML
    TRUNCATED = "truncated"  # the message is taken, and the connection closed in the middle of the answer


TAKING: Final = frozenset(FaultMode) - {FaultMode.ERROR, FaultMode.RATE, FaultMode.CUT, FaultMode.HANG}


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
        self._chance = Random(self.seed)

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


@dataclass(slots=True)
class Media:
    """What was recorded, by name, with its kind; `asked` are the paths that were asked for, and whether with credentials.

    A medium is asked for with credentials, and leads to a store without them. `location` gives where to; by default to the
    stand-in itself.
    """

    held: dict[str, tuple[str, bytes]] = field(default_factory=dict)
    asked: list[tuple[str, bool]] = field(default_factory=list)
    location: Callable[[str], str] = lambda name: f"{STORE}{name}"

    def answer(self, request: StandInRequest) -> ScriptedReply | None:
        """Answer what is asked of media; None for anything else, and for what there is none of."""
        medium = MEDIUM.match(request.path)
        name = medium[2] if medium else request.path.removeprefix(STORE)
        if name not in self.held:
            return ScriptedReply(status=404, body=b"") if medium else None
        self.asked.append((request.path, "authorization" in request.headers))
        if medium is None:
            kind, content = self.held[name]
            return ScriptedReply(body=content, headers={"Content-Type": kind})
        target = self.location(name)
        address = f"http://{request.headers['host']}{target}" if re.match("/[^/]", target) else target
        return ScriptedReply(status=307, body=b"", headers={"Location": address})


@dataclass(frozen=True, slots=True)
class CallbackOptions:
    """How the progress of a message is reported.

    `statuses` come in this order, or in any when `shuffled`; none at all switches reports off. Before each passes a time
    drawn from 0 to `delay` seconds; the share `repeated` of them comes twice. The share `failing` of the messages reports
    `failure` with `failure_code` last, instead of its last status.
    """

    statuses: tuple[str, ...] = ("sent", "delivered")
    shuffled: bool = False
    delay: float = 0.0
    repeated: float = 0.0
    failing: float = 0.0
    failure: str = "failed"
    failure_code: str = "63018"
    seed: int = 0


class UnreliableReporter(Reporter):
    """Sends callbacks as the options say."""

    def __init__(self, auth_token: str, options: CallbackOptions) -> None:
        super().__init__(auth_token)
        self._options = options
        self._chance = Random(options.seed)

    def planned(self) -> Sequence[str]:
        """Draw what is reported of a message."""
        options, chance = self._options, self._chance
        statuses = list(options.statuses)
        if statuses and chance.random() < options.failing:
            statuses[-1] = options.failure
        plan = [status for status in statuses for _ in range(1 + (chance.random() < options.repeated))]
        if options.shuffled:
            chance.shuffle(plan)
        return plan

    def fields_of(self, message: Reported, status: str) -> dict[str, str]:
        """Name the error of a failure."""
        failed = {"ErrorCode": self._options.failure_code} if status == self._options.failure else {}
        return super().fields_of(message, status) | failed

    async def send(self, message: Reported, status: str) -> str:
        """Send one callback, late."""
        if self._options.delay:
            await asyncio.sleep(self._chance.uniform(0.0, self._options.delay))
        return await super().send(message, status)


@dataclass
class FailingTwilio(TwilioStandIn):
    """The stand-in with faults and media.

    `faults` are given first to what is sent, one a request: a TwilioFault, or an error's (HTTP status, Twilio's code); then
    `plan` decides. `list_faults` and `list_plan` do the same for listings. A message appears in listings `list_lag`
    seconds after it was taken. `manner` is how progress is reported.
    """

    faults: list[TwilioFault | tuple[int, int]] = field(default_factory=list)
    plan: FaultPlan | None = None
    list_faults: list[TwilioFault | tuple[int, int]] = field(default_factory=list)
    list_plan: FaultPlan | None = None
    list_lag: float = 0.0
    media: Media = field(default_factory=Media)
    manner: InitVar[CallbackOptions | None] = None

    def __post_init__(self, manner: CallbackOptions | None) -> None:
        self.callbacks = UnreliableReporter(self.auth_token, manner or CallbackOptions())

    async def answer(self, request: StandInRequest) -> ScriptedReply:
        """Answer one request, or fail."""
        refused = self.refusal(request, MEDIUM) if MEDIUM.match(request.path) else None
        if (answered := refused or self.media.answer(request)) is not None:
            return answered
        if self.refusal(request, MESSAGES) is not None:
            return await super().answer(request)
        if request.method == "GET":
            return _spoilt(await super().answer(request), _next(self.list_faults, self.list_plan))
        fault = _next(self.faults, self.plan)
        if fault is not None and fault.kind not in TAKING:
            return _spoilt(ScriptedReply(), fault)
        reply = await super().answer(request)
        return _spoilt(reply, fault) if reply.status == CREATED else reply

    def listed(self) -> list[TakenMessage]:
        """Give the messages that were taken long enough ago."""
        shown = monotonic() - self.list_lag
        return [message for message in self.taken if message.at <= shown]


def _next(queue: list[TwilioFault | tuple[int, int]], plan: FaultPlan | None) -> TwilioFault | None:
    if queue:
        fault = queue.pop(0)
        return fault if isinstance(fault, TwilioFault) else TwilioFault(FaultMode.ERROR, *fault)
    return plan.draw() if plan is not None else None


def _spoilt(reply: ScriptedReply, fault: TwilioFault | None) -> ScriptedReply:
    """Answer as the fault says. What it takes was taken before."""
    if fault is None:
        return reply
    wrong = {
        FaultMode.ERROR: error(fault.status, fault.code, "scripted fault"),
        FaultMode.RATE: error(429, 20429, "Too Many Requests", {"Retry-After": f"{fault.seconds:.0f}"}),
        FaultMode.CUT: ScriptedReply(Delivery.CUT),
        FaultMode.HANG: ScriptedReply(Delivery.HANG),
        FaultMode.ACCEPT_THEN_CUT: ScriptedReply(Delivery.CUT),
        FaultMode.ACCEPT_THEN_500: error(500, 20500, "An internal server error has occurred"),
        FaultMode.ACCEPT_SLOW: replace(reply, delay=fault.seconds),
        FaultMode.GARBAGE: ScriptedReply(status=201, body=b"<html>It works!</html>", headers={"Content-Type": "text/html"}),
        FaultMode.TRUNCATED: replace(reply, delivery=Delivery.TRUNCATED, status=201),
    }
    return wrong[fault.kind]
