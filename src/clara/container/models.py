"""The served models of this process: each part behind its own guards, all of one provider behind one day's allowance."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import structlog

from clara.answering.ports import TextModel, Transcriber
from clara.container.engine import Engine
from clara.container.lazily import Lazily

if TYPE_CHECKING:
    from clara.adapters.models.gemini.transport import GeminiTransport
    from clara.adapters.models.guards import Guard, Outcome, Retries
    from clara.retrieval.options.query_rewriting import QueryWriter

log = structlog.get_logger()

# A person gets the answer within twelve seconds, whatever Gemini does: two are for everything else. Whoever asks gives less.
LONGEST_SECONDS = 10.0


# A translation of one question takes a second; a search that found nothing is not worth a longer wait.
TRANSLATION_SECONDS = 3.0


class Models:
    """Builds what asks a served model; what is switched off is None.

    Calls that cost money must be counted, so without a database there is no model. A part whose provider fails is kept away
    from alone: quotas and outages are a model's.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._retries: Lazily[Retries] = Lazily(_retries)
        self._closing: list[Callable[[], None]] = []

    def close(self) -> None:
        """Give back the connections."""
        while self._closing:
            self._closing.pop()()

    def text_model(self) -> TextModel | None:
        """Build what writes answers. The scripted writer costs nothing and says nothing but the facts it is shown."""
        settings = self._engine.settings
        if settings.rag_writer == "scripted":
            from clara.adapters.models.scripted import ScriptedWriter

            return ScriptedWriter()
        if settings.rag_writer == "none" or self._engine.database_url is None:
            return None
        from clara.adapters.models.gemini.text_model import GeminiTextModel

        return GeminiTextModel(self.transport("writer"), settings.gemini_writer_model)

    def transcriber(self) -> Transcriber | None:
        """Build what writes down voice notes."""
        settings = self._engine.settings
        if settings.rag_transcriber == "whisper" and settings.clara_whisper_model is not None:
            from clara.adapters.models.whisper import WhisperTranscriber

            return WhisperTranscriber(settings.clara_whisper_model)
        if settings.rag_transcriber == "none" or self._engine.database_url is None:
            return None
        from clara.adapters.models.gemini.transcriber import GeminiTranscriber

        return GeminiTranscriber(self.transport("transcriber"), settings.gemini_transcriber_model)

    def translator(self) -> "QueryWriter | None":
        """Build what puts questions into Spanish and English."""
        settings = self._engine.settings
        if settings.rag_translator == "none" or self._engine.database_url is None:
            return None
        from clara.adapters.models.gemini.translator import GeminiTranslator

        return GeminiTranslator(self.transport("translator", TRANSLATION_SECONDS), settings.gemini_model)

    def transport(self, part: str, seconds: float = LONGEST_SECONDS) -> "GeminiTransport":
        """Open a connection to Gemini for one part, with so many seconds at most for each thing asked."""
        from clara.adapters.models.gemini.transport import PUBLIC_URL, GeminiTransport

        settings = self._engine.settings
        transport = GeminiTransport(
            settings.secret("gemini_api_key"),
            deadline_seconds=seconds,
            base_url=settings.gemini_base_url or PUBLIC_URL,
            guard=self.guard(part, seconds),
        )
        self._closing.append(transport.close)
        return transport

    def guard(self, part: str, seconds: float = LONGEST_SECONDS) -> "Guard":
        """Build what stands between one part and Gemini: a day's allowance, one more try, a breaker, counters.

        `seconds` are what a call has at most: a failure in half of them says something about Gemini.
        """
        from clara.adapters.models.guards import FAIR_SECONDS, Allowing, Breaker, Counting, Outcome, Retrying, guarded
        from clara.adapters.postgres.delivery.usage import PostgresAllowance

        def tell(outcome: "Outcome", reason: str | None, milliseconds: float) -> None:
            self._engine.metrics.record_call(part, outcome.value, milliseconds)
            if outcome in {Outcome.FAILED, Outcome.DECLINED}:  # the others were not asked, and there may be many
                log.warning("model gave no answer", part=part, outcome=outcome.value, reason=reason)

        def changed(state: str) -> None:
            log.warning("circuit breaker changed", part=part, status=state)

        allowance = PostgresAllowance(self._engine.engine.get(), "gemini", self._engine.settings.gemini_calls_per_day)
        breaker = Breaker(changed, fair_seconds=min(FAIR_SECONDS, seconds / 2))
        return guarded(Counting(tell), breaker, Retrying(self._retries.get()), Allowing(allowance))


def _retries() -> "Retries":
    from clara.adapters.models.guards import Retries

    return Retries()
