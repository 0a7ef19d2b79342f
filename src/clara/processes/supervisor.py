"""Everything at once on one machine: database, knowledge, web server and worker, until Ctrl-C."""

import signal
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from http.client import HTTPConnection, HTTPException
from threading import Event

from clara.container import Container
from clara.processes.children import Child
from clara.processes.preparation import fill, running_container
from clara.processes.web import require_free_port
from clara.settings import Settings, child_environment

START_PATIENCE_SECONDS = 30.0


def up(settings: Settings, say: Callable[[str], None], *, stand_in: Callable[[], Mapping[str, str]] | None = None) -> None:
    """Start everything, wait for Ctrl-C or SIGTERM, stop everything.

    `stand_in` starts one for the channel, once the rest is ready, and gives the environment that points at it.
    """
    stop = Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda _number, _frame: stop.set())
    require_free_port(settings)
    if stand_in is None:
        settings.require_channel()
    with running_container(settings, say, prepare="nothing") as container:
        container.migrate()
        fill(container, say)
        extra = stand_in() if stand_in else {}
        _run_children(container, extra, say, stop)
        say("Stopping ...")
    say("Stopped.")


def _run_children(container: Container, extra: Mapping[str, str], say: Callable[[str], None], stop: Event) -> None:
    settings = container.settings
    environment = child_environment(
        OMP_NUM_THREADS="1",  # the embedder's threads spin, which starves a small instance
        RAG_DB_URL=str(container.database_url),
        **extra,
    )
    children = [Child("web", environment)]
    if settings.clara_worker == "process":
        children.append(Child("worker", environment))
    try:
        announced = False
        started = time.monotonic()
        while not stop.wait(0.2):
            for child in children:
                child.keep_running()
            if container.server is not None and container.server.revive():
                say("The database had ended; it runs again.")
            if not announced and (_healthy(settings) or time.monotonic() - started > START_PATIENCE_SECONDS):
                announced = True
                say(_banner(settings, demo=bool(extra.get("TWILIO_API_URL"))))
    finally:
        for child in children:
            child.stop()


def _banner(settings: Settings, *, demo: bool) -> str:
    address = f"http://{settings.clara_host}:{settings.port}"
    if demo:
        return f"Clara takes signed WhatsApp forms at {address}/webhook; replies appear here. Ctrl-C stops everything."
    if settings.clara_channel == "local":
        return f"Clara is ready: open {address} and ask. Ctrl-C stops everything."
    return f"Clara serves {settings.clara_channel} on {address}. Ctrl-C stops everything."


def _healthy(settings: Settings) -> bool:
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(settings.clara_host, settings.clara_host)  # noqa: S104
    try:
        with closing(HTTPConnection(host, settings.port, timeout=1)) as connection:
            connection.request("GET", "/health")
            return connection.getresponse().status == 200  # noqa: PLR2004
    except (OSError, HTTPException):
        return False
