"""The process that serves the web: granian reads, threads serve, and the worker is beside it when it runs here."""

import ctypes
import os
import resource
import signal
import socket
import sys
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.util import Finalize
from pathlib import Path
from threading import Thread

import structlog
from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.log import LogLevels
from granian.server import Server

from clara.container import Container
from clara.logs import configure_logs
from clara.processes.request_bounds import Bounds, WholeRequests
from clara.processes.schedule import build_schedule, enabled
from clara.processes.web_app import build_app, open_door
from clara.processes.worker import SWITCH_SECONDS, build_worker
from clara.settings import Settings, SettingsError
from clara.web.app import MAX_BODY_BYTES


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
log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class WebProcess:
    """Builds the application in the process that serves it, and starts its companions there.

    It builds its own services: a connection that was opened before would be shared by every process that follows another,
    with the prepared statements, and the open transaction, of the one that died.
    """

    settings: Settings
    database_url: str | None
    outage: str
    parent: int  # the process that watches this one, and without which it ends

    def __call__(self) -> WholeRequests:
        """Build everything; it is stopped when this process ends."""
        _end_with(self.parent)
        configure_logs()
        sys.setswitchinterval(SWITCH_SECONDS)
        services = Container(self.settings, self.database_url, outage=self.outage)
        door = open_door(services)
        app = build_app(services, door)
        warn_of_spool(self.settings.spool)
        door.drainer.start()
        stops = [*_start_inline(services), door.drainer.stop, door.receiving.close, door.spool.close, services.close]
        Finalize(None, _in_turn, (stops,), exitpriority=0)
        return WholeRequests(app, THREADS, Bounds(MAX_BODY_BYTES))


def _start_inline(services: Container) -> list[Callable[[], None]]:
    """Start the worker here, when that is asked for; give what stops it."""
    if services.settings.clara_worker != "inline":
        return []
    worker = build_worker(services)
    Thread(target=worker.run, kwargs={"handle_signals": False}, name="inline-worker").start()
    schedule = build_schedule(services, enabled(services.settings))
    if schedule is None:
        return [worker.stop]
    schedule.start()
    return [worker.stop, schedule.stop]


def _in_turn(stops: list[Callable[[], None]]) -> None:
    for stop in stops:
        stop()


def _end_with(parent: int) -> None:
    """Have the kernel end this process when the one that started it is killed: an orphan holds the port and serves nobody.

    Linux only. What was acknowledged is stored.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)  # it was killed before the kernel was asked


def serve(services: Container) -> None:
    """Serve until SIGTERM or SIGINT. Raises SettingsError when the port is taken; exits with 1 when it dies again and again."""
    settings = services.settings
    require_free_port(settings)
    services.disconnect()  # what a fork must not share
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
    served = WebProcess(settings, services.database_url, services.outage, os.getpid())
    server.serve(target_loader=served, wrap_loader=False)


def room_for_connections() -> int:
    """Raise how many files this process and its children may open, as far as the system lets; give how many connections fit."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = CONNECTIONS + OTHER_DESCRIPTORS
    most = wanted if hard == resource.RLIM_INFINITY else min(hard, wanted)
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    return max(most - OTHER_DESCRIPTORS, 1)


def warn_of_spool(folder: Path) -> None:
    """Say at the start, not in the first outage, that nothing can be kept while the database is away."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(folder, os.O_RDONLY | os.O_DIRECTORY))
        usable = os.access(folder, os.W_OK | os.X_OK)
    except OSError:
        usable = False
    if not usable:
        log.warning("spool cannot be used", path=str(folder), reason="set CLARA_SPOOL to a folder that Clara may write")
