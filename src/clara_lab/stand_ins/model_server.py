"""A stand-in for served models: it speaks the wire formats of Gemini, OpenAI and reranking endpoints, and fails as it is told.

It scores a text by the share of the question's words that the text has: poor, but the same every time. What it says is in
`speech`, how it fails in `openai_faults` and `gemini_faults`. As a command, with the models `embedder`, `chat` and `ranker`:

    python -m clara_lab.stand_ins.model_server --port 8791 --asymmetric --fault rate --fault reset

Then point EMBEDDING_BASE_URL, LLM_BASE_URL and RERANKER_BASE_URL at http://127.0.0.1:8791/v1.
"""

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import click

from clara_lab.stand_ins import speech
from clara_lab.stand_ins.server import LoopbackStandIn, ScriptedReply, StandInRequest, json_reply
from clara_lab.stand_ins.speech import Document, Write, faults_of, overlap, quote


@dataclass
class ModelStandIn(LoopbackStandIn):
    """The state of the stand-in. `url` is its address once it serves; `faults` are given first, one a request.

    When they are used up, every request gets the `standing` fault, if there is one. `write` gives the text for an instruction
    and a page. With an `api_key`, a request must carry it, as a bearer token or in Gemini's header. An `asymmetric` one
    refuses texts to embed that come without an `input_type`, as NVIDIA's does.
    """

    api_key: str = ""
    write: Write = quote
    standing: ScriptedReply | None = None
    asymmetric: bool = False
    requests: list[StandInRequest] = field(default_factory=list)
    faults: list[ScriptedReply] = field(default_factory=list)

    async def answer(self, request: StandInRequest) -> ScriptedReply:
        """Give the reply in a thread: a writer may take its time."""
        return await asyncio.to_thread(lambda: self.take(request) or self.said(request))

    def take(self, request: StandInRequest) -> ScriptedReply | None:
        """Remember a request; give the fault that it shall get."""
        with self.lock:
            self.requests.append(request)
            return self.faults.pop(0) if self.faults else self.standing

    def said(self, request: StandInRequest) -> ScriptedReply:
        """Answer a request as the models do."""
        key = request.headers.get("x-goog-api-key") or request.headers.get("authorization", "").removeprefix("Bearer ")
        if self.api_key and key != self.api_key:
            return _error(401, "UNAUTHENTICATED", "The key is not valid.")
        if self.asymmetric and request.path.endswith("/embeddings") and "input_type" not in request.document:
            return _error(400, "BadRequestError", "'input_type' parameter is required for asymmetric models")
        for pattern, speak in ROUTES.items():
            if re.search(pattern, request.path):
                return json_reply(speak(request.document, self.write))
        return _error(404, "NOT_FOUND", "There is nothing at this address.")


def _rank(document: Document, _write: Write) -> Document:
    scores = [overlap(document["query"]["text"], passage["text"]) for passage in document["passages"]]
    return {"rankings": [{"index": index, "logit": scores[index]} for index in _best_first(scores)]}


def _rerank(document: Document, _write: Write) -> Document:
    scores = [overlap(document["query"], text) for text in document["documents"]]
    return {"results": [{"index": index, "relevance_score": scores[index]} for index in _best_first(scores)]}


def _best_first(scores: Sequence[float]) -> list[int]:
    return sorted(range(len(scores)), key=lambda index: -scores[index])


ROUTES: Mapping[str, Callable[[Document, Write], Document]] = {
    r"^/v1beta/models/[^/:]+:generateContent$": speech.generate,
    r"^/v1beta/models/[^/:]+:batchEmbedContents$": speech.embed,
    r"^/v1beta/models/[^/:]+:embedContent$": speech.embed_one,
    r"^/v1beta/models/[^/:]+:countTokens$": speech.count_tokens,
    r"/ranking$": _rank,
    r"/rerank$": _rerank,
    r"/v1/embeddings$": speech.embeddings,
    r"/v1/chat/completions$": speech.complete,
    r"/v1/models$": speech.models,
}


def _error(status: int, name: str, message: str) -> ScriptedReply:
    return json_reply({"error": {"code": status, "message": message, "status": name}}, status)


def command(known: Mapping[str, ScriptedReply], port: int, said: str, write: Write = quote) -> click.Command:
    """Make the command that serves models with these faults to choose from; `said` is printed with the address."""
    names = click.Choice(sorted(known))

    @click.command()
    @click.option("--port", default=port, show_default=True, help="The port on this machine; 0: any free one.")
    @click.option("--key", default="", help="The API key that requests must carry; none: any.")
    @click.option("--asymmetric", is_flag=True, help="Refuse texts to embed that come without an input_type.")
    @click.option("--fault", "faults", multiple=True, type=names, help="Given once, before any answer; may be repeated.")
    @click.option("--standing", type=names, help="Given to every request, after the faults.")
    def main(port: int, key: str, *, asymmetric: bool, faults: tuple[str, ...], standing: str | None) -> None:
        """Serve models on this machine, until it is stopped."""
        stand_in = ModelStandIn(key, write, known[standing] if standing else None, asymmetric)
        stand_in.faults.extend(known[name] for name in faults)
        stand_in.serve_until_interrupted(port, said)

    return main


if __name__ == "__main__":
    command(faults_of("openai"), 8791, "Models are served at {url}/v1")()
