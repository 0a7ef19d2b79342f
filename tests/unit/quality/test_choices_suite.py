"""Tests of the suite of choices: what it takes a reply to mean, and that its halves share none."""

import pytest

from clara.answering.texts import Texts
from clara.answering.tool_factory import build_dialogue
from clara.quality.suites.choices import CHOICES, understood
from clara.quality.suites.suite import read_cases
from clara.settings import resources

FILE = resources() / "eval" / "answers" / "choices.jsonl"


@pytest.mark.parametrize(
    ("reply", "means"),
    [
        ("la segunda por favor", "2"),
        ("1 y 3", "several:1,3"),
        ("las tres", "all"),
        ("las dos", "unclear"),
        ("ninguna de esas, gracias", "none"),
        ("eso no es lo que pregunté", "none"),
        ("¿qué diferencia hay?", "other"),
        ("in english please", "language:en"),
    ],
)
def test_understood(real: object, texts: Texts, reply: str, means: str) -> None:
    """Each kind of reply is told apart by the real dialogue."""
    assert understood(build_dialogue(real, texts, None), reply, "es") == means


def test_halves() -> None:
    """No reply stands in both halves, and both have every kind and language."""
    dev, test = (read_cases(FILE, split, CHOICES.fields) for split in ("dev", "test"))
    assert {case["reply"].casefold() for case in dev}.isdisjoint(case["reply"].casefold() for case in test)
    for cases in (dev, test):
        assert {case["means"].split(":")[0] for case in cases} >= {"1", "2", "3", "several", "all", "none", "other", "language"}
        assert len({case["language"] for case in cases}) == 10
