"""`clara web` as an operator runs it: it comes back when it is killed, finishes what it began, and leaves no orphan."""

import json
import os
import pickle
import resource
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from threading import Thread
from urllib.error import URLError
from urllib.request import Request, urlopen

import psycopg
import pytest
from tests.faults.processes import children
from tests.journeys.talking import until

from clara.processes.web import THREADS, WebProcess
from clara.settings import child_environment, load_settings

ENDLESS = b"POST /chat/messages HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
Start = Callable[[int], "subprocess.Popen[str]"]


@pytest.fixture
def port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def start(knowledge_url: str, tmp_path: Path) -> Iterator[Start]:
    """Start `clara web` on a port; whatever still runs at the end is killed."""
    began: list[subprocess.Popen[str]] = []

    def begin(port: int) -> "subprocess.Popen[str]":
        environment = child_environment(
            RAG_DB_URL=knowledge_url, PORT=str(port), CLARA_CHANNEL="local", CLARA_SPOOL=str(tmp_path / "spool")
        )
        began.append(
            subprocess.Popen([sys.executable, "-m", "clara", "web"], env=environment, stderr=subprocess.PIPE, text=True)
        )
        return began[-1]

    yield begin
    for process in began:
        process.kill()
        process.wait(20)
        assert process.stderr is not None
        process.stderr.close()


def lives(port: int) -> bool:
    try:
        with urlopen(f"http://127.0.0.1:{port}/health/live", timeout=5) as answer:
            return bool(answer.status == 200)
    except (URLError, OSError):
        return False


def say(port: int, statuses: list[int]) -> None:
    """Say something on the chat page, and note the answer's status."""
    body = json.dumps({"conversation": "c", "text": "¿Cuánto cuesta el NIE?"}).encode()
    asked = Request(f"http://127.0.0.1:{port}/chat/messages", body, {"Content-Type": "application/json"})
    with urlopen(asked, timeout=10) as answer:
        statuses.append(answer.status)


def test_it_comes_back_and_finishes_what_it_began(start: Start, port: int, knowledge_url: str) -> None:
    """A killed server is followed by another; a second Clara does not share the port; SIGTERM waits for a request."""
    process = start(port)
    until(lambda: lives(port))
    (first,) = children(process.pid)
    os.kill(first, signal.SIGKILL)
    until(lambda: children(process.pid) not in ([], [first]) and lives(port))

    second = start(port)
    assert second.wait(200) == 2
    assert second.stderr is not None
    assert f"PORT={port + 1}" in second.stderr.read()

    statuses: list[int] = []
    asking = Thread(target=say, args=(port, statuses))
    with psycopg.connect(knowledge_url) as connection:
        connection.execute("lock table inbox in access exclusive mode")
        asking.start()
        until(lambda: waits(knowledge_url))
        process.send_signal(signal.SIGTERM)
        asking.join(20)
    assert statuses == [202]  # kept in the spool: the table was locked for longer than a person is made to wait
    assert process.wait(20) == 0
    assert not lives(port)


def waits(url: str) -> bool:
    """Whether somebody waits for the lock."""
    with psycopg.connect(url) as connection:
        row = connection.execute("select count(*) from pg_locks where not granted").fetchone()
        return row is not None and row[0] > 0


def test_forms_that_never_end_hold_up_nobody(start: Start, port: int) -> None:
    """Eight of them held every thread, for as long as they stayed."""
    start(port)
    until(lambda: lives(port))
    with ExitStack() as held:
        for _ in range(3 * THREADS):
            connection = held.enter_context(socket.create_connection(("127.0.0.1", port)))
            connection.sendall(ENDLESS)
        statuses: list[int] = []
        say(port, statuses)
        assert statuses == [202]
        assert lives(port)


def test_idle_connections_keep_nobody_out(start: Start, port: int) -> None:
    """More than granian lets in by itself, without a word: who comes behind them is answered before they are closed."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    start(port)
    until(lambda: lives(port))
    with ExitStack() as held:
        for _ in range(1_100):
            held.enter_context(socket.create_connection(("127.0.0.1", port)))
        statuses: list[int] = []
        say(port, statuses)
        assert statuses == [202]


def test_a_killed_parent_leaves_no_orphan(start: Start, port: int) -> None:
    """An orphan would hold the port and be seen by nobody."""
    process = start(port)
    until(lambda: lives(port))
    (served,) = children(process.pid)
    process.kill()
    process.wait(20)
    until(lambda: not Path(f"/proc/{served}").exists() or "Z" in Path(f"/proc/{served}/stat").read_text().rsplit(")", 1)[1])
    assert not lives(port)


def test_what_dies_again_at_once_ends_the_command(start: Start, port: int) -> None:
    """Whoever started it starts it again, or sees that it cannot live."""
    process = start(port)
    until(lambda: lives(port))
    killed: list[int] = []
    while process.poll() is None and len(killed) < 9:
        until(lambda: process.poll() is not None or children(process.pid) not in ([], killed[-1:]))
        for child in children(process.pid):
            killed.append(child)
            os.kill(child, signal.SIGKILL)
    assert process.wait(20) == 1
    assert len(killed) <= 3
    assert not lives(port)


def test_what_serves_can_be_handed_to_a_fresh_process() -> None:
    """Where processes are not forked, what builds the application is pickled."""
    made = WebProcess(load_settings(), "postgresql://nowhere/x", 1)
    assert pickle.loads(pickle.dumps(made)) == made  # noqa: S301  our own bytes
