"""Clara as a person starts her: real processes, real signals, nothing left behind."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import psycopg
import pytest
from tests.journeys.talking import signature, until

from clara.settings import DEMO_TOKEN, child_environment


@dataclass
class Running:
    """A `clara up` and what it printed."""

    process: subprocess.Popen[str]
    port: int
    lines: list[str] = field(default_factory=list)
    follower: Thread | None = None

    def printed(self, what: str) -> bool:
        return any(what in line for line in list(self.lines))

    def children(self) -> dict[str, int]:
        """Process ids of the parts, by name."""
        found = {}
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                parent = int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1])
                command = (folder / "cmdline").read_text().split("\0")
            except (OSError, IndexError):
                continue
            if parent == self.process.pid and "clara" in command:
                found[command[command.index("clara") + 1]] = int(folder.name)
        return found

    def ask(self, body: str, sid: str) -> int:
        """Post a signed question."""
        form = urlencode({"From": "whatsapp:+34600000001", "To": "whatsapp:+15555550100", "MessageSid": sid, "Body": body})
        address = f"http://127.0.0.1:{self.port}/webhook"
        request = Request(address, form.encode(), {"X-Twilio-Signature": signature(address, form, DEMO_TOKEN)})
        try:
            with urlopen(request, timeout=10) as answer:
                return int(answer.status)
        except HTTPError as error:
            with error:
                return error.code


def alive(pid: int) -> bool:
    try:
        return "Z" not in (Path("/proc") / str(pid) / "stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False


def start(url: str, *command: str, **environment: str) -> Running:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-m", *(command or ("clara", "up"))],
        env=child_environment(RAG_DB_URL=url, PORT=str(port), **environment),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    running = Running(process, port)

    def follow() -> None:
        assert process.stderr is not None
        for line in process.stderr:
            running.lines.append(line)

    running.follower = Thread(target=follow, daemon=True)
    running.follower.start()
    try:
        until(lambda: running.printed("Ctrl-C stops everything"))
    except AssertionError:
        stop(running, signal.SIGKILL)  # its parts end with it
        raise
    return running


def stop(running: Running, how: signal.Signals) -> None:
    """End a `clara up` that still runs, and close what it wrote to."""
    if running.process.poll() is None:
        running.process.send_signal(how)
        running.process.wait(20)
    assert running.follower is not None
    running.follower.join(20)  # ends when the last part has let go of the pipe
    assert running.process.stderr is not None
    running.process.stderr.close()


@pytest.fixture
def demo(knowledge_url: str, tmp_path: Path) -> Iterator[Running]:
    running = start(knowledge_url, "clara_lab", "demo", CLARA_SPOOL=str(tmp_path / "spool"))
    yield running
    stop(running, signal.SIGINT)


def test_a_killed_worker_loses_nothing_and_ctrl_c_leaves_nothing(demo: Running, knowledge_url: str) -> None:
    """A question asked while the worker is dead is answered once; Ctrl-C ends every process and frees the port."""
    until(lambda: {"web", "worker"} <= demo.children().keys())
    assert demo.ask("¿Cuánto cuesta el NIE?", "SM1") == 200
    until(lambda: demo.printed("9,84 €"))
    os.kill(demo.children()["worker"], signal.SIGKILL)
    assert demo.ask("¿Quién expide la TIE?", "SM2") == 200
    until(lambda: demo.printed("Dirección General de la Policía"))
    with psycopg.connect(knowledge_url) as connection:
        assert connection.execute("select count(*), count(distinct inbox_id) from outbox").fetchone() == (2, 2)
    parts = demo.children().values()
    demo.process.send_signal(signal.SIGINT)
    assert demo.process.wait(20) == 0
    assert not [pid for pid in parts if alive(pid)]
    assert not demo.printed("Fatal Python error")
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(("127.0.0.1", demo.port))


def test_the_parts_end_with_their_parent(demo: Running) -> None:
    """Even kill -9 of the parent leaves no web server and no worker behind."""
    until(lambda: {"web", "worker"} <= demo.children().keys())
    parts = list(demo.children().values())
    demo.process.kill()
    demo.process.wait()
    until(lambda: not [pid for pid in parts if alive(pid)])


def test_one_process_can_do_both(knowledge_url: str, tmp_path: Path) -> None:
    """CLARA_WORKER=inline answers inside the web process; SIGTERM ends it within ten seconds."""
    running = start(knowledge_url, CLARA_CHANNEL="local", CLARA_WORKER="inline", CLARA_SPOOL=str(tmp_path / "spool"))
    assert set(running.children()) == {"web"}
    base = f"http://127.0.0.1:{running.port}/chat/messages"
    question = json.dumps({"conversation": "c", "text": "¿Cuánto cuesta el NIE?"}).encode()
    with urlopen(Request(base, question, {"Content-Type": "application/json"}), timeout=10) as answer:
        sid = json.load(answer)["message"]
    replies: list[str] = []

    def replied() -> bool:
        with urlopen(f"{base}/{sid}/reply", timeout=10) as reply:
            if reply.status == 200:
                replies.append(json.load(reply)["text"])
        return bool(replies)

    until(replied)
    assert "9,84 €" in replies[0]
    started = time.monotonic()
    running.process.send_signal(signal.SIGTERM)
    assert running.process.wait(20) == 0
    assert time.monotonic() - started < 12
    assert running.process.stderr is not None
    running.process.stderr.close()


def test_a_taken_port_is_named_with_the_remedy(knowledge_url: str) -> None:
    """Exit code 2, and another port is proposed."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = subprocess.run(
            [sys.executable, "-m", "clara", "up"],
            env=child_environment(RAG_DB_URL=knowledge_url, PORT=str(port), CLARA_CHANNEL="local"),
            capture_output=True,
            text=True,
            timeout=200,
            check=False,
        )
    assert done.returncode == 2
    assert f"PORT={port + 1}" in done.stderr
