"""Goal 12 on the real SDK, a real server and a clock moved by hand: whatever Gemini does, nobody waits for it for ever."""

from collections.abc import Iterator

import pytest

from clara.adapters.models.gemini import GeminiTransport
from clara.adapters.models.gemini_generation import GeminiTextModel
from clara.adapters.models.guards import FAILURES, PAUSE, Breaker, CallOutcome, Counting, Retries, Retrying, guarded
from clara.answering.ports import ModelUnavailableError, Prompt
from clara_lab.stand_ins.model_server import ModelStandIn
from clara_lab.stand_ins.server import Delivery
from clara_lab.stand_ins.speech import faults_of

# What hangs is waited for; all else answers at once, however busy the machine is.
SHORT, AMPLE = 0.2, 20.0
SLOW = {Delivery.HANG, Delivery.DRIP_HEADERS, Delivery.DRIP_BODY}
CALLS = 12
FAULTS = faults_of("gemini", "failing")
# A quota that says when it opens is kept away from until then, after one call and perhaps one more try.
ASKING = {"quota-day": (1, 68_940.0), "quota-second": (1, 1.0), "quota-header": (1, 10.0)}


@pytest.fixture(scope="module")
def server() -> Iterator[ModelStandIn]:
    served = ModelStandIn().serve()
    yield served
    served.close()


class Tried:
    """A text model behind the guards of production, on a clock moved by hand."""

    def __init__(self, server: ModelStandIn) -> None:
        self.now = 0.0
        self.changes: list[str] = []
        self.outcomes: list[CallOutcome] = []
        breaker = Breaker(self.changes.append, lambda: self.now, fair_seconds=0.0)
        counting = Counting(lambda outcome, _reason, _milliseconds: self.outcomes.append(outcome))
        guard = guarded(counting, breaker, Retrying(Retries(), lambda _seconds: None))
        self._transport = GeminiTransport("any", deadline_seconds=AMPLE, base_url=server.url, guard=guard)
        self._model = GeminiTextModel(self._transport, "gemini-2.5-flash")

    def answered(self, seconds: float = AMPLE) -> bool:
        try:
            return bool(self._model.write(Prompt("i", "p"), seconds))
        except ModelUnavailableError:
            return False

    def close(self) -> None:
        self._transport.close()


@pytest.fixture
def tried(server: ModelStandIn) -> Iterator[Tried]:
    server.requests.clear()
    server.standing = None
    made = Tried(server)
    yield made
    made.close()


@pytest.mark.parametrize("name", FAULTS)
def test_a_standing_fault_opens_the_breaker_and_healing_closes_it(server: ModelStandIn, tried: Tried, name: str) -> None:
    """At most five calls reach a provider that fails; the others fail at once, until one tries again and is answered."""
    most, opens_after = ASKING.get(name, (FAILURES, PAUSE))
    server.standing = FAULTS[name]
    seconds = SHORT if FAULTS[name].delivery in SLOW else AMPLE
    assert not any(tried.answered(seconds) for _ in range(CALLS))
    assert len(server.requests) <= most + (name == "quota-second")
    assert tried.changes == ["open"]
    assert tried.outcomes == [CallOutcome.FAILED] * most + [CallOutcome.AWAY] * (CALLS - most)
    server.standing = None
    tried.now += opens_after - 0.01
    assert not tried.answered()
    tried.now += 0.01
    assert tried.answered()
    assert tried.changes == ["open", "closed"]


@pytest.mark.parametrize("name", faults_of("gemini", "declining"))
def test_declined_requests_shut_nobody_out(server: ModelStandIn, tried: Tried, name: str) -> None:
    """However many prompts of one person are blocked, the next person's is asked."""
    server.standing = faults_of("gemini", "declining")[name]
    assert not any(tried.answered() for _ in range(CALLS))
    server.standing = None
    assert tried.answered()
    assert len(server.requests) == CALLS + 1
