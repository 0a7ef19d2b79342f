"""Tests of the circuit breaker, on a clock that is moved by hand."""

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Event, Thread

import pytest

from clara.adapters.models.guards import FAILURES, LONGEST_PAUSE, PAUSE, Breaker, CallOutcome, ProviderUnavailableError

# Seconds that goal 12 allows between healing and the first call that is let through.
GOAL = 30.0


@dataclass
class Bench:
    """A breaker, its clock, what it told, and a provider that is well or not."""

    now: float = 1_000.0
    well: bool = False
    error: Callable[[], ProviderUnavailableError] = lambda: ProviderUnavailableError("answered 503")
    asked: int = 0
    changes: list[str] = field(default_factory=list)
    breaker: Breaker = field(init=False)

    def __post_init__(self) -> None:
        self.breaker = Breaker(self.changes.append, lambda: self.now)

    def provider(self, _seconds: float) -> str:
        self.asked += 1
        if self.well:
            return "yes"
        raise self.error()

    def ask(self, seconds: float = 8.0) -> str:
        """Ask through the breaker; give what came of it."""
        try:
            return self.breaker(self.provider, seconds)
        except ProviderUnavailableError as error:
            return error.outcome.value

    def ask_often(self, times: int) -> list[str]:
        return [self.ask() for _ in range(times)]


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_five_failures_in_a_row_open_it(bench: Bench) -> None:
    """From then on nobody waits for the provider."""
    assert bench.ask_often(8) == ["failed"] * FAILURES + ["away"] * 3
    assert (bench.asked, bench.changes, FAILURES <= 5) == (FAILURES, ["open"], True)


def test_an_answer_in_between_starts_the_count_anew(bench: Bench) -> None:
    """Only failures in a row count: a bad share of the answers is no outage."""
    for _ in range(3):
        bench.well = False
        bench.ask_often(FAILURES - 1)
        bench.well = True
        assert bench.ask() == "yes"
    assert bench.changes == []


def test_one_call_tries_it_after_the_pause_and_closes_it(bench: Bench) -> None:
    """The first call after the pause goes through; when it is answered, all do."""
    bench.ask_often(FAILURES)
    bench.well = True
    bench.now += PAUSE - 0.1
    assert bench.ask() == "away"
    bench.now += 0.1
    assert bench.ask_often(3) == ["yes"] * 3
    assert bench.changes == ["open", "closed"]


def test_a_failing_try_keeps_it_open_for_another_pause(bench: Bench) -> None:
    """While the provider is down, one call a pause is all that waits."""
    bench.ask_often(FAILURES)
    for _ in range(4):
        bench.now += PAUSE
        assert bench.ask_often(3) == ["failed", "away", "away"]
    assert bench.changes == ["open"]


def test_it_closes_within_thirty_seconds_of_healing_at_any_moment(bench: Bench) -> None:
    """Whenever the provider heals, also while a try of ten seconds fails, somebody who asks each second is answered in time."""
    for moment in range(40):
        trial = Bench()
        trial.ask_often(FAILURES)
        healed, answered = trial.now + moment, None
        while answered is None:
            trial.well = trial.now >= healed
            if trial.ask() == "yes":
                answered = trial.now
            trial.now += 1.0 if trial.well else 10.0  # a provider that is down holds a call for its deadline
        assert answered - healed <= GOAL


def test_while_one_tries_the_others_stay_away(bench: Bench) -> None:
    """Half open means one call, not a crowd."""
    bench.ask_often(FAILURES)
    bench.now += PAUSE
    entered, leave = Event(), Event()

    def slow(_seconds: float) -> str:
        entered.set()
        leave.wait(10)
        return "yes"

    trying = Thread(target=lambda: bench.breaker(slow, 8.0))
    trying.start()
    assert entered.wait(10)
    bench.well = True
    assert bench.ask() == "away"
    leave.set()
    trying.join(10)
    assert bench.ask() == "yes"


def test_what_the_provider_asks_for_is_kept_at_once(bench: Bench) -> None:
    """A daily cap is not tried again after fifteen seconds, but when it opens, and never later than a day."""
    bench.error = lambda: ProviderUnavailableError("answered 429", 68_940.0)
    assert bench.ask_often(2) == ["failed", "away"]
    bench.well = True
    bench.now += 68_939
    assert bench.ask() == "away"
    bench.now += 1
    assert bench.ask() == "yes"
    bench.well, bench.error = False, lambda: ProviderUnavailableError("answered 429", 999_999.0)
    bench.ask()
    bench.well = True
    bench.now += LONGEST_PAUSE
    assert bench.ask() == "yes"


def test_a_declined_request_shows_that_the_provider_works(bench: Bench) -> None:
    """Prompts that are blocked neither open the breaker nor keep it open: nobody can shut others out by what they write."""
    bench.error = lambda: ProviderUnavailableError("blocked the prompt", None, CallOutcome.DECLINED)
    assert bench.ask_often(20) == ["declined"] * 20
    bench.error = lambda: ProviderUnavailableError("answered 503")
    bench.ask_often(FAILURES)
    bench.now += PAUSE
    bench.error = lambda: ProviderUnavailableError("blocked the prompt", None, CallOutcome.DECLINED)
    assert bench.ask_often(2) == ["declined"] * 2
    assert bench.changes == ["open", "closed"]


def test_a_used_up_allowance_says_nothing_about_the_provider(bench: Bench) -> None:
    """It opens nothing, and a try that is not made closes nothing."""
    bench.error = lambda: ProviderUnavailableError("was not asked", None, CallOutcome.SPENT)
    assert bench.ask_often(20) == ["spent"] * 20
    bench.error = lambda: ProviderUnavailableError("answered 503")
    bench.ask_often(FAILURES)
    bench.now += PAUSE
    bench.error = lambda: ProviderUnavailableError("was not asked", None, CallOutcome.SPENT)
    bench.ask()
    assert bench.changes == ["open"]


def test_a_call_with_hardly_any_time_says_little(bench: Bench) -> None:
    """Failing within less than a second counts for nothing, and such a call is not the one that tries."""
    assert [bench.ask(0.5) for _ in range(20)] == ["failed"] * 20
    bench.ask_often(FAILURES)
    bench.now += PAUSE
    assert (bench.ask(0.5), bench.ask(8.0)) == ("away", "failed")


def test_an_error_of_our_own_lets_the_next_one_try(bench: Bench) -> None:
    """A try that ends in a fault of the program does not keep the breaker open for ever."""
    bench.ask_often(FAILURES)
    bench.now += PAUSE

    def broken(_seconds: float) -> str:
        raise KeyError

    with pytest.raises(KeyError):
        bench.breaker(broken, 8.0)
    bench.well = True
    assert bench.ask() == "yes"
