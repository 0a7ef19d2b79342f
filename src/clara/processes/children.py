"""Child processes that are kept running, and that never outlive their parent."""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from threading import Thread
from time import monotonic, sleep

import structlog

from clara.errors import Unavailable

GRACE_SECONDS = 10.0
# A child that keeps dying is not restarted for ever: so many starts within the window end the whole.
MAX_STARTS = 5
WINDOW_SECONDS = 60.0
log = structlog.get_logger()


class ChildrenFailedError(Unavailable):
    """A part of Clara kept ending right after its start. Its last lines above say why."""


class Child:
    """One `clara` command in a process of its own. It ends when its parent does, because it watches its standard input."""

    def __init__(self, command: str, environment: Mapping[str, str], *, quiet: bool = False) -> None:
        self.command = command
        self._errors = subprocess.DEVNULL if quiet else None
        self._environment = dict(environment)
        self._starts: list[float] = []
        self._process: subprocess.Popen[bytes] | None = None

    def keep_running(self) -> None:
        """Start the process if it does not run. Raises ChildrenFailedError."""
        if self._process is not None and self._process.poll() is None:
            return
        if self._process is not None:
            log.warning("process ended, starting it again", process=self.command, status=self._process.returncode)
            sleep(0.5)
        self._starts = [start for start in self._starts if monotonic() - start < WINDOW_SECONDS]
        if len(self._starts) >= MAX_STARTS:
            raise ChildrenFailedError(
                f"`clara {self.command}` ended {MAX_STARTS} times within {WINDOW_SECONDS:.0f} seconds; its messages are above."
            )
        self._starts.append(monotonic())
        self._process = start_command([self.command, "--attached"], self._environment, stderr=self._errors)

    @property
    def pid(self) -> int:
        """Give the process id. Raises ChildrenFailedError when it was never started."""
        if self._process is None:
            raise ChildrenFailedError(f"`clara {self.command}` was not started")
        return self._process.pid

    def stop(self) -> None:
        """End the process: politely first, then for good."""
        if self._process is not None:
            end_process(self._process, GRACE_SECONDS)


def start_command(
    arguments: Sequence[str], environment: Mapping[str, str], stdout: int | None = None, stderr: int | None = None
) -> subprocess.Popen[bytes]:
    """Start a command of Clara's that ends with this process, in a session of its own: Ctrl-C reaches the parent alone."""
    return subprocess.Popen(  # noqa: S603  our own command
        [sys.executable, "-m", "clara", *arguments],
        env=dict(environment),
        stdin=subprocess.PIPE,
        stdout=stdout,
        stderr=stderr,
        start_new_session=True,
    )


def end_process(process: subprocess.Popen[bytes], grace_seconds: float, *, group: bool = False) -> bool:
    """End a process that still runs: politely first, which may go to its `group`, then all that it started; tell whether."""
    if process.poll() is not None:
        return False
    (os.killpg if group else os.kill)(process.pid, signal.SIGTERM)
    try:
        process.wait(grace_seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return True


def end_with_parent() -> None:
    """Send this process SIGTERM when its standard input closes, which happens however the parent ends."""

    def watch() -> None:
        # Not sys.stdin: a thread waiting inside its buffer holds a lock that interpreter shutdown needs.
        while os.read(0, 4096):
            pass
        os.kill(os.getpid(), signal.SIGTERM)

    Thread(target=watch, name="end-with-parent", daemon=True).start()
