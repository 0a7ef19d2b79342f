"""`clara web`: granian reads, and this process watches the one that serves (`web_app`), and starts it again."""

import ctypes
import os
import resource
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from typing import TYPE_CHECKING

from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.log import LogLevels
from granian.server import Server

from clara.errors import MENDABLE
from clara.settings import Settings, SettingsError

if TYPE_CHECKING:
    from clara.processes.request_bounds import WholeRequests


def require_free_port(settings: Settings) -> None:
    """See that nobody else listens where Clara should. Raises SettingsError."""
    with socket.socket(socket.AF_INET6 if ":" in settings.clara_host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((settings.clara_host, settings.port))
        except OSError as error:
            address = f"{settings.clara_host}:{settings.port}"
            msg = f"cannot listen on {address} ({error.strerror}). Choose another port, such as PORT={settings.port + 1}"
            raise SettingsError(msg) from error


# More would not work at the same time. A call to the store that hangs holds one for as long as its patience lasts.
THREADS = 8
# So long the requests under way and the inline worker have to end: less than the ten seconds that who stops us waits.
GRACE_SECONDS = 8
# Connections at the same time, most of them idle: one that is kept open for later, or says nothing, costs some kilobytes. With
# granian's own 1,024 the idle ones of a single stranger kept everybody out.
CONNECTIONS = 8_192
# What the process opens besides: the database, files, granian's own.
OTHER_DESCRIPTORS = 256
# A connection that has said nothing for so long is closed, a head that has not ended likewise. Twilio opens a new one then.
SILENT_MILLISECONDS = 10_000
# Of what has arrived and was not read yet. Bodies are read at once; granian's 400 KiB are for downloads.
BUFFER_BYTES = 32 * 1024
PR_SET_PDEATHSIG = 1  # linux/prctl.h
# What granian says goes where all other libraries' words go, and only what is wrong.
LOGGING: dict[str, object] = {"handlers": {}, "loggers": {"_granian": {}}}


@dataclass(frozen=True, slots=True)
class WebProcess:
    """Builds the application in the process that serves it, and starts its companions there.

    It builds its own services: a connection that was opened before would be shared by every process that follows another,
    with the prepared statements, and the open transaction, of the one that died.
    """

    settings: Settings
    database_url: str
    parent: int  # the process that watches this one, and without which it ends

    def __call__(self) -> "WholeRequests":
        """Build everything; it is stopped when this process ends."""
        # Not above: who watches would hold a second copy of everything, 25 MB of it its own.
        from clara.processes.web_app import start_web

        _end_with(self.parent)
        return start_web(self.settings, self.database_url, THREADS)


def _end_with(parent: int) -> None:
    """Have the kernel end this process when the one that started it is killed: an orphan holds the port and serves nobody.

    Linux only. What was acknowledged is stored.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)  # it was killed before the kernel was asked


def serve(settings: Settings, say: Callable[[str], None]) -> None:
    """Serve until SIGTERM or SIGINT. Raises SettingsError when the port is taken; exits with 1 when it dies again and again."""
    require_free_port(settings)
    server = Server(
        "clara",
        settings.clara_host,
        settings.port,
        interface=Interfaces.RSGI,
        http=HTTPModes.http1,
        websockets=False,
        respawn_failed_workers=True,
        backlog=CONNECTIONS,
        backpressure=room_for_connections(),
        http1_settings=HTTP1Settings(header_read_timeout=SILENT_MILLISECONDS, max_buffer_size=BUFFER_BYTES),
        workers_kill_timeout=GRACE_SECONDS,
        log_level=LogLevels.error,
        log_dictconfig=LOGGING,
    )
    with prepared(settings, say) as database_url:
        server.serve(target_loader=WebProcess(settings, database_url, os.getpid()), wrap_loader=False)


@contextmanager
def prepared(settings: Settings, say: Callable[[str], None]) -> Iterator[str]:
    """Give the address of the database, once it was looked at: the operator's, or the embedded one, which runs meanwhile.

    The operator's is looked at by a process of its own, which ends and gives back the 60 MB that this takes.
    """
    if settings.rag_db_url is None:
        from clara.processes.preparation import running_container

        with running_container(settings, say) as container:
            container.disconnect()  # what a fork must not share
            yield str(container.database_url)
        return
    looking = get_context("fork").Process(target=_look, args=(settings, say))
    looking.start()
    looking.join()
    if looking.exitcode:
        sys.exit(max(looking.exitcode, 1))
    yield settings.rag_db_url.get_secret_value()


def _look(settings: Settings, say: Callable[[str], None]) -> None:
    from clara.processes.preparation import running_container

    try:
        with running_container(settings, say):
            pass
    except MENDABLE as error:
        say(f"Error: {error}")
        sys.exit(error.exit_code)


def room_for_connections() -> int:
    """Raise how many files this process and its children may open, as far as the system lets; give how many connections fit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = CONNECTIONS + OTHER_DESCRIPTORS
    most = wanted if hard == resource.RLIM_INFINITY else min(hard, wanted)
    if soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    return max(most - OTHER_DESCRIPTORS, 1)
