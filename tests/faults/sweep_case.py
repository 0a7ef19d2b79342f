"""One piece of work done in a process that may die of it, and the server that forks such processes.

Everything is imported before the fork: a case costs some hundredths of a second.
"""

import json
import os
import subprocess
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import Engine
from tests.faults.sweep_effects import Effects, Named, Watch

from clara.adapters.aes_gcm import AesGcmSealer
from clara.adapters.postgres.connections import open_engine
from clara.adapters.postgres.delivery.inbox import PostgresInbox, TurnTask
from clara.adapters.postgres.delivery.status_reports import PostgresReports
from clara.adapters.postgres.delivery.turn_store import PostgresDesk
from clara.adapters.procrastinate.engine import QUEUE, TASK, TurnScheduler
from clara.adapters.spool.spool import FileSpool
from clara.answering.message import Act, Reply, ReplyStatus
from clara.channels.twilio.channel import TwilioChannel
from clara.channels.twilio.sender import TwilioSender
from clara.delivery.intake import SpoolingInbox
from clara.delivery.message import Incoming, Report
from clara.delivery.ports import LostAnswerError, StoreUnavailableError, SupersededError, TemporarySendError
from clara.delivery.turn_processor import Clerk, Outlet, take_turn

KEY = "k" * 32
ACCOUNT, TOKEN = "AC" + "0" * 32, "token"
CALLBACK = "http://127.0.0.1:1/webhook/status"
NOWHERE = "postgresql://nobody@127.0.0.1:1/none"
SPOOL_BYTES = 1_000_000
# What the web and the worker know how to go on from.
FORESEEN = (LostAnswerError, StoreUnavailableError, SupersededError, TemporarySendError)
ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Case:
    """What is done (`path`), on what, and which effect goes wrong how. `read_seconds` is how long an answer is waited for.

    `erases` says that the reply is the receipt of an erasure.
    """

    path: str
    url: str
    api_url: str
    folder: str
    incoming: dict[str, Any]
    target: int = 0
    mode: str = ""
    inbox_id: int = 0
    answer: str = ""
    report: dict[str, Any] = field(default_factory=dict)
    read_seconds: float = 10.0
    erases: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of it. `result` and `error` are empty when the process died; then only `died` is known."""

    died: bool
    result: str = ""
    error: str = ""
    calls: tuple[str, ...] = ()
    seen: tuple[tuple[str, str], ...] = ()


def inbox_on(engine: Engine) -> PostgresInbox:
    """Build the inbox as the web does, without limits."""
    return PostgresInbox(engine, KEY, AesGcmSealer(KEY), TurnTask(QUEUE, TASK))


def reports_on(engine: Engine) -> PostgresReports:
    """Build what takes reports as the web does."""
    return PostgresReports(engine, TurnScheduler().schedule)


def receiving_on(engine: Engine, spool: FileSpool) -> SpoolingInbox:
    """Build the inbox with a spool beside it."""
    return SpoolingInbox(inbox_on(engine), reports_on(engine), spool, AesGcmSealer(KEY), spool.set_aside)


def clerk_on(engine: Engine, case: Case, effects: Effects) -> Clerk:
    """Build the worker's clerk, with an answer that is given."""
    sender: Any = Named(TwilioSender(ACCOUNT, TOKEN, CALLBACK, case.api_url, case.read_seconds), effects, "send", "taken")
    desk: Any = Named(PostgresDesk(engine, AesGcmSealer(KEY)), effects)
    act = Act.ERASE if case.erases else None
    return Clerk(
        desk,
        lambda _case: Reply(case.answer, ReplyStatus.ANSWERED, "es", act=act),
        {"whatsapp": Outlet(sender, TwilioChannel.limits)},
    )


def perform(case: Case, engine: Engine, effects: Effects) -> str:
    """Do the work; say what it gave."""
    incoming = Incoming(**{**case.incoming, "media_types": ()})
    match case.path:
        case "accept":
            return str(inbox_on(engine).accept(incoming))
        case "web" | "spool":
            spool = FileSpool(Path(case.folder), SPOOL_BYTES, effects.fsync)
            result = receiving_on(engine if case.path == "web" else open_engine(NOWHERE), spool).accept(incoming)
            effects.check_on_disk(Path(case.folder))
            return str(result)
        case "drain":
            spool = FileSpool(Path(case.folder), SPOOL_BYTES, effects.fsync)
            return str(receiving_on(engine, spool).drain(lambda: None))
        case "turn":
            return take_turn(case.inbox_id, clerk_on(engine, case, effects))
        case _:
            return str(reports_on(engine).delivery(Report(**case.report)))


class Server:
    """Does cases, each in a process forked for it; what is worth remembering is learnt before the fork."""

    def __init__(self) -> None:
        self._watches: dict[str, Watch] = {}

    def run(self, case: Case) -> dict[str, Any]:
        """Do a case in this process."""
        watch = self._watches.setdefault(case.url, Watch(open_engine(case.url)))
        effects = Effects(case.target, case.mode)
        watch.begin(effects)
        effects.armed = True
        result = error = ""
        try:
            result = perform(case, watch.engine, effects)
        except FORESEEN as foreseen:
            error = type(foreseen).__name__
        effects.armed = False
        watch.engine.dispose()
        return {"died": False, "result": result, "error": error, "calls": effects.calls, "seen": effects.seen}

    def fork(self, case: Case) -> dict[str, Any]:
        """Do a case in a process of its own."""
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.write(writing, json.dumps(self.run(case)).encode())
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading, "rb") as pipe:
            said = pipe.read()
        _, status = os.waitpid(child, 0)
        return {"died": os.WIFSIGNALED(status), **json.loads(said or b"{}")}


def serve() -> None:
    """Do a case for each line of standard input; write what became of it as a line."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # logs
    server = Server()
    for line in sys.stdin:
        case = Case(**json.loads(line))
        # Where nothing goes wrong no process has to die, and statements are compiled for all that follow. Spools and their
        # threads do not outlive a fork.
        harmless = case.target == 0 and case.path not in {"web", "spool", "drain"}
        answers.write(json.dumps(server.run(case) if harmless else server.fork(case)) + "\n")
        answers.flush()


class Forks:
    """The server of cases, in a process of its own. What a case did not foresee is on standard error, and no outcome."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "tests.faults.sweep_case"]
        self._server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT)

    def run(self, case: Case) -> Outcome:
        """Do a case."""
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._server.stdin.write(json.dumps(asdict(case)) + "\n")
        self._server.stdin.flush()
        said = json.loads(self._server.stdout.readline())
        assert said["died"] or said.get("result") or said.get("error"), f"{case.path} was ended by what it did not foresee"
        seen = tuple((call, name) for call, name in said.pop("seen", ()))
        return Outcome(**{**said, "calls": tuple(said.get("calls", ())), "seen": seen})

    def close(self) -> None:
        """End the server."""
        self._server.communicate()


if __name__ == "__main__":
    serve()
