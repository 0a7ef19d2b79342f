"""The served models of a process: each part behind its own guards, all of one provider behind one day's allowance."""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import structlog
from sqlalchemy import Engine

from clara.adapters.models import guards, registry
from clara.adapters.postgres.delivery.inbox import PostgresAllowance
from clara.answering.ports import TextModel, Transcriber
from clara.once import Once
from clara.retrieval.metrics import RetrievalMetrics
from clara.settings import Settings

if TYPE_CHECKING:
    from clara.retrieval.options.corrective import QueryWriter
    from clara.retrieval.options.rerankers import Reranker

log = structlog.get_logger()


class ServedModels:
    """Builds what asks a served model; what is switched off is None.

    Calls that cost money must be counted, so where nothing is `counted`, without a database, there is no model. A part whose
    provider fails is kept away from alone: quotas and outages are a model's. Connections are given back by `closing`.
    """

    def __init__(
        self, settings: Settings, engine: Callable[[], Engine], metrics: RetrievalMetrics, closing: ExitStack, *, counted: bool
    ) -> None:
        self._settings = settings
        self._counted = counted
        self._engine = engine
        self._metrics = metrics
        self._closing = closing
        self._retries = guards.Retries()

    @Once
    def parts(self) -> registry.ModelParts:
        """What any model is built from."""
        return registry.ModelParts(self._settings, self.guard, self._closing)

    def _built(self, choices: Mapping[str, str], choice: str) -> Any:  # noqa: ANN401  each part has its own port
        return None if choice in registry.PAID and not self._counted else registry.build_model(choices, choice, self.parts)

    @Once
    def text_model(self) -> TextModel | None:
        """What writes answers."""
        model: TextModel | None = self._built(registry.WRITERS, self._settings.rag_writer)
        return model

    @Once
    def transcriber(self) -> Transcriber | None:
        """What writes down voice notes."""
        transcriber: Transcriber | None = self._built(registry.TRANSCRIBERS, self._settings.rag_transcriber)
        return transcriber

    @Once
    def translator(self) -> "QueryWriter | None":
        """What puts questions into Spanish and English."""
        translator: QueryWriter | None = self._built(registry.TRANSLATORS, self._settings.rag_translator)
        return translator

    @Once
    def reranker(self) -> "Reranker | None":
        """What orders what was found."""
        if self._settings.rag_reranker == "none":
            return None
        from clara.retrieval.options.rerankers import HeuristicReranker, HeuristicWeights, TextReranker

        if self._settings.rag_reranker == "heuristic":
            return HeuristicReranker(HeuristicWeights(curated=frozenset({"curado", "curated"})))
        return TextReranker(self._built(registry.RERANKERS, self._settings.rag_reranker))

    def guard(self, part: str, seconds: float = registry.LONGEST_SECONDS) -> guards.CallGuard:
        """Build what stands between one part and Gemini: a day's allowance, one more try, a breaker, counters.

        `seconds` are what a call has at most: a failure in half of them says something about Gemini.
        """

        def tell(outcome: guards.CallOutcome, reason: str | None, milliseconds: float) -> None:
            self._metrics.record_call(part, outcome.value, milliseconds)
            if outcome in {
                guards.CallOutcome.FAILED,
                guards.CallOutcome.DECLINED,
            }:  # the others were not asked, and there may be many
                log.warning("model gave no answer", part=part, outcome=outcome.value, reason=reason)

        def changed(state: str) -> None:
            log.warning("circuit breaker changed", part=part, status=state)

        allowance = PostgresAllowance(self._engine(), "gemini", self._settings.gemini_calls_per_day)
        breaker = guards.Breaker(changed, fair_seconds=min(guards.FAIR_SECONDS, seconds / 2))
        return guards.guarded(guards.Counting(tell), breaker, guards.Retrying(self._retries), guards.Allowing(allowance))
