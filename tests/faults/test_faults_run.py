"""A short run of the fault harness: real processes, real kills, nothing lost and nothing doubled."""

import json
from pathlib import Path

import pytest
from tests.faults.performing import Performance
from tests.faults.plan import KINDS, Shape, plan_kills, plan_messages
from tests.faults.report import finding, table, write
from tests.faults.scenarios import Scenario
from tests.faults.stage import Cast

SEED, MESSAGES, KILLS, RATE = 5, 300, 16, 12.0
# Everything once; what takes long to come back, only once.
WEIGHTS = dict.fromkeys(KINDS, 0) | {"worker": 4, "web child": 3, "web parent": 1, "worker stalled": 1, "backend terminated": 1}


@pytest.mark.timeout(900)  # alone some 60 s: a dozen starts of processes, and three of PostgreSQL
def test_nothing_is_lost_and_nothing_doubled_whatever_is_killed(tmp_path: Path) -> None:
    """300 messages, 16 kills of all kinds, a channel that loses answers: the account has no fault."""
    shape = Shape(MESSAGES, RATE, senders=30)
    kills = plan_kills(SEED, KILLS, MESSAGES / RATE, WEIGHTS)
    scenario = Scenario("short", Cast(SEED), plan_messages(SEED, shape), kills)
    performance = Performance(scenario, tmp_path / "run", lambda _line: None)
    performance.run()
    found = finding(performance)
    write(found, tmp_path / "found.json")
    assert found.broken == (), table(found)
    assert set(found.kills) == set(KINDS)
    assert sum(found.kills.values()) == KILLS
    assert found.account.counts["acknowledged"] == found.account.counts["answered"] == MESSAGES
    assert json.loads((tmp_path / "found.json").read_text())["held"]


def test_the_same_seed_plans_the_same_run() -> None:
    """Messages and kills are drawn from the seed alone, and another seed draws others."""
    shape = Shape(500, 20.0, senders=40)
    assert plan_messages(1, shape) == plan_messages(1, shape) != plan_messages(2, shape)
    assert plan_kills(1, 60, 150.0) == plan_kills(1, 60, 150.0) != plan_kills(2, 60, 150.0)
    assert {kill.kind for kill in plan_kills(1, len(KINDS), 10.0)} == set(KINDS)
    assert len({message.sid for message in plan_messages(1, shape)}) == shape.messages
    duplicates = sum(len(message.again) for message in plan_messages(1, shape))
    assert 0.15 < duplicates / shape.messages < 0.35
