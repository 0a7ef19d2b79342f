"""The real `clara web` on Twilio's channel, and the bytes that are written to it."""

import socket
import subprocess
import sys
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from urllib.error import URLError
from urllib.request import urlopen

from tests.journeys.talking import ACCOUNT, ADDRESS_KEY, PSEUDONYM_KEY, TOKEN, signature, until

from clara.settings import child_environment

CHUNK_BYTES = 7
ANSWER_SECONDS = 60


@dataclass
class Listening:
    """A `clara web`, its port, and what it wrote to its log."""

    process: "subprocess.Popen[str]"
    port: int
    lines: list[str] = field(default_factory=list)
    follower: Thread | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def head(self, form: str, path: str, *lines: str) -> bytes:
        """Write the head of a signed form."""
        told = (
            f"POST {path} HTTP/1.1",
            "Host: clara",
            "Content-Type: application/x-www-form-urlencoded",
            f"X-Twilio-Signature: {signature(self.url + path, form)}",
            *lines,
        )
        return ("\r\n".join(told) + "\r\n\r\n").encode()

    def post(self, form: str, path: str = "/webhook") -> int:
        """Post a signed form with its length; give the answer's status."""
        return self.send(self.head(form, path, f"Content-Length: {len(form)}") + form.encode())

    def post_in_chunks(self, form: str, path: str = "/webhook", *lines: str, size: int = CHUNK_BYTES) -> int:
        """Post a signed form as HTTP's chunks of `size` bytes; give the answer's status."""
        parts = [form[start : start + size].encode() for start in range(0, len(form), size)]
        body = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts)
        return self.send(self.head(form, path, "Transfer-Encoding: chunked", *lines) + body + b"0\r\n\r\n")

    def send(self, sent: bytes) -> int:
        """Write bytes to a connection of its own; give the answer's status."""
        with closing(self.connect(sent)) as connection, connection.makefile("rb") as stream:
            return int(stream.readline().split()[1])

    def connect(self, sent: bytes) -> socket.socket:
        """Write bytes to a connection of its own and keep it open."""
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=ANSWER_SECONDS)
        connection.sendall(sent)
        return connection

    def lives(self) -> bool:
        try:
            with urlopen(f"{self.url}/health/live", timeout=5) as answer:
                return bool(answer.status == 200)
        except (URLError, OSError):
            return False

    def close(self) -> None:
        """End it."""
        self.process.kill()
        self.process.wait(20)
        assert self.follower is not None
        self.follower.join(20)
        assert self.process.stderr is not None
        self.process.stderr.close()


def start_listening(database_url: str, spool: Path, **environment: str) -> Listening:
    """Start `clara web` on a free port, and wait until it answers."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    settings = {
        "RAG_DB_URL": database_url,
        "PORT": str(port),
        "CLARA_CHANNEL": "twilio",
        "CLARA_PUBLIC_URL": f"http://127.0.0.1:{port}",
        "CLARA_SPOOL": str(spool),
        "CLARA_PSEUDONYM_KEY": PSEUDONYM_KEY,
        "CLARA_ADDRESS_KEY": ADDRESS_KEY,
        "TWILIO_ACCOUNT_SID": ACCOUNT,
        "TWILIO_AUTH_TOKEN": TOKEN,
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "clara", "web"],
        env=child_environment(**settings | environment),
        stderr=subprocess.PIPE,
        text=True,
    )
    listening = Listening(process, port)

    def follow() -> None:
        assert process.stderr is not None
        listening.lines.extend(process.stderr)

    listening.follower = Thread(target=follow, daemon=True)
    listening.follower.start()
    try:
        until(listening.lives)
    except AssertionError:
        listening.close()
        raise
    return listening
