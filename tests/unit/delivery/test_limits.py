"""Tests of deciding which messages are answered, and of what people are told about the others."""

import re
from dataclasses import replace

import pytest
from tests.languages import LANGUAGES

from clara.answering.texts import Texts
from clara.delivery.limits import Admission, Counts, Limits, admit, reached
from clara.delivery.message import Limit

LIMITS = Limits(sender_per_minute=10, sender_per_day=150, everyone_per_minute=6_000, everyone_per_day=100_000)
WITHIN = Counts(10, 150, 6_000, 100_000)


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        pytest.param(Counts(1, 1, 1, 1), None, id="the first message of all"),
        pytest.param(WITHIN, None, id="the last one within every limit"),
        pytest.param(replace(WITHIN, sender_minute=11), Limit.SENDER_MINUTE, id="sender's minute"),
        pytest.param(replace(WITHIN, sender_day=151), Limit.SENDER_DAY, id="sender's day"),
        pytest.param(replace(WITHIN, everyone_minute=6_001), Limit.EVERYONE_MINUTE, id="everyone's minute"),
        pytest.param(replace(WITHIN, everyone_day=100_001), Limit.EVERYONE_DAY, id="everyone's day"),
        pytest.param(Counts(11, 151, 0, 0), Limit.SENDER_DAY, id="tomorrow, not in a minute"),
        pytest.param(Counts(1, 1, 6_001, 100_001), Limit.EVERYONE_DAY, id="everyone's longer window"),
        pytest.param(Counts(11, 1, 6_001, 100_001), Limit.SENDER_MINUTE, id="the sender's own before everyone's"),
    ],
)
def test_the_limit_that_tells_most_is_named(counts: Counts, expected: Limit | None) -> None:
    """A message up to the limit is answered; beyond several, the one that says for how long to wait is named."""
    assert reached(counts, LIMITS) is expected
    assert admit(counts, LIMITS).limit is expected


@pytest.mark.parametrize("limit", list(Limit))
def test_only_the_first_refusal_gets_the_notice(limit: Limit) -> None:
    """Over any limit the first message of the window is scheduled for its notice; the others are not scheduled."""
    fields = {
        Limit.SENDER_MINUTE: {"sender_minute": 12},
        Limit.SENDER_DAY: {"sender_day": 200},
        Limit.EVERYONE_MINUTE: {"everyone_minute": 9_999},
        Limit.EVERYONE_DAY: {"everyone_day": 999_999},
    }
    over = replace(WITHIN, **fields[limit])
    first, second = (admit(replace(over, refused=refused), LIMITS) for refused in (1, 2))
    assert (first, first.scheduled) == (Admission(limit, notice=True), True)
    assert (second, second.scheduled) == (Admission(limit), False)


def test_what_is_within_the_limits_has_no_notice() -> None:
    """An answered message is scheduled, and says nothing about limits, whatever was refused before."""
    assert admit(replace(WITHIN, refused=1), LIMITS) == Admission()
    assert Admission().scheduled


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", ["limit_minute", "limit_day", "busy"])
def test_a_limit_leaves_nobody_in_danger_without_a_number(texts: Texts, language: str, name: str) -> None:
    """Each notice ends with the numbers for emergencies, gender violence and suicide, in this order, and no other number."""
    danger = texts.say(language, name, human="").split("\n\n")[-1]
    assert re.findall(r"(?<!\d)\d{3}(?!\d)", danger) == ["112", "016", "024"]
    assert set(re.findall(r"\d+", texts.say(language, name, human=""))) == set(re.findall(r"\d+", danger))
    assert len({texts.say(language, each, human="").split("\n\n")[-1] for each in ("limit_minute", "limit_day", "busy")}) == 1
