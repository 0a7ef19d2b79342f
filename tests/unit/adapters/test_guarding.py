"""Tests of the guards around a provider: retries, the day's allowance, counting, and their order."""

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from clara.adapters.models.guards import (
    Allowing,
    CallGuard,
    CallOutcome,
    Counting,
    ProviderUnavailableError,
    Retries,
    Retrying,
    guarded,
)
from clara.delivery.ports import StoreUnavailableError


@dataclass
class Clock:
    """A clock that moves when somebody waits."""

    now: float = 0.0
    waited: list[float] = field(default_factory=list)

    def __call__(self) -> float:
        return self.now

    def wait(self, seconds: float) -> None:
        self.waited.append(seconds)
        self.now += seconds


@dataclass
class Provider:
    """Gives its outcomes one after the other, each after some seconds: an error, or an answer."""

    outcomes: list[ProviderUnavailableError | str]
    clock: Clock = field(default_factory=Clock)
    takes: float = 0.0
    asked: list[float] = field(default_factory=list)

    def __call__(self, seconds: float) -> str:
        self.asked.append(seconds)
        self.clock.now += self.takes
        outcome = self.outcomes.pop(0)
        if isinstance(outcome, ProviderUnavailableError):
            raise outcome
        return outcome


def refusal(seconds: float | None = 1.0) -> ProviderUnavailableError:
    return ProviderUnavailableError("answered 429", seconds)


def retrying(provider: Provider, retries: Retries | None = None) -> CallGuard:
    return Retrying(retries or Retries(), provider.clock.wait, provider.clock)


def test_without_guards_a_call_goes_through() -> None:
    """Off means not wrapped."""
    assert guarded()(Provider(["yes"]), 3.0) == "yes"


def test_the_first_guard_is_the_outermost() -> None:
    """A guard sees what the ones inside it let through, and the call is in the middle."""
    seen: list[str] = []

    def named(name: str) -> CallGuard:
        def guard(call: Callable[[float], str], seconds: float) -> str:
            seen.append(name)
            return call(seconds - 1)

        return guard

    provider = Provider(["yes"])
    assert guarded(named("outer"), named("inner"))(provider, 3.0) == "yes"
    assert (seen, provider.asked) == (["outer", "inner"], [1.0])


def test_what_the_provider_asks_to_wait_is_waited_once() -> None:
    """The second call has the time that is left after the first one and the wait."""
    provider = Provider([refusal(1.5), "yes"], takes=0.5)
    assert retrying(provider)(provider, 5.0) == "yes"
    assert (provider.clock.waited, provider.asked) == ([1.5], [5.0, 3.0])


@pytest.mark.parametrize(
    ("error", "seconds"),
    [(refusal(None), 9.0), (refusal(2.1), 9.0), (refusal(68_940.0), 9.0), (refusal(1.0), 0.9)],
    ids=["no word of it", "too long", "a day", "beyond the deadline"],
)
def test_any_other_failure_is_final(error: ProviderUnavailableError, seconds: float) -> None:
    """Nobody waits for a quota that opens too late, nor for a provider that says nothing of trying again."""
    provider = Provider([error, "never"])
    with pytest.raises(ProviderUnavailableError):
        retrying(provider)(provider, seconds)
    assert (provider.clock.waited, len(provider.asked)) == ([], 1)


def test_there_is_no_third_try() -> None:
    """A second refusal is the caller's."""
    provider = Provider([refusal(), refusal(), "never"])
    with pytest.raises(ProviderUnavailableError):
        retrying(provider)(provider, 9.0)
    assert len(provider.asked) == 2


def test_retries_are_a_tenth_of_the_calls() -> None:
    """While every call is refused, tries again stay at a tenth of the calls beyond the reserve: load is not doubled."""
    retries = Retries()
    provider = Provider([])
    ask = retrying(provider, retries)
    for _ in range(1_000):
        provider.outcomes = [refusal(0.0), refusal(0.0)]
        with pytest.raises(ProviderUnavailableError):
            ask(provider, 9.0)
    assert len(provider.asked) - 1_000 == pytest.approx(100 + 5, abs=1)


class Days:
    """An allowance of so many calls; None: it cannot be counted."""

    def __init__(self, left: int | None) -> None:
        self.left = left

    def spend(self) -> bool:
        if self.left is None:
            raise StoreUnavailableError("out")
        self.left -= 1
        return self.left >= 0


def test_an_allowance_ends_and_each_try_costs_one() -> None:
    """When the day's calls are used up the provider is not asked, and neither when they cannot be counted."""
    provider = Provider([refusal(0.0), "yes", "never"])
    ask = guarded(retrying(provider), Allowing(Days(2)))
    assert ask(provider, 9.0) == "yes"
    for guard in (ask, Allowing(Days(None))):
        with pytest.raises(ProviderUnavailableError, match="was not asked") as caught:
            guard(provider, 9.0)
        assert caught.value.outcome is CallOutcome.SPENT
    assert len(provider.asked) == 2


def test_counting_a_call_is_paid_from_its_time() -> None:
    """A slow database leaves less for the provider: the deadline is one for both."""
    provider = Provider(["yes"])

    class Slow(Days):
        def spend(self) -> bool:
            provider.clock.now += 2.5
            return super().spend()

    assert Allowing(Slow(1), provider.clock)(provider, 8.0) == "yes"
    assert provider.asked == [5.5]


def test_every_outcome_is_told_with_its_reason() -> None:
    """Counting changes nothing: the answer and the error come through."""
    told: list[tuple[CallOutcome, str | None, float]] = []
    declined = ProviderUnavailableError("blocked the prompt", None, CallOutcome.DECLINED)
    provider = Provider(["yes", refusal(), declined], takes=0.25)
    ask = Counting(lambda *what: told.append(what), provider.clock)
    assert ask(provider, 9.0) == "yes"
    for _ in range(2):
        with pytest.raises(ProviderUnavailableError):
            ask(provider, 9.0)
    assert told == [
        (CallOutcome.ANSWERED, None, 250.0),
        (CallOutcome.FAILED, "answered 429", 250.0),
        (CallOutcome.DECLINED, "blocked the prompt", 250.0),
    ]
