"""The served models of a process: each part behind its own guards, all of one provider behind one day's allowance."""

from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING

import structlog

from clara.answering.ports import TextModel, Transcriber
from clara.once import Once
from clara.retrieval.metrics import RetrievalMetrics
from clara.settings import Settings

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from clara.adapters.models.gemini.transport import GeminiTransport
    from clara.adapters.models.guards import Guard, Outcome, Retries
    from clara.retrieval.options.query_rewriting import QueryWriter
    from clara.retrieval.options.rerankers import Reranker

log = structlog.get_logger()
# A person gets the answer within twelve seconds, whatever Gemini does: two are for everything else. Whoever asks gives less.
LONGEST_SECONDS = 10.0
# A translation of one question takes a second; a search that found nothing is not worth a longer wait.
TRANSLATION_SECONDS = 3.0


class ServedModels:
    """Builds what asks a served model; what is switched off is None.

    Calls that cost money must be counted, so where nothing is `counted`, without a database, there is no model. A part whose
    provider fails is kept away from alone: quotas and outages are a model's. Connections are given back by `closing`.
    """

    def __init__(
        self,
        settings: Settings,
        engine: "Callable[[], Engine]",
        metrics: RetrievalMetrics,
        closing: ExitStack,
        *,
        counted: bool,
    ) -> None:
        self._settings = settings
        self._counted = counted
        self._engine = engine
        self._metrics = metrics
        self._closing = closing

    @Once
    def _retries(self) -> "Retries":
        from clara.adapters.models.guards import Retries

        return Retries()

    @Once
    def text_model(self) -> TextModel | None:
        """What writes answers. The scripted writer costs nothing and says nothing but the facts it is shown."""
        settings = self._settings
        if settings.rag_writer == "scripted":
            from clara.adapters.models.scripted import ScriptedWriter

            return ScriptedWriter()
        if settings.rag_writer == "none" or not self._counted:
            return None
        from clara.adapters.models.gemini.text_model import GeminiTextModel

        return GeminiTextModel(self.transport("writer"), settings.gemini_writer_model)

    @Once
    def transcriber(self) -> Transcriber | None:
        """What writes down voice notes."""
        settings = self._settings
        if settings.rag_transcriber == "whisper" and settings.clara_whisper_model is not None:
            from clara.adapters.models.whisper import WhisperTranscriber

            return WhisperTranscriber(settings.clara_whisper_model)
        if settings.rag_transcriber == "none" or not self._counted:
            return None
        from clara.adapters.models.gemini.transcriber import GeminiTranscriber

        return GeminiTranscriber(self.transport("transcriber"), settings.gemini_transcriber_model)

    @Once
    def translator(self) -> "QueryWriter | None":
        """What puts questions into Spanish and English."""
        settings = self._settings
        if settings.rag_translator == "none" or not self._counted:
            return None
        from clara.adapters.models.gemini.translator import GeminiTranslator

        return GeminiTranslator(self.transport("translator", TRANSLATION_SECONDS), settings.gemini_model)

    @Once
    def reranker(self) -> "Reranker | None":
        """What orders what was found."""
        settings = self._settings
        if settings.rag_reranker == "none":
            return None
        from clara.retrieval.options.rerankers import HeuristicReranker, HeuristicWeights, TextReranker

        match settings.rag_reranker:
            case "heuristic":
                return HeuristicReranker(HeuristicWeights(curated=frozenset({"curado", "curated"})))
            case "gemini":
                from clara.adapters.models.gemini.reranker import GeminiReranker

                return TextReranker(
                    GeminiReranker(self.transport("reranker", settings.rag_reranker_seconds), settings.gemini_model)
                )
            case "endpoint":
                from clara.adapters.models.endpoint_reranker import Endpoint, EndpointReranker

                url, key = str(settings.reranker_base_url), settings.secret("reranker_api_key")
                endpoint = EndpointReranker(Endpoint(url, settings.reranker_model_name, settings.rag_reranker_seconds, key))
                self._closing.callback(endpoint.close)
                return TextReranker(endpoint)

    def transport(self, part: str, seconds: float = LONGEST_SECONDS) -> "GeminiTransport":
        """Open a connection to Gemini for one part, with so many seconds at most for each thing asked."""
        from clara.adapters.models.gemini.transport import PUBLIC_URL, GeminiTransport

        settings = self._settings
        transport = GeminiTransport(
            settings.secret("gemini_api_key"),
            deadline_seconds=seconds,
            base_url=settings.gemini_base_url or PUBLIC_URL,
            guard=self.guard(part, seconds),
        )
        self._closing.callback(transport.close)
        return transport

    def guard(self, part: str, seconds: float = LONGEST_SECONDS) -> "Guard":
        """Build what stands between one part and Gemini: a day's allowance, one more try, a breaker, counters.

        `seconds` are what a call has at most: a failure in half of them says something about Gemini.
        """
        from clara.adapters.models.guards import FAIR_SECONDS, Allowing, Breaker, Counting, Outcome, Retrying, guarded
        from clara.adapters.postgres.delivery.usage import PostgresAllowance

        def tell(outcome: "Outcome", reason: str | None, milliseconds: float) -> None:
            self._metrics.record_call(part, outcome.value, milliseconds)
            if outcome in {Outcome.FAILED, Outcome.DECLINED}:  # the others were not asked, and there may be many
                log.warning("model gave no answer", part=part, outcome=outcome.value, reason=reason)

        def changed(state: str) -> None:
            log.warning("circuit breaker changed", part=part, status=state)

        allowance = PostgresAllowance(self._engine(), "gemini", self._settings.gemini_calls_per_day)
        breaker = Breaker(changed, fair_seconds=min(FAIR_SECONDS, seconds / 2))
        return guarded(Counting(tell), breaker, Retrying(self._retries), Allowing(allowance))
