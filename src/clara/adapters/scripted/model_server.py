"""A stand-in for served models: it speaks the wire formats of Gemini and of reranking endpoints, and fails as it is told.

It scores a text by the share of the question's words that the text has: poor, but the same every time.
"""

import json
import re
import socket
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Lock, Thread
from typing import Any, Self
from urllib.parse import urlsplit

# Between two bytes of a drip: well below every sensible timeout, so that only a total deadline ends it.
DRIP_SECONDS = 0.02
LONGEST_HANG_SECONDS = 60.0

Document = Mapping[str, Any]


class Manner(StrEnum):
    """How a fault is delivered."""

    ANSWER = "answer"
    HANG = "hang"
    DRIP_HEADERS = "drip headers"
    DRIP_BODY = "drip body"
    RESET = "reset"
    TRUNCATED = "truncated"


@dataclass(frozen=True, slots=True)
class ModelFault:
    """What one request gets instead of its answer; status, body and headers count only where the manner sends them."""

    manner: Manner = Manner.ANSWER
    status: int = 200
    body: bytes = b"{}"
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """A request that the stand-in saw. Names of headers are in lower case."""

    path: str
    headers: Mapping[str, str]
    document: Document


@dataclass(slots=True)
class ModelStandIn:
    """The state of the stand-in. `url` is its address once it serves; `faults` are given first, one a request.

    With an `api_key`, a request must carry it, as a bearer token or in Gemini's header.
    """

    api_key: str = ""
    url: str = ""
    requests: list[ModelRequest] = field(default_factory=list)
    faults: list[ModelFault] = field(default_factory=list)
    lock: Lock = field(default_factory=Lock)
    closing: Event = field(default_factory=Event)
    server: ThreadingHTTPServer | None = None

    def serve(self, port: int = 0) -> Self:
        """Start serving on loopback in a thread; `close` ends it."""
        stand_in: ModelStandIn = self

        class Handler(_Handler):
            state = stand_in

        self.server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        # Closing waits for the next poll.
        Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def close(self) -> None:
        """Let every hanging request go and stop serving."""
        self.closing.set()
        if self.server:
            self.server.shutdown()
            self.server.server_close()

    def take(self, request: ModelRequest) -> ModelFault | None:
        """Remember a request; give the fault that it shall get."""
        with self.lock:
            self.requests.append(request)
            return self.faults.pop(0) if self.faults else None

    def answer(self, request: ModelRequest) -> tuple[int, Document]:
        """Give status and JSON for a request."""
        key = request.headers.get("x-goog-api-key") or request.headers.get("authorization", "").removeprefix("Bearer ")
        if self.api_key and key != self.api_key:
            return 401, _error(401, "UNAUTHENTICATED", "The key is not valid.")
        for pattern, speak in ROUTES.items():
            if re.search(pattern, request.path):
                return 200, speak(request.document)
        return 404, _error(404, "NOT_FOUND", "There is nothing at this address.")


def overlap(question: str, text: str) -> float:
    """Give the share (0..1) of the question's words that the text has; 0 for a question without words."""
    asked, held = (set(re.findall(r"\w+", words.casefold())) for words in (question, text))
    return len(asked & held) / len(asked) if asked else 0.0


def _generate(document: Document) -> Document:
    """Rate the passages of a prompt that is one JSON object with a question and passages."""
    prompt = json.loads(document["contents"][0]["parts"][0]["text"])
    passages: Sequence[Document] = prompt["passages"]
    ratings = [{"index": held["index"], "score": 10 * overlap(prompt["question"], held["text"])} for held in passages]
    return generation(json.dumps(ratings))


def generation(text: str, finish_reason: str = "STOP") -> Document:
    """Wrap a text as Gemini's answer to generateContent."""
    return {
        "candidates": [
            {"content": {"parts": [{"text": text}], "role": "model"}, "finishReason": finish_reason, "index": 0},
        ],
        "modelVersion": "stand-in",
    }


def _rank(document: Document) -> Document:
    scores = [overlap(document["query"]["text"], passage["text"]) for passage in document["passages"]]
    return {"rankings": [{"index": index, "logit": scores[index]} for index in _best_first(scores)]}


def _rerank(document: Document) -> Document:
    scores = [overlap(document["query"], text) for text in document["documents"]]
    return {"results": [{"index": index, "relevance_score": scores[index]} for index in _best_first(scores)]}


def _best_first(scores: Sequence[float]) -> list[int]:
    return sorted(range(len(scores)), key=lambda index: -scores[index])


ROUTES: Mapping[str, Callable[[Document], Document]] = {
    r"^/v1beta/models/[^/:]+:generateContent$": _generate,
    r"/ranking$": _rank,
    r"/rerank$": _rerank,
}


class _Handler(BaseHTTPRequestHandler):
    state: ModelStandIn
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        document = json.loads(self.rfile.read(int(self.headers.get("Content-Length", "0"))))
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = ModelRequest(urlsplit(self.path).path, headers, document)
        fault = self.state.take(request)
        if fault is None:
            status, answer = self.state.answer(request)
            fault = ModelFault(status=status, body=json.dumps(answer).encode(), headers={"Content-Type": "application/json"})
        try:
            self._deliver(fault)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True  # the client had enough, as a fault is meant to make it

    def log_message(self, *_: object) -> None:
        """Stay quiet: prompts hold personal text."""

    def _deliver(self, fault: ModelFault) -> None:
        head = self._head(fault)
        self.close_connection = fault.manner is not Manner.ANSWER
        match fault.manner:
            case Manner.ANSWER:
                self.wfile.write(head + fault.body)
            case Manner.HANG:
                self.state.closing.wait(LONGEST_HANG_SECONDS)
            case Manner.DRIP_HEADERS:
                self._drip(head + fault.body)
            case Manner.DRIP_BODY:
                self.wfile.write(head)
                self._drip(fault.body)
            case Manner.RESET:
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.rfile.close()  # as long as it is open, so is the connection
                self.connection.close()
            case Manner.TRUNCATED:
                self.wfile.write(head + fault.body[: len(fault.body) // 2])

    def _head(self, fault: ModelFault) -> bytes:
        headers = {"Content-Length": str(len(fault.body)), **fault.headers}
        lines = [f"HTTP/1.1 {fault.status} {self.responses.get(fault.status, ('Other',))[0]}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")

    def _drip(self, content: bytes) -> None:
        for place in range(len(content)):
            self.wfile.write(content[place : place + 1])
            if self.state.closing.wait(DRIP_SECONDS):
                return


def _error(status: int, name: str, message: str) -> Document:
    return {"error": {"code": status, "message": message, "status": name}}
