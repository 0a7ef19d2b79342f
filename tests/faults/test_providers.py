"""Tests of the verdict on what a fault of the model did: each goal is missed for its own reason."""

from dataclasses import replace

import pytest
from tests.faults.providers import Endured

WELL = Endured(
    "error-503", (0.5, 8.2), unanswered=0, drafts=6, seconds=(8.0, 0.0), answered=0,
    reasons=frozenset({"answered 503"}), requests=8, healed=15.0,
)  # fmt: skip


def test_a_fault_that_nobody_notices_misses_nothing() -> None:
    """Everybody was answered in time, and the model is used again; a day's quota need not heal."""
    assert WELL.missed(declined=False) == []
    assert replace(WELL, name="quota-day", healed=None).missed(declined=False) == []


@pytest.mark.parametrize(
    ("changed", "missed"),
    [
        ({"unanswered": 1}, "people without an answer"),
        ({"drafts": 0}, "messages without the model"),
        ({"waited": (12.1,)}, "people waited"),
        ({"answered": 1}, "the model answered"),
        ({"requests": 0}, "not asked"),
        ({"reasons": frozenset({"was not asked: its calls cannot be counted now"})}, "not asked"),
        ({"seconds": (12.1,)}, "too slow"),
        ({"reasons": frozenset({"canary-of-a-person"})}, "leaked"),
        ({"requests": 9}, "opened late"),
        ({"healed": 30.1}, "closed late"),
        ({"healed": None}, "closed late"),
    ],
)
def test_each_goal_is_missed_for_its_own_reason(changed: dict[str, object], missed: str) -> None:
    """One thing wrong names one goal."""
    assert replace(WELL, **changed).missed(declined=False) == [missed]  # type: ignore[arg-type]


def test_a_declined_request_opens_nothing() -> None:
    """However many requests were declined, none of them says something against the provider."""
    assert replace(WELL, requests=40, healed=0.0).missed(declined=True) == []
