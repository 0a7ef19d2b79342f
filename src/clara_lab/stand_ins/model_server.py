"""A stand-in for served models: it speaks the wire formats of Gemini, OpenAI and reranking endpoints, and fails as it is told.

It scores a text by the share of the question's words that the text has: poor, but the same every time. What it says is in
`gemini_speech` and `openai_speech`, how it fails in `gemini_faults` and `openai_faults`. As a command:

    python -m clara_lab.stand_ins.model_server --port 8791
"""

import json
import re
import socket
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from http.server import BaseHTTPRequestHandler
from urllib.parse import urlsplit

from clara_lab.stand_ins.server import LoopbackStandIn
from clara_lab.stand_ins.speech import (
    Document,
    Write,
    complete,
    count_tokens,
    embed,
    embed_one,
    embeddings,
    generate,
    models,
    overlap,
    quote,
)

# Between two bytes of a drip: well below every sensible timeout, so that only a total deadline ends it.
DRIP_SECONDS = 0.02
LONGEST_HANG_SECONDS = 60.0


class Delivery(StrEnum):
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

    manner: Delivery = Delivery.ANSWER
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
class ModelStandIn(LoopbackStandIn):
    """The state of the stand-in. `url` is its address once it serves; `faults` are given first, one a request.

    When they are used up, every request gets the `standing` fault, if there is one. `write` gives the text for an instruction
    and a page. With an `api_key`, a request must carry it, as a bearer token or in Gemini's header. An `asymmetric` one
    refuses texts to embed that come without an `input_type`, as NVIDIA's does.
    """

    api_key: str = ""
    write: Write = quote
    standing: ModelFault | None = None
    asymmetric: bool = False
    requests: list[ModelRequest] = field(default_factory=list)
    faults: list[ModelFault] = field(default_factory=list)

    def take(self, request: ModelRequest) -> ModelFault | None:
        """Remember a request; give the fault that it shall get."""
        with self.lock:
            self.requests.append(request)
            return self.faults.pop(0) if self.faults else self.standing

    def answer(self, request: ModelRequest) -> tuple[int, Document]:
        """Give status and JSON for a request."""
        key = request.headers.get("x-goog-api-key") or request.headers.get("authorization", "").removeprefix("Bearer ")
        if self.api_key and key != self.api_key:
            return 401, _error(401, "UNAUTHENTICATED", "The key is not valid.")
        if self.asymmetric and request.path.endswith("/embeddings") and "input_type" not in request.document:
            return 400, _error(400, "BadRequestError", "'input_type' parameter is required for asymmetric models")
        for pattern, speak in ROUTES.items():
            if re.search(pattern, request.path):
                return 200, speak(request.document, self.write)
        return 404, _error(404, "NOT_FOUND", "There is nothing at this address.")


def _rank(document: Document, _write: Write) -> Document:
    scores = [overlap(document["query"]["text"], passage["text"]) for passage in document["passages"]]
    return {"rankings": [{"index": index, "logit": scores[index]} for index in _best_first(scores)]}


def _rerank(document: Document, _write: Write) -> Document:
    scores = [overlap(document["query"], text) for text in document["documents"]]
    return {"results": [{"index": index, "relevance_score": scores[index]} for index in _best_first(scores)]}


def _best_first(scores: Sequence[float]) -> list[int]:
    return sorted(range(len(scores)), key=lambda index: -scores[index])


ROUTES: Mapping[str, Callable[[Document, Write], Document]] = {
    r"^/v1beta/models/[^/:]+:generateContent$": generate,
    r"^/v1beta/models/[^/:]+:batchEmbedContents$": embed,
    r"^/v1beta/models/[^/:]+:embedContent$": embed_one,
    r"^/v1beta/models/[^/:]+:countTokens$": count_tokens,
    r"/ranking$": _rank,
    r"/rerank$": _rerank,
    r"/v1/embeddings$": embeddings,
    r"/v1/chat/completions$": complete,
    r"/v1/models$": models,
}


class _ModelHandler(BaseHTTPRequestHandler):
    state: ModelStandIn
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._serve({})

    def do_POST(self) -> None:
        self._serve(json.loads(self.rfile.read(int(self.headers.get("Content-Length", "0")))))

    def _serve(self, document: Document) -> None:
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
        self.close_connection = fault.manner is not Delivery.ANSWER
        match fault.manner:
            case Delivery.ANSWER:
                self.wfile.write(head + fault.body)
            case Delivery.HANG:
                self.state.closing.wait(LONGEST_HANG_SECONDS)
            case Delivery.DRIP_HEADERS:
                self._drip(head + fault.body)
            case Delivery.DRIP_BODY:
                self.wfile.write(head)
                self._drip(fault.body)
            case Delivery.RESET:
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.rfile.close()  # as long as it is open, so is the connection
                self.connection.close()
            case Delivery.TRUNCATED:
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


ModelStandIn.handler = _ModelHandler


if __name__ == "__main__":
    from clara_lab.stand_ins.openai_server import main

    main()
