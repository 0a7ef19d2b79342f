"""Everything at once on one machine: database, knowledge, web server and worker, until Ctrl-C."""

import signal
import time
from collections.abc import Callable
from http.client import HTTPConnection, HTTPException
from threading import Event
from types import FrameType

from clara.adapters.scripted.twilio_server import TakenMessage, TwilioStandIn
from clara.bootstrap import Services
from clara.jobs.children import Child
from clara.jobs.listening import require_free_port
from clara.jobs.preparing import fill, running_services
from clara.settings import DEMO_ACCOUNT, SAMPLE_KEY, Settings, child_environment

# Public on purpose, like the demonstration's account and key: good for nothing but the stand-in on this machine.
DEMO_TOKEN = "de30" * 8
START_PATIENCE_SECONDS = 30.0


def up(settings: Settings, say: Callable[[str], None], *, stand_in: bool = False) -> None:
    """Start everything, wait for Ctrl-C or SIGTERM, stop everything."""
    stop = Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _setter(stop))
    require_free_port(settings)
    if not stand_in:
        settings.require_channel()
    with running_services(settings, say, prepare="nothing") as services:
        services.migrate()
        fill(services, say)
        extra = _demo(settings, say) if stand_in else {}
        _run_children(services, extra, say, stop)
        say("Stopping ...")
    say("Stopped.")


def _run_children(services: Services, extra: dict[str, str], say: Callable[[str], None], stop: Event) -> None:
    settings = services.settings
    environment = child_environment(
        OMP_NUM_THREADS="1",  # the embedder's threads spin, which starves a small instance
        RAG_DB_URL=str(services.database_url),
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
            if services.server is not None and services.server.revive():
                say("The database had ended; it runs again.")
            if not announced and (_healthy(settings) or time.monotonic() - started > START_PATIENCE_SECONDS):
                announced = True
                say(_banner(settings, demo=bool(extra.get("TWILIO_API_URL"))))
    finally:
        for child in children:
            child.stop()


def _demo(settings: Settings, say: Callable[[str], None]) -> dict[str, str]:
    """Start the stand-in for Twilio in this process; give the environment that points at it."""

    def show(message: TakenMessage) -> None:
        say(f"\n── to {message.recipient} ─────────────────────────\n{message.body}\n")

    twilio = TwilioStandIn(DEMO_ACCOUNT, DEMO_TOKEN, show)
    twilio.serve()
    return {
        "CLARA_CHANNEL": "twilio",
        "CLARA_PUBLIC_URL": f"http://{settings.clara_host}:{settings.port}",
        "TWILIO_ACCOUNT_SID": DEMO_ACCOUNT,
        "TWILIO_AUTH_TOKEN": DEMO_TOKEN,
        "TWILIO_API_URL": twilio.url,
        "CLARA_PSEUDONYM_KEY": SAMPLE_KEY,
        "CLARA_ADDRESS_KEY": SAMPLE_KEY,
    }


def _banner(settings: Settings, *, demo: bool) -> str:
    address = f"http://{settings.clara_host}:{settings.port}"
    if demo:
        return f"Clara takes signed WhatsApp forms at {address}/webhook; replies appear here. Ctrl-C stops everything."
    if settings.clara_channel == "local":
        return f"Clara is ready: open {address} and ask. Ctrl-C stops everything."
    return f"Clara serves {settings.clara_public_url}/webhook on {address}. Ctrl-C stops everything."


def _healthy(settings: Settings) -> bool:
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(settings.clara_host, settings.clara_host)  # noqa: S104
    connection = HTTPConnection(host, settings.port, timeout=1)
    try:
        connection.request("GET", "/health")
        return connection.getresponse().status == 200  # noqa: PLR2004
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()


def _setter(stop: Event) -> Callable[[int, FrameType | None], None]:
    def handle(_number: int, _frame: FrameType | None) -> None:
        stop.set()

    return handle
