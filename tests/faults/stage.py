"""Everything that a run consists of: database, channel, two listeners, workers; each a process of its own."""

import hashlib
import shutil
import socket
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from time import monotonic
from typing import Final, Literal

import psycopg
from tests.faults.database import Database
from tests.faults.killer import WEB, WORKER, Health, answers
from tests.faults.processes import Fleet, Process

from clara.container import Container
from clara.processes.preparation import fill
from clara.settings import Settings, child_environment

ACCOUNT: Final = "AC" + "1" * 32
TOKEN: Final = "fa17" * 8
START_PATIENCE_SECONDS: Final = 240.0
UNLIMITED: Final = "1000000000"
LIMITS: Final = (
    "CLARA_SENDER_PER_MINUTE", "CLARA_SENDER_PER_DAY", "CLARA_EVERYONE_PER_MINUTE", "CLARA_EVERYONE_PER_DAY",
    "CLARA_SENDER_MODEL_ANSWERS_PER_DAY", "CLARA_MODEL_ANSWERS_PER_DAY",
)  # fmt: skip
WORKERS_ALIVE: Final = "select count(*) from procrastinate_workers"
Answers = Literal["stand-in", "clara"]


class NotStartedError(Exception):
    """A part of the run did not start. Its log says why."""


@dataclass(frozen=True, slots=True)
class Cast:
    """Who takes part: how many workers with how many turns at once, who writes, whether the channel makes faults.

    `metered` workers answer as Clara does and write down what embedding cost them.
    """

    seed: int
    workers: int = 3
    turns: int = 4
    answers: Answers = "stand-in"
    writer_ms: float = 20.0
    faults: bool = True
    limited: bool = False
    metered: bool = False


class Stage:
    """Starts all processes of a run in a folder for their logs and journals, and ends them."""

    def __init__(self, folder: Path, cast: Cast) -> None:
        self.folder = folder
        self.cast = cast
        self.database = Database()
        self.fleet = Fleet()
        self.stops: dict[str, float] = {}
        self._ports = [_free_port() for _ in range(3)]
        self.urls = (f"http://127.0.0.1:{self._ports[0]}", f"http://127.0.0.1:{self._ports[1]}")
        self.health = Health(self._ports[:2])
        self.spools = [folder / "spool primary", folder / "spool fallback"]

    def __enter__(self) -> "Stage":
        """Start everything and wait until it is ready. Raises NotStartedError."""
        shutil.rmtree(self.folder, ignore_errors=True)
        (self.folder / "logs").mkdir(parents=True)
        try:
            self.database.start()
            self._prepare_database()
            self._start_channel()
            for listener, name in enumerate(WEB):
                self._start(name, ["-m", "clara", "web", "--attached"], self._environment(listener))
            for number in range(self.cast.workers):
                self._start(f"{WORKER} {number}", self._worker_command(), self._environment(0))
            self._wait_until_ready()
        except BaseException:
            self.close()
            raise
        self.health.start()
        return self

    def __exit__(self, *_: object) -> None:
        """End everything."""
        self.health.stop()
        self.close()

    def close(self) -> None:
        """Stop all processes and the database; logs and journals stay."""
        self.stops = self.fleet.close()
        if self.database.url:
            shutil.copy(self.database.log, self.folder / "logs" / "postgresql.log")
        self.database.close()

    def logs(self) -> list[Path]:
        """Give the logs of all processes, and of PostgreSQL as far as it has come."""
        return [*sorted((self.folder / "logs").glob("*.log")), self.database.log]

    def spool_files(self) -> list[Path]:
        """Give every file in the folders of the spools."""
        return [file for folder in self.spools for file in folder.glob("*") if file.is_file()]

    def _prepare_database(self) -> None:
        services = Container(Settings(), self.database.url)
        try:
            services.migrate()
            if self.cast.answers == "clara":
                fill(services, lambda _said: None)
        finally:
            services.close()

    def _start_channel(self) -> None:
        seed = ["--seed", str(self.cast.seed)] if self.cast.faults else []
        command = ["-m", "tests.faults.channel", "--port", str(self._ports[2]), "--account", ACCOUNT, "--token", TOKEN]
        self._start("channel", [*command, "--folder", str(self.folder), *seed], child_environment())

    def _worker_command(self) -> list[str]:
        if self.cast.metered:
            return ["-m", "tests.faults.worker", "--meter", str(self.folder / "embedded.jsonl")]
        if self.cast.answers == "clara":
            return ["-m", "clara", "worker", "--attached"]
        journal = str(self.folder / "begun.jsonl")
        return ["-m", "tests.faults.worker", "--writer-ms", str(self.cast.writer_ms), "--journal", journal]

    def _start(self, name: str, command: list[str], environment: dict[str, str]) -> None:
        self.fleet.add(Process(name, command, environment, self.folder / "logs" / f"{name}.log"))

    def _environment(self, listener: int) -> dict[str, str]:
        return child_environment(
            RAG_DB_URL=self.database.url,
            CLARA_CHANNEL="twilio",
            CLARA_PUBLIC_URL=self.urls[listener],
            CLARA_SPOOL=str(self.spools[listener]),
            CLARA_PSEUDONYM_KEY=_key(self.cast.seed, "pseudonyms"),
            CLARA_ADDRESS_KEY=_key(self.cast.seed, "addresses"),
            CLARA_WORKER_TURNS=str(self.cast.turns),
            TWILIO_ACCOUNT_SID=ACCOUNT,
            TWILIO_AUTH_TOKEN=TOKEN,
            TWILIO_API_URL=f"http://127.0.0.1:{self._ports[2]}",
            PORT=str(self._ports[listener]),
            OMP_NUM_THREADS="1",
            RAG_CACHE_ENABLED="false",
            **({} if self.cast.limited else dict.fromkeys(LIMITS, UNLIMITED)),
        )

    def _wait_until_ready(self) -> None:
        deadline, pause = monotonic() + START_PATIENCE_SECONDS, Event()
        while missing := self._missing():
            failing = [process.name for process in self.fleet.named("") if process.restarts > 1]
            if monotonic() > deadline or failing:
                msg = f"{', '.join(failing) or missing} did not start; look into {self.folder / 'logs'}"
                raise NotStartedError(msg)
            pause.wait(0.2)

    def _missing(self) -> str:
        """Name a part that is not ready yet."""
        for name, port in zip((*WEB, "channel"), self._ports, strict=True):
            if not answers(port):
                return name
        with psycopg.connect(self.database.url) as connection:
            alive = (connection.execute(WORKERS_ALIVE).fetchone() or (0,))[0]
        return "" if alive >= self.cast.workers else f"{self.cast.workers - alive} workers"


def _key(seed: int, purpose: str) -> str:
    """Make a key that is the same for the same seed."""
    return hashlib.sha256(f"{seed} {purpose}".encode()).hexdigest()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
