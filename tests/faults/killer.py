"""Breaks things at the planned times. Never both listeners at once: then nobody could take a message."""

import http.client
import signal
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import Event, Thread
from time import monotonic
from typing import Final

import psycopg
from tests.faults.database import Database
from tests.faults.plan import Kill
from tests.faults.processes import Fleet, Process, children, end, stat
from tests.faults.record import Killed

WEB: Final = ("web primary", "web fallback")
WORKER: Final = "worker"
# A listener counts as well when it has answered for so long, and is asked so often.
WELL_SECONDS: Final = 1.0
ASK_EVERY_SECONDS: Final = 0.2
# A kill that would leave nobody to take a message waits for its turn, at most so long.
PATIENCE_SECONDS: Final = 60.0


class Health:
    """Asks both listeners whether they answer, so that never both are killed."""

    def __init__(self, ports: Sequence[int]) -> None:
        self._ports = ports
        self._since: list[float | None] = [None for _ in ports]
        self._closing = Event()
        self._thread = Thread(target=self._watch, name="health", daemon=True)

    def start(self) -> None:
        """Begin to ask."""
        self._thread.start()

    def stop(self) -> None:
        """Stop asking."""
        self._closing.set()
        self._thread.join()

    def well(self, listener: int, seconds: float = WELL_SECONDS) -> bool:
        """Whether a listener has answered for so long."""
        since = self._since[listener]
        return since is not None and monotonic() - since >= seconds

    def ill(self, listener: int) -> None:
        """Forget that a listener answered, because it was just killed."""
        self._since[listener] = None

    def _watch(self) -> None:
        while not self._closing.wait(ASK_EVERY_SECONDS):
            for listener, port in enumerate(self._ports):
                if not answers(port):
                    self._since[listener] = None
                elif self._since[listener] is None:
                    self._since[listener] = monotonic()


def answers(port: int) -> bool:
    """Whether a web process answers at all: a path that does not exist needs no database."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=2)
    try:
        connection.request("GET", "/nothing")
        connection.getresponse().read()
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
    return True


class Killer(Thread):
    """Does the kills of a plan, and remembers each."""

    def __init__(self, plan: Sequence[Kill], fleet: Fleet, database: Database, health: Health) -> None:
        super().__init__(name="killer", daemon=True)
        self.done: list[Killed] = []
        self.not_done: list[Kill] = []
        self.stops: list[tuple[str, float]] = []
        self.began = 0.0
        self._plan = plan
        self._fleet = fleet
        self._database = database
        self._health = health
        self._closing = Event()
        self._busy: list[Thread] = []
        self._orphans: set[int] = set()

    def stop(self) -> None:
        """Do no more, and wait for what lasts: stalled workers go on, restarts are finished."""
        self._closing.set()
        if self.ident is not None:
            self.join()
        for thread in self._busy:
            thread.join()

    def run(self) -> None:
        """Do every kill at its time, or as soon after it as it may be done."""
        acts: dict[str, Callable[[Kill], Killed | None]] = {
            "worker": self._kill_worker,
            "worker stalled": self._stall_worker,
            "web child": self._kill_web,
            "web parent": self._kill_web,
            "backend terminated": self._hurt_database,
            "backend killed": self._hurt_database,
            "postmaster": self._hurt_database,
            "rolling restart": self._roll,
        }
        for kill in self._plan:
            if self._closing.wait(max(0.0, self.began + kill.at - monotonic())):
                return
            deadline = monotonic() + PATIENCE_SECONDS
            while (killed := acts[kill.kind](kill)) is None:
                if self._closing.wait(ASK_EVERY_SECONDS / 2) or monotonic() > deadline:
                    self.not_done.append(kill)
                    break
            else:
                self.done.append(killed)

    def counts(self) -> dict[str, int]:
        """Count the kills of each kind."""
        return dict(Counter(killed.kind for killed in self.done))

    def _kill_worker(self, kill: Kill) -> Killed | None:
        worker = _picked(self._fleet.named(WORKER), kill.pick)
        return self._shoot(worker, worker.pid, kill) if worker else None

    def _stall_worker(self, kill: Kill) -> Killed | None:
        worker = _picked(self._fleet.named(WORKER), kill.pick)
        if worker is None or self._lasting("stalled"):
            return None
        pid = worker.pid
        stalled = self._shoot(worker, pid, kill, signal.SIGSTOP)
        self._spawn("stalled", lambda: self._wake(worker, pid, kill.seconds))
        return stalled

    def _wake(self, worker: Process, pid: int, seconds: float) -> None:
        self._closing.wait(seconds)
        if worker.pid == pid and worker.alive:
            end(pid, signal.SIGCONT)

    def _kill_web(self, kill: Kill) -> Killed | None:
        first = int(kill.pick * 2) % 2
        for listener in (first, 1 - first):
            web = self._fleet.named(WEB[listener])[0]
            serving = children(web.pid)
            if not serving or self._lasting("rolling") or not (self._well(1 - listener) and self._well(listener)):
                continue
            self._health.ill(listener)
            if kill.kind == "web parent":
                self._orphans.update(serving)
            return self._shoot(web, serving[-1] if kill.kind == "web child" else web.pid, kill)
        return None

    def _well(self, listener: int) -> bool:
        """Whether a listener answers and will go on: the child of a parent that was killed does so only for a while."""
        self._orphans = {pid for pid in self._orphans if stat(pid)[:1] not in ([], ["Z"])}
        return not self._orphans and self._health.well(listener)

    def _hurt_database(self, kill: Kill) -> Killed | None:
        if not self._database.up:
            return None
        at, pid = monotonic(), 0
        with suppress(psycopg.OperationalError):
            match kill.kind:
                case "backend terminated":
                    pid = self._database.terminate(kill.pick)
                case "backend killed":
                    pid = self._database.kill_backend(kill.pick)
                case _:
                    pid = self._database.kill(kill.seconds)
        return Killed(at, kill.kind, "PostgreSQL", pid, kill.seconds) if pid else None

    def _roll(self, kill: Kill) -> Killed | None:
        if self._lasting("rolling"):
            return None
        self._spawn("rolling", self._restart_all)
        return Killed(monotonic(), kill.kind, "every process", 0)

    def _restart_all(self) -> None:
        """Ask one process after the other to end, each when the listener that is left is well."""
        for process in (*self._fleet.named(WORKER), *self._fleet.named("web")):
            if process.name in WEB:
                listener = WEB.index(process.name)
                while not self._well(1 - listener):
                    if self._closing.wait(ASK_EVERY_SECONDS):
                        return
                self._health.ill(listener)
            self.stops.append((process.name, self._fleet.stop(process, stay_away=False)))

    def _shoot(self, process: Process, pid: int, kill: Kill, how: signal.Signals = signal.SIGKILL) -> Killed | None:
        at = monotonic()
        return Killed(at, kill.kind, process.name, pid, kill.seconds) if end(pid, how) else None

    def _spawn(self, name: str, work: Callable[[], None]) -> None:
        thread = Thread(target=work, name=name, daemon=True)
        self._busy.append(thread)
        thread.start()

    def _lasting(self, name: str) -> bool:
        return any(thread.name == name and thread.is_alive() for thread in self._busy)


def _picked(processes: Sequence[Process], pick: float) -> Process | None:
    """Choose among the processes that run."""
    alive = [process for process in processes if process.alive]
    return alive[int(pick * len(alive)) % len(alive)] if alive else None
