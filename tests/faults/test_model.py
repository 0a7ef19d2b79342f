"""Every state of the protocol of delivery, and what each of its rules is there for."""

import sys
from dataclasses import fields

import pytest
from tests.faults.model import Model
from tests.faults.model_exploring import Explored, explore
from tests.faults.model_state import Rules, World

TWICE = "the person got a part twice"
MIXED = "two parts are recorded under one id"


def explored(world: World, *off: str) -> Explored:
    result = explore(Model(Rules(**dict.fromkeys(off, False)), world))
    sys.stdout.write(f"without {', '.join(off) or 'nothing'}, {world.messages} x {world.parts} parts: {result}\n")
    return result


@pytest.mark.parametrize(
    "world",
    [
        pytest.param(World(together=2), id="one message, two faults"),
        pytest.param(World(parts=2), id="two parts"),
        pytest.param(World(messages=2), id="two messages"),
    ],
)
def test_everything_holds_in_every_state(world: World) -> None:
    """Nothing is sent twice, out of order or under another's id, and from everywhere the end can still be reached."""
    result = explored(world)
    assert result.broken is None
    assert result.states > 8_000  # a model that lost its faults would have a few hundred


# Each rule, or pair of rules that stand in for each other, with the smallest world in which it is missed.
NEEDED = {
    ("fence", "first"): (World(), "a recorded reply was written over"),
    ("fence", "attempts"): (World(), TWICE),
    ("attempts",): (World(), TWICE),
    ("pending",): (World(), TWICE),
    ("reconcile",): (World(), TWICE),
    ("kept",): (World(parts=2), MIXED),
    ("unrecorded",): (World(parts=2), MIXED),
    ("unique_message",): (World(), TWICE),
    ("lease",): (World(), TWICE),
    ("lock",): (World(messages=2, together=0), "the person got the parts out of order"),
    ("again",): (World(), "a job ended before its reply was out"),
    ("list_in_time",): (World(), TWICE),  # the documented limit: a list that lags longer than the wait makes a double
}


@pytest.mark.parametrize("off", NEEDED, ids=" and ".join)
def test_without_a_rule_something_breaks(off: tuple[str, ...]) -> None:
    """Each rule is there for something: the shortest way to what happens without it is found and printed."""
    world, broken = NEEDED[off]
    result = explored(world, *off)
    assert result.broken == broken
    assert result.trace


def test_every_rule_is_tried() -> None:
    """No rule of the model goes without the test above."""
    assert {name for off in NEEDED for name in off} == {field.name for field in fields(Rules)}


@pytest.mark.parametrize("off", ["fence", "first"])
def test_fence_and_first_stand_in_for_each_other(off: str) -> None:
    """Either alone keeps a recorded reply; the fence also stops a worker that was overtaken before it writes anything."""
    assert explored(World(), off).broken is None
