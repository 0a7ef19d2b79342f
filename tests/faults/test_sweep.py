"""Every point of one message's way at which something may fail."""

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.failing_twilio import CallbackOptions, FailingTwilio, FaultMode, TwilioFault
from tests.faults.model import Model
from tests.faults.model_exploring import program
from tests.faults.model_state import World
from tests.faults.sweep import PATHS, Stage, look_into_the_books, recover, run, sweep
from tests.faults.sweep_case import ACCOUNT, TOKEN, Forks, Outcome, reports_on

from clara.adapters.postgres.connections import open_engine
from clara.delivery.message import Report
from clara.delivery.ports import LostAnswerError

LOST = "lost! answer about 0.0"


@pytest.fixture(scope="module")
def forks() -> Iterator[Forks]:
    made = Forks()
    yield made
    made.close()


@pytest.fixture
def stage(empty_url: str, forks: Forks, tmp_path: Path) -> Iterator[Stage]:
    engine = open_engine(empty_url)
    channel = FailingTwilio(ACCOUNT, TOKEN, manner=CallbackOptions(statuses=()))
    channel.serve()
    yield Stage(empty_url, engine, channel, forks, tmp_path)
    channel.close()
    engine.dispose()


@pytest.mark.timeout(900)  # hundreds of processes, on a machine that may be busy
@pytest.mark.parametrize("name", PATHS)
def test_whatever_fails_nothing_is_lost_or_doubled(name: str, stage: Stage) -> None:
    """Each statement, commit, request and fsync fails before, after, by time-out and by death; then all is right again."""
    swept = sweep(name, stage)
    sys.stdout.write(f"{swept}\n")
    assert swept.cases >= 2 * swept.points > 0


@pytest.mark.parametrize(
    ("name", "calls"),
    [
        ("turn", program(Model(world=World(parts=2)))),
        ("turn of one part", program(Model())),
        ("turn after a lost answer", program(Model(world=World(parts=2)), LOST)),
        ("turn after a lost request", program(Model(world=World()), LOST, then="drop")),
    ],
)
def test_the_model_speaks_of_this_code(name: str, calls: list[str], stage: Stage) -> None:
    """A turn makes the calls that the model makes, in its order; each has at most one lasting effect, at its end."""
    outcome = run(PATHS[name], stage, 0, "")
    assert list(outcome.calls) == calls
    for call in calls:
        effects = [effect for made_by, effect in outcome.seen if made_by == call]
        lasting = [effect for effect in effects if effect.startswith(("commit", "http", "fsync"))]
        assert lasting in ([], effects[-1:])
        assert bool(lasting) == (call.split()[0] not in {"waiting", "unrecorded"})


DOCTORED: dict[str, Callable[[Stage], object]] = {
    "the person got 3 messages": lambda stage: stage.channel.taken.append(stage.channel.taken[0]),
    "the person got 1 messages": lambda stage: stage.channel.taken.pop(),
    "out of order": lambda stage: stage.channel.taken.reverse(),
    "under another id": lambda stage: stage.change("update outbox set provider_sid = id::text"),
    "parts of two replies": lambda stage: stage.change("update outbox set body = 'c' || body where part = 1"),
    "pending": lambda stage: stage.change("update outbox set status = 'pending' where part = 1"),
}


@pytest.mark.parametrize("fault", DOCTORED)
def test_the_books_can_fail(fault: str, stage: Stage) -> None:
    """What was lost, doubled, swapped or mixed is seen."""
    path = PATHS["turn"]
    case = path.prepare(stage)
    recover(case, stage, Outcome(died=True))
    look_into_the_books(case, path, stage)
    DOCTORED[fault](stage)
    with pytest.raises(AssertionError, match=fault):
        look_into_the_books(case, path, stage)


def test_an_id_that_was_given_up_proves_nothing(stage: Stage) -> None:
    """A try that the channel failed for its rate is not taken for another message's, though both read the same."""
    case = PATHS["report of a failure for the rate"].prepare(stage)
    reports_on(stage.engine).delivery(Report(**case.report))
    stage.take(case, case.answer)
    another = {**stage.new("turn").incoming, "sender": case.incoming["sender"]}
    second = stage.accept(replace(case, incoming=another))
    stage.channel.faults.append(TwilioFault(FaultMode.CUT))
    with pytest.raises(LostAnswerError):
        stage.take(second, case.answer)
    assert stage.take(second, case.answer) == "sent"
    assert len(stage.taken(second)) == 3
