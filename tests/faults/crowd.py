"""Strangers hold connections open, with nothing or half a form on them, and everybody else has to be acknowledged.

Bounded in number and time, and against a `clara web` of its own on this machine: python -m tests.faults.run crowd.
"""

import json
import resource
import socket
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Event
from time import perf_counter
from typing import Final
from urllib.parse import urlencode

from tests.faults.database import Database
from tests.faults.processes import children, resident_bytes
from tests.journeys.listening import Listening, start_listening

from clara.container import Container
from clara.settings import Settings

IDLE: Final = 1_200
HALF: Final = 1_000
HALF_BYTES: Final = 170_000  # of a form that says that it has the most that is taken
HONEST: Final = 200
EVERY_SECONDS: Final = 0.05
GOAL_SECONDS: Final = 0.5
GOAL_BYTES: Final = 64 * 1024 * 1024
HEAD: Final = (
    b"POST /webhook HTTP/1.1\r\nHost: c\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 262144\r\n\r\n"
)


@dataclass(frozen=True, slots=True)
class Crowd:
    """How an attack went: what was held open, honest messages and how they were answered (seconds), memory gained (bytes)."""

    name: str
    held: int
    honest: int
    acknowledged: int
    p50: float
    p99: float
    most: float
    gained: int

    @property
    def holds(self) -> bool:
        """Whether everybody was acknowledged in time, and within the memory."""
        return self.acknowledged == self.honest and self.p99 < GOAL_SECONDS and self.gained < GOAL_BYTES


def crowds(messages: int) -> Iterator[Crowd]:
    """Attack a `clara web` in each way in turn."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    database = Database()
    with tempfile.TemporaryDirectory() as folder, ExitStack() as running:
        running.callback(database.close)
        database.start()
        services = Container(Settings(), database.url)
        services.migrate()
        services.close()
        web = start_listening(database.url, Path(folder) / "spool", CLARA_EVERYONE_PER_MINUTE="1000000")
        running.callback(web.close)
        _ask(web, "before", 20)
        yield _attacked(web, "nobody", 0, b"", messages)
        yield _attacked(web, "idle connections", IDLE, b"", messages)
        yield _attacked(web, "half forms", HALF, HEAD + b"a" * HALF_BYTES, messages)


def _attacked(web: Listening, name: str, held: int, sent: bytes, messages: int) -> Crowd:
    (served,) = children(web.process.pid)
    before, largest = resident_bytes(served), 0
    with ExitStack() as open_ones:
        for _ in range(held):
            connection = open_ones.enter_context(closing(socket.create_connection(("127.0.0.1", web.port), timeout=30)))
            connection.setblocking(False)
            try:
                connection.send(sent)
            except OSError:
                continue  # refused already, which is as good
        waits, largest = _ask(web, name, messages), resident_bytes(served)
    good = sorted(seconds for status, seconds in waits if status == 200)
    worst = sorted(seconds for _, seconds in waits)
    return Crowd(
        name, held, len(waits), len(good), worst[len(worst) // 2], worst[int(len(worst) * 0.99)], worst[-1], largest - before
    )


def _ask(web: Listening, name: str, count: int) -> list[tuple[int, float]]:
    """Post honest messages, each by a sender of its own; give statuses and seconds."""
    answers, pause = [], Event()
    for number in range(count):
        sid = f"SM{abs(hash((name, number))):032x}"
        fields = {"From": f"whatsapp:+346{number:08}", "To": "whatsapp:+15555550100", "MessageSid": sid, "Body": "NIE"}
        began = perf_counter()
        try:
            status = web.post(urlencode(fields))
        except (OSError, IndexError):
            status = 0
        answers.append((status, perf_counter() - began))
        pause.wait(EVERY_SECONDS)
    return answers


def perform_crowds(messages: int, out: Path) -> tuple[str, bool]:
    """Perform all; write the JSON, give the table and whether everything holds."""
    found = list(crowds(messages))
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps([asdict(crowd) for crowd in found], indent=2) + "\n")
    lines = [f"{'held open':<18}{'n':>6}{'answered':>12}{'p50 s':>8}{'p99 s':>8}{'most s':>8}{'MiB':>6}"]
    for one in found:
        share = f"{one.acknowledged} of {one.honest}"
        lines.append(
            f"{one.name:<18}{one.held:>6}{share:>12}{one.p50:>8.3f}{one.p99:>8.3f}{one.most:>8.3f}{one.gained / 2**20:>6.0f}"
        )
    return "\n".join(lines), all(one.holds for one in found)
