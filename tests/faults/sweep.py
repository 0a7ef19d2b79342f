"""One message's whole way with each of its effects gone wrong in each way, and what must be true after recovery."""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Engine, text
from tests.failing_twilio import FailingTwilio, FaultMode, TwilioFault
from tests.faults.sweep_case import (
    FORESEEN,
    KEY,
    SPOOL_BYTES,
    Case,
    Forks,
    Outcome,
    clerk_on,
    inbox_on,
    receiving_on,
    reports_on,
)
from tests.faults.sweep_effects import AFTER, BEFORE, KILL_AFTER, KILL_BEFORE, MODES, TIMEOUT, Effects

from clara.adapters.aes_gcm import AesGcmSealer
from clara.adapters.postgres.delivery.inbox import pseudonym
from clara.adapters.spool.spool import FileSpool
from clara.channels.twilio.channel import WINDOW_SECONDS
from clara.channels.twilio.codes import retryable_report
from clara.delivery.intake import CONTEXT
from clara.delivery.message import Incoming, Report
from clara.delivery.records import written
from clara.delivery.turn_processor import take_turn
from clara_lab.stand_ins.twilio_server import TakenMessage

OURS: Final = "whatsapp:+15555550100"
# Parts that read alike are the hardest: the channel's list cannot tell them apart.
ANSWER, OTHER = "\n\n".join(["a" * 1_500] * 2), "\n\n".join(["b" * 1_500] * 2)
# Longer than any settling time, and short enough for the window.
AGE: Final = text("""
update outbox set attempted_at = attempted_at - interval '10 seconds', updated_at = updated_at - interval '2 minutes'
where inbox_id = :id
""")
ROUNDS: Final = 6
READ_SECONDS, SLOW_SECONDS = 0.25, 0.5
REFUSED: Final = "refused"
HTTP: Final = {
    BEFORE: TwilioFault(FaultMode.CUT),
    AFTER: TwilioFault(FaultMode.ACCEPT_THEN_CUT),
    TIMEOUT: TwilioFault(FaultMode.ACCEPT_SLOW, seconds=SLOW_SECONDS),
    REFUSED: TwilioFault(FaultMode.RATE),
}


@dataclass(slots=True)
class Nth:
    """A plan of the stand-in: the request with this number, from 1, gets the fault."""

    number: int
    fault: TwilioFault

    def draw(self) -> TwilioFault | None:
        """Give the fault when it is due."""
        self.number -= 1
        return self.fault if self.number == 0 else None


@dataclass(slots=True)
class Stage:
    """Where a sweep happens: a database, a stand-in for the channel, a folder, and processes to die."""

    url: str
    engine: Engine
    channel: FailingTwilio
    forks: Forks
    folder: Path
    numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def new(self, path: str) -> Case:
        """Make a case about a message that nobody has sent yet."""
        number = next(self.numbers)
        incoming = Incoming(f"SM{number:032x}", "whatsapp", f"whatsapp:+34{number:09}", OURS, "¿NIE?")
        return Case(path, self.url, self.channel.url, str(self.folder / str(number)), asdict(incoming), answer=ANSWER)

    def rows(self, sql: str, **values: object) -> list[dict[str, Any]]:
        """Ask the database."""
        with self.engine.connect() as connection:
            return [dict(row) for row in connection.execute(text(sql), values).mappings()]

    def change(self, sql: str) -> None:
        """Change rows behind delivery's back."""
        with self.engine.begin() as connection:
            connection.execute(text(sql))

    def taken(self, case: Case) -> list[TakenMessage]:
        """Give what the channel took for this person."""
        return [message for message in self.channel.taken if message.recipient == case.incoming["sender"]]

    def accept(self, case: Case) -> Case:
        """Take the message in; give the case with its number."""
        inbox_on(self.engine).accept(incoming_of(case))
        return replace(case, inbox_id=self.number_of(case))

    def number_of(self, case: Case) -> int:
        """Give the number of the message's row; 0 when there is none."""
        return next((row["id"] for row in self.rows("select id from inbox where message_sid = :sid", **case.incoming)), 0)

    def take(self, case: Case, answer: str) -> str:
        """Take the turn once, when every earlier try is settled. May raise what a worker goes on from."""
        with self.engine.begin() as connection:
            connection.execute(AGE, {"id": case.inbox_id})
        return take_turn(case.inbox_id, clerk_on(self.engine, replace(case, answer=answer), Effects()))


def incoming_of(case: Case) -> Incoming:
    """Give the message of a case."""
    return Incoming(**{**case.incoming, "media_types": ()})


def _new(path: str) -> Callable[[Stage], Case]:
    return lambda stage: stage.new(path)


def _drained(stage: Stage) -> Case:
    case = stage.new("drain")
    spool = FileSpool(Path(case.folder), SPOOL_BYTES)
    spool.append(AesGcmSealer(KEY).seal(written(incoming_of(case), lambda: datetime.now(UTC)), CONTEXT))
    spool.close()
    return case


def _turn(stage: Stage) -> Case:
    return stage.accept(stage.new("turn"))


def _turn_of_one_part(stage: Stage) -> Case:
    return replace(_turn(stage), answer="a")


def _erasing(stage: Stage) -> Case:
    """Prepare the wish to be forgotten of somebody who has been answered before, with the same words."""
    earlier = stage.accept(stage.new("turn"))
    stage.take(earlier, ANSWER)
    wish = {**stage.new("turn").incoming, "sender": earlier.incoming["sender"]}
    return stage.accept(replace(earlier, incoming=wish, erases=True))


def _turn_after(fault: TwilioFault, answer: str = ANSWER) -> Callable[[Stage], Case]:
    def prepare(stage: Stage) -> Case:
        case = replace(_turn(stage), answer=answer)
        stage.channel.faults.append(fault)
        _try_to(lambda: stage.take(case, answer))
        with stage.engine.begin() as connection:
            connection.execute(AGE, {"id": case.inbox_id})
        return case

    return prepare


def _report(status: str, code: str | None = None, *, lost: bool = False) -> Callable[[Stage], Case]:
    def prepare(stage: Stage) -> Case:
        case = stage.accept(replace(stage.new("report"), answer="a"))
        stage.channel.faults.extend([TwilioFault(FaultMode.ACCEPT_THEN_CUT)] * lost)
        _try_to(lambda: stage.take(case, case.answer))
        (message,) = stage.taken(case)
        within = WINDOW_SECONDS if retryable_report(code) else 0.0
        return replace(case, report=asdict(Report(message.reply or 0, message.sid, status, code, within)))

    return prepare


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch of the way: how it is prepared, of how many parts the reply is, and how often one is rightly sent again.

    `erased` are the parts that the person got before and that were forgotten on the way.
    """

    prepare: Callable[[Stage], Case]
    parts: int = 2
    resent: int = 0
    erased: int = 0


PATHS: Final = {
    "accept": Stretch(_new("accept")),
    "accept with a spool beside it": Stretch(_new("web")),
    "accept into the spool": Stretch(_new("spool")),
    "drain the spool": Stretch(_drained),
    "turn": Stretch(_turn),
    "turn of one part": Stretch(_turn_of_one_part, parts=1),
    "turn that erases": Stretch(_erasing, erased=2),
    "turn after a lost answer": Stretch(_turn_after(TwilioFault(FaultMode.ACCEPT_THEN_CUT))),
    "turn after a lost request": Stretch(_turn_after(TwilioFault(FaultMode.CUT), "a"), parts=1),
    "report": Stretch(_report("delivered"), parts=1),
    "report before the answer": Stretch(_report("delivered", lost=True), parts=1),
    "report of a failure for the rate": Stretch(_report("undelivered", "63018"), parts=1, resent=1),
}


@dataclass(frozen=True, slots=True)
class Swept:
    """What a sweep tried."""

    path: str
    points: int
    cases: int
    ended: int  # processes that died

    def __str__(self) -> str:
        """Give a line of the table."""
        return f"{self.path:34} {self.points:3} points  {self.cases:4} cases  {self.ended:3} deaths"


def sweep(name: str, stage: Stage) -> Swept:
    """Let every effect go wrong in every way, recover, and look into the books; raise AssertionError with the case."""
    path = PATHS[name]
    effects = run(path, stage, 0, "").seen
    cases = ended = 0
    for target, (_, effect) in enumerate(effects, 1):
        modes = (*MODES, REFUSED) if effect.startswith("http") else MODES
        for mode in (BEFORE, KILL_BEFORE) if effect == "ping" else modes:
            outcome = run(path, stage, target, mode, effects)
            assert outcome.died == (mode in {KILL_BEFORE, KILL_AFTER}), (name, target, effect, mode, outcome)
            cases, ended = cases + 1, ended + outcome.died
    untouched = run(path, stage, len(effects) + 1, BEFORE)
    assert untouched.seen == effects, (name, "the number of effects changed", untouched, effects)
    return Swept(name, len(effects), cases, ended)


def run(path: Stretch, stage: Stage, target: int, mode: str, effects: tuple[tuple[str, str], ...] = ()) -> Outcome:
    """Do one case and recover from it; look into the books."""
    case = path.prepare(stage)
    kinds = [name for _, name in effects[:target]]
    if kinds and kinds[-1].startswith("http") and mode in HTTP:
        plan: Any = Nth(kinds.count(kinds[-1]), HTTP[mode])
        stage.channel.plan, stage.channel.list_plan = (plan, None) if kinds[-1] == "http send" else (None, plan)
        case, mode = replace(case, read_seconds=READ_SECONDS if mode == TIMEOUT else case.read_seconds), "by the channel"
    outcome = stage.forks.run(replace(case, target=target, mode=mode))
    stage.channel.plan = stage.channel.list_plan = None
    try:
        recover(case, stage, outcome)
        look_into_the_books(case, path, stage)
    except AssertionError as error:
        error.add_note(f"{case.path}, effect {target} {effects[target - 1 : target]}: {mode}, {outcome}")
        raise
    return outcome


def recover(case: Case, stage: Stage, outcome: Outcome) -> None:
    """Do what follows by itself: spool, the channel's own retry, the worker engine, reports."""
    if case.path in {"web", "spool", "drain"}:
        spool = FileSpool(Path(case.folder), SPOOL_BYTES)
        receiving = receiving_on(stage.engine, spool)
        receiving.drain(lambda: None)
        receiving.close()
        assert spool.waiting() == 0
        spool.close()
    if case.path in {"accept", "web", "spool"}:
        acknowledged = outcome.result == "True"
        number = stage.number_of(case)
        jobs = stage.rows("select 1 from procrastinate_jobs where (args ->> 'inbox_id')::bigint = :id", id=number)
        assert len(jobs) == (number > 0), "a message without its job, or a job without its message"
        assert number or not acknowledged, "an acknowledged message is lost"
        inbox_on(stage.engine).accept(incoming_of(case))
    case = replace(case, inbox_id=stage.number_of(case))
    assert case.inbox_id, "the message is lost"
    if case.report:
        reports_on(stage.engine).delivery(Report(**case.report))
    other = OTHER if case.answer == ANSWER else "b"
    assert any(_try_to(lambda: stage.take(case, other)) for _ in range(ROUNDS)), "the turn does not come to an end"
    for message in stage.taken(case):
        reports_on(stage.engine).delivery(Report(message.reply or 0, message.sid, "delivered"))


def _try_to(act: Callable[[], object]) -> bool:
    try:
        act()
    except FORESEEN:
        return False
    return True


def look_into_the_books(case: Case, path: Stretch, stage: Stage) -> None:
    """Hold the database against what the channel took: everything once, in order, under the right ids."""
    (message,) = stage.rows("select * from inbox where message_sid = :sid", **case.incoming)
    parts = stage.rows("select * from outbox where inbox_id = :id order by part", **message)
    turns = stage.rows("select * from turns where inbox_id = :id", **message)
    jobs = stage.rows("select lock from procrastinate_jobs where (args ->> 'inbox_id')::bigint = :id", **message)
    taken = stage.taken(case)[path.erased :]
    assert len(taken) == path.parts + path.resent, f"the person got {len(taken)} messages"
    latest = taken[path.resent :]
    assert [part["part"] for part in parts] == list(range(path.parts)), f"the reply has {len(parts)} parts"
    assert [part["id"] for part in parts] == [message.reply for message in latest], "out of order"
    assert [part["provider_sid"] for part in parts] == [message.sid for message in latest], "under another id"
    assert len({part["body"][0] for part in parts}) == 1, "parts of two replies"
    assert [part["body"] for part in parts] == [message.body for message in latest], "another text"
    states = {part["status"] for part in parts}
    assert states == {"delivered"}, f"the parts are {sorted(states)}"
    assert {part["attempted_at"] for part in parts} == {None}, "a settled part has a try of unknown outcome"
    assert len(turns) == 1, f"the reply has {len(turns)} turns"
    owner = pseudonym(KEY, case.incoming["sender"])
    assert [job["lock"] for job in jobs] == [owner] * (1 + path.resent), f"the message has {len(jobs)} jobs"
    assert message["fence"] > 0, "nobody has begun the turn"
    earlier = [old.sid for old in (stage.taken(case)[: path.erased] if path.erased else taken[: path.resent])]
    if path.erased:
        nothing_left_of(case, stage)
    known = [sorted(part["superseded_sids"]) for part in parts]
    assert known == [sorted(earlier)] * path.parts, "an earlier try is forgotten"


def nothing_left_of(case: Case, stage: Stage) -> None:
    """Look for rows that name the person of an erasure, apart from the jobs, which go when they end."""
    owner = {"owner": pseudonym(KEY, case.incoming["sender"])}
    assert not stage.rows("select 1 from inbox where pseudonym = :owner", **owner), "a message names the person"
    assert not stage.rows("select 1 from turns where pseudonym = :owner", **owner), "a turn names the person"
