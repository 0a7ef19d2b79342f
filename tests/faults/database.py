"""The PostgreSQL of a run: an embedded server of its own with its disk's guarantees, and the ways to break it."""

import shutil
import tempfile
from pathlib import Path
from signal import SIGKILL
from threading import Event, Lock, Thread
from time import monotonic
from typing import Final

import psycopg
from tests.faults.processes import children, end

from clara.adapters.postgres.embedded import EmbeddedServer

NAME: Final = "clara"
# Recovery reads every file of the data folder to bring it to the disk; on a busy machine this call does it in less time.
OPTIONS: Final = {"max_connections": "100", "recovery_init_sync_method": "syncfs"}
# A server that has just come back is left alone so long: otherwise nothing but its starts would be seen.
REST_SECONDS: Final = 5.0
ASK_EVERY_SECONDS: Final = 0.1
TERMINATE: Final = "select pg_terminate_backend(%s)"


class Database:
    """The server, and the times at which it was away."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="clara-faults-"))
        self.folder.chmod(0o755)  # as root, the server runs under an account that must get in
        self.server = EmbeddedServer(self.folder, OPTIONS)
        self.url = ""
        self.down: list[tuple[float, float]] = []
        self._away_since: float | None = None
        self._lock = Lock()
        self._closing = Event()

    def start(self) -> str:
        """Start the server and give the database's URL."""
        self.url = self.server.start(NAME)
        return self.url

    def close(self) -> None:
        """Stop the server and remove its folder."""
        self._closing.set()
        self.server.revive()  # a dead server cannot be stopped
        self.server.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def up(self) -> bool:
        """Whether it is believed to have answered for a while."""
        return self._away_since is None and (not self.down or monotonic() - self.down[-1][1] > REST_SECONDS)

    @property
    def log(self) -> Path:
        """Give the server's log."""
        return next(self.folder.glob("*/data")) / "server.log"

    def postmaster(self) -> int:
        """Give the process id of the server."""
        lines = (self.log.parent / "postmaster.pid").read_text().splitlines()
        return int(lines[0])

    def backends(self) -> list[int]:
        """Give the process ids of the connections of our processes, oldest first."""
        found = []
        for pid in children(self.postmaster()):
            try:
                title = (Path("/proc") / str(pid) / "cmdline").read_text()
            except OSError:
                continue
            if title.startswith(f"postgres: postgres {NAME} "):
                found.append(pid)
        return found

    def terminate(self, pick: float) -> int:
        """End a connection the way an administrator does; give its process id, 0 when there is none."""
        pid = self._picked(pick)
        if pid:
            with psycopg.connect(self.server.url("postgres"), autocommit=True) as connection:
                connection.execute(TERMINATE, [pid])
        return pid

    def kill_backend(self, pick: float) -> int:
        """Kill a connection's process: the server ends every other one too and recovers; give the id, 0 when there is none."""
        pid = self._picked(pick)
        if pid:
            self._away()
            end(pid)
            Thread(target=self._await_return, daemon=True).start()
        return pid

    def kill(self, seconds: float) -> int:
        """Kill the whole server at once; it is started again so many seconds later. Gives the id of what was killed."""
        pid = self.postmaster()
        family = children(pid)
        self._away()
        for member in (pid, *family):
            end(member, SIGKILL)
        Thread(target=self._revive, args=(seconds,), daemon=True).start()
        return pid

    def _picked(self, pick: float) -> int:
        known = self.backends()
        return known[int(pick * len(known)) % len(known)] if known else 0

    def _away(self) -> None:
        with self._lock:
            self._away_since = monotonic()

    def _back(self) -> None:
        with self._lock:
            if self._away_since is not None:
                self.down.append((self._away_since, monotonic()))
                self._away_since = None

    def _revive(self, seconds: float) -> None:
        if not self._closing.wait(seconds):
            self.server.revive()
            self._back()

    def _await_return(self) -> None:
        while not self._closing.wait(ASK_EVERY_SECONDS):
            try:
                psycopg.connect(self.server.url(NAME), connect_timeout=2).close()
            except psycopg.OperationalError:
                continue
            self._back()
            return
