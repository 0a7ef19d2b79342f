"""The processes of a run: started, kept running, looked at, and never left behind."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, RLock, Thread
from time import monotonic
from typing import IO, Final

GRACE_SECONDS: Final = 15.0
LOOK_EVERY_SECONDS: Final = 0.05
# A process that ends at once is not started in a tight loop.
PAUSE_SECONDS: Final = 0.5
PAGE_BYTES: Final = 4096
TICKS: Final = 100.0  # a second of processor time, on every Linux there is
PARENT, USER, SYSTEM, USER_ENDED, SYSTEM_ENDED, RESIDENT = 1, 11, 12, 13, 14, 21  # fields of /proc/<pid>/stat after the name
STOLEN: Final = 8  # field of the first line of /proc/stat


def stat(pid: int) -> list[str]:
    """Give the fields of a process after its name; empty when it is gone."""
    try:
        return (Path("/proc") / str(pid) / "stat").read_text().rsplit(")", 1)[1].split()
    except (OSError, IndexError):
        return []


def children(pid: int) -> list[int]:
    """Give the living processes that a process started, oldest first."""
    return families().get(pid, [])


def families() -> dict[int, list[int]]:
    """Give the living processes of this machine by the one that started them, oldest first."""
    found: dict[int, list[int]] = {}
    for pid in sorted(int(folder.name) for folder in Path("/proc").glob("[0-9]*")):
        fields = stat(pid)
        if fields and fields[0] != "Z":
            found.setdefault(int(fields[PARENT]), []).append(pid)
    return found


def resident_bytes(pid: int) -> int:
    """Give the memory of a process."""
    fields = stat(pid)
    return int(fields[RESIDENT]) * PAGE_BYTES if fields else 0


def cpu_seconds(pid: int) -> float:
    """Give the processor time that a process has used."""
    fields = stat(pid)
    return (int(fields[USER]) + int(fields[SYSTEM])) / TICKS if fields else 0.0


def ended_seconds(pid: int) -> float:
    """Give the processor time of those that a process started and that have ended."""
    fields = stat(pid)
    return (int(fields[USER_ENDED]) + int(fields[SYSTEM_ENDED])) / TICKS if fields else 0.0


def stolen_seconds() -> float:
    """Give the processor time that this machine wanted while others on the same hardware had it, of all processors together."""
    total = (Path("/proc") / "stat").read_text().splitlines()[0].split()
    return int(total[STOLEN]) / TICKS


@dataclass(slots=True)
class Process:
    """A command of this run. What it prints goes to a file; it ends when its standard input closes."""

    name: str
    command: Sequence[str]
    environment: dict[str, str]
    log: Path
    wanted: bool = True
    restarts: int = -1
    started_at: float = 0.0
    popen: subprocess.Popen[bytes] | None = None
    _file: IO[bytes] | None = None

    @property
    def pid(self) -> int:
        """Give the process id, 0 before the first start."""
        return self.popen.pid if self.popen else 0

    @property
    def alive(self) -> bool:
        """Whether it runs."""
        return self.popen is not None and self.popen.poll() is None

    def start(self) -> None:
        """Start it, again."""
        self.close()
        self._file = self.log.open("ab")
        self.popen = subprocess.Popen(
            [sys.executable, *self.command],
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=self._file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self.restarts += 1
        self.started_at = monotonic()

    def close(self) -> None:
        """Let go of the files of a process that ended."""
        if self.popen is not None and self.popen.stdin is not None:
            with suppress(OSError):
                self.popen.stdin.close()
        if self._file is not None:
            self._file.close()


@dataclass(slots=True)
class Fleet:
    """Keeps processes running: what ends is started again at once, unless it was told to stay away."""

    processes: dict[str, Process] = field(default_factory=dict)
    _lock: RLock = field(default_factory=RLock)
    _ended: Event = field(default_factory=Event)
    _thread: Thread | None = None

    def add(self, process: Process) -> None:
        """Start a process and keep it running."""
        with self._lock:
            process.start()
            self.processes[process.name] = process
        if self._thread is None:
            self._thread = Thread(target=self._watch, name="fleet", daemon=True)
            self._thread.start()

    def named(self, beginning: str) -> list[Process]:
        """Give the processes whose names begin so."""
        with self._lock:
            return [process for name, process in self.processes.items() if name.startswith(beginning)]

    def everything(self) -> Iterator[tuple[str, int]]:
        """Give the name and the id of every process, children included."""
        started = families()
        for process in self.named(""):
            yield process.name, process.pid
            for number, child in enumerate(started.get(process.pid, [])):
                yield f"{process.name} child {number}", child

    def _watch(self) -> None:
        while not self._ended.wait(LOOK_EVERY_SECONDS):
            with self._lock:
                for process in self.processes.values():
                    rested = monotonic() - process.started_at > PAUSE_SECONDS
                    if process.wanted and not process.alive and rested:
                        process.start()

    def stop(self, process: Process, *, stay_away: bool = True) -> float:
        """Ask a process to end; give the seconds that it took, and end it for good when it takes too long."""
        popen = process.popen
        if popen is None:
            return 0.0
        process.wanted = process.wanted and not stay_away
        began = monotonic()
        with suppress(ProcessLookupError):
            popen.send_signal(signal.SIGCONT)
            popen.send_signal(signal.SIGTERM)
        try:
            popen.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            for pid in (*children(popen.pid), popen.pid):
                end(pid)
            popen.wait()
        return monotonic() - began

    def close(self) -> dict[str, float]:
        """Stop everything, the last one started first; give the seconds that each took."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join()
        took = {process.name: self.stop(process) for process in reversed(self.named(""))}
        for process in self.named(""):
            process.close()
        return took


def end(pid: int, how: signal.Signals = signal.SIGKILL) -> bool:
    """Send a signal to a process that this run started; False when it is gone."""
    try:
        os.kill(pid, how)
    except ProcessLookupError:
        return False
    return True
