"""What a run asks: the embedder, and where a run has them the enricher, the reranker, the writer and the judge."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from clara.adapters.models.endpoint_reranker import Endpoint, EndpointReranker
from clara.adapters.models.gemini import PUBLIC_URL, GeminiTransport
from clara.adapters.models.gemini_embedder import GeminiEmbedder
from clara.adapters.models.guards import PatientGuard
from clara.container.corpora import Corpora
from clara.retrieval.options.rerankers import TextScorer
from clara.retrieval.ports import Embedder
from clara_lab.bench.judge import AnswerJudge
from clara_lab.bench.plan import GEMINI, LOCAL, RunPlan
from clara_lab.bench.prompts import ChatModel, context_characters
from clara_lab.bench.record import EventLog
from clara_lab.bench.writers import ANSWER_TOKENS, AnswerWriter, ModelWriter, SpanWriter, by_extract, by_model, remembered
from clara_lab.models.clients import EmbeddingManner, GeminiChat, ServedChat, ServedEmbedder
from clara_lab.models.transport import RequestEvent, RequestLimits, ServedEndpoint, ServedTransport
from clara_lab.runner.corpora import Situating


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of a run. `characters` is how much of the documents the writer reads, None all; `usage` what was asked."""

    embedder: Embedder
    situating: Situating | None
    reranker: TextScorer | None
    writer: AnswerWriter | None
    judge: AnswerJudge | None
    characters: int | None
    usage: Callable[[], Mapping[str, Any]] = field(default=dict)


@contextmanager
def parts_of(corpora: Corpora, plan: RunPlan, log: EventLog, folder: Path) -> Iterator[Parts]:
    """Build what a plan names, and close it at the end; every request becomes an event of the log.

    `folder` keeps the sentences that a model wrote. Raises EmbedderUnavailableError and ChatUnavailableError when a served
    model cannot be asked at all: better now than after hours.
    """
    with ExitStack() as closing:
        builder = _Builder(corpora, plan, log, closing)
        chat = builder.chat() if plan.served_llm else None
        writer: AnswerWriter | None = None
        if plan.generation_enabled:
            writer = ModelWriter(chat) if chat else SpanWriter()
        yield Parts(
            builder.embedder(),
            _situating(corpora, plan, chat, folder, closing) if plan.enriches else None,
            builder.reranker() if plan.reranker_enabled else None,
            writer,
            AnswerJudge(chat) if chat and plan.judge_enabled and plan.generation_enabled else None,
            _characters(plan, chat) if plan.generation_enabled else None,
            lambda: {kind: asdict(usage) for kind, usage in builder.transport.usage().items()},
        )


class _Builder:
    def __init__(self, corpora: Corpora, plan: RunPlan, log: EventLog, closing: ExitStack) -> None:
        self._corpora, self._plan, self._closing = corpora, plan, closing
        self._key = plan.nim_api_key.get_secret_value()
        limits = RequestLimits(plan.nim_request_timeout, plan.nim_max_concurrent_requests, plan.nim_max_retries)

        def noted(event: RequestEvent) -> None:
            log.write("embedding_batch" if event.kind == "embedding" else "llm_request", **asdict(event))

        self.transport = ServedTransport(limits, noted)
        closing.callback(self.transport.close)

    def embedder(self) -> Embedder:
        plan, name = self._plan, self._plan.embedding_model_name
        if name == LOCAL:
            return self._corpora.embedder
        if name.startswith(GEMINI):
            return GeminiEmbedder(self._gemini(), name)
        manner = EmbeddingManner(plan.embedding_model_type == "asymmetric", plan.embedding_batch_size)
        endpoint = ServedEndpoint(plan.embedding_base_url, name, self._key, "EMBEDDING")
        return ServedEmbedder(self.transport, endpoint, manner)

    def chat(self) -> ChatModel:
        name = self._plan.llm_model_name
        if name.startswith(GEMINI):
            return GeminiChat(self._gemini(), name)
        return ServedChat(self.transport, ServedEndpoint(self._plan.llm_base_url, name, self._key))

    def reranker(self) -> TextScorer:
        plan = self._plan
        endpoint = Endpoint(plan.reranker_base_url, plan.reranker_model_name, plan.nim_request_timeout, self._key)
        reranker = EndpointReranker(endpoint)
        self._closing.callback(reranker.close)
        return reranker

    def _gemini(self) -> GeminiTransport:
        plan = self._plan
        transport = GeminiTransport(
            plan.gemini_api_key.get_secret_value(),
            deadline_seconds=plan.nim_request_timeout,
            base_url=plan.gemini_base_url or PUBLIC_URL,
            guard=PatientGuard(tries=plan.nim_max_retries + 1),
        )
        self._closing.callback(transport.close)
        return transport


def _situating(corpora: Corpora, plan: RunPlan, chat: ChatModel | None, folder: Path, closing: ExitStack) -> Situating:
    tokens = plan.retrieval_context_max_tokens
    if chat is None:
        return Situating(f"extractive-{tokens}", by_extract(corpora.token_counter, tokens), 1)
    name = f"{chat.name}-{tokens}"
    file = folder / f"sentences-{''.join(letter if letter.isalnum() else '-' for letter in name)}.jsonl"
    log = EventLog(file)
    closing.callback(log.close)
    return Situating(name, remembered(by_model(chat, tokens), file, log), plan.retrieval_context_batch_size)


def _characters(plan: RunPlan, chat: ChatModel | None) -> int | None:
    """Give the bound of the context: the plan's, or what the model says that it reads; the extractive writer reads all."""
    if plan.generation_max_context_chars:
        return plan.generation_max_context_chars
    if chat is None:
        return None
    return context_characters(chat.context_length() if isinstance(chat, ServedChat) else None, ANSWER_TOKENS)
