"""The one place that builds things: which implementation stands behind which port is decided here and nowhere else."""

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from datetime import date
from functools import cache
from time import monotonic
from typing import TYPE_CHECKING

from clara.answering.journey import Tools
from clara.answering.ports import TextModel, Transcriber
from clara.answering.safety.danger import Danger
from clara.answering.safety.scope import Scope
from clara.answering.texts import Texts, read_texts
from clara.answering.verification.prover import Prover
from clara.answering.voice_notes import Listener
from clara.channels.ports import ChannelRecordings
from clara.channels.registry import open_channels
from clara.container.edition import Version
from clara.container.editions import AsServed, Current, Editions, One, asking
from clara.container.engine import Engine
from clara.container.knowledge import Knowledge, read_calibration, read_knowledge
from clara.container.lazily import Lazily
from clara.container.models import Models
from clara.container.scoping import build_danger, build_scope
from clara.container.wrapping import Wrappers
from clara.retrieval.passage import Gather, Retrieve
from clara.retrieval.ports import Embedder
from clara.retrieval.turn_vectors import Deadline, EmbeddingSlots, TurnVectors
from clara.settings import Settings, load_settings, resources

if TYPE_CHECKING:
    from clara.adapters.aes_gcm import AesGcmSealer
    from clara.adapters.models.guards import Guard
    from clara.adapters.postgres.delivery.turn_store import PostgresDesk
    from clara.adapters.postgres.delivery.usage import PostgresBudget
    from clara.adapters.postgres.embedded import EmbeddedServer

__all__ = [
    "Container",
    "Knowledge",
    "Lazily",
    "Version",
    "get_retriever",
    "open_container",
    "read_calibration",
    "read_knowledge",
    "reset_retriever",
]


# An ordinary question takes .1 s. Who waits longer than this for the search is better served by keywords.
TURN_SECONDS = 3.0


class Container(Engine):
    """What one process is made of. Each part is built on first use, once, and closed at the end."""

    def __init__(
        self,
        settings: Settings,
        database_url: str | None,
        *,
        outage: str = "no database is configured",
        server: "EmbeddedServer | None" = None,
    ) -> None:
        super().__init__(settings, database_url)
        self.server = server
        self.outage = outage
        self.released = Lazily(read_knowledge)
        self.texts = Lazily(_texts)
        self.danger = Lazily(_danger)
        self.sealer: Lazily[AesGcmSealer] = Lazily(self._build_sealer)
        self.models = Models(self)
        self.wrappers = Wrappers(self, self.models)
        self.text_model: Lazily[TextModel | None] = Lazily(self.models.text_model)
        self.transcriber: Lazily[Transcriber | None] = Lazily(self.models.transcriber)
        self.scope: Lazily[Scope] = Lazily(lambda: build_scope(self.embedder.get))
        self.channels = Lazily(lambda: open_channels(settings))
        self.recordings = Lazily(lambda: ChannelRecordings(self.channels.get()))
        self.slots = Lazily(lambda: EmbeddingSlots(self.local.get().model, self.local.get().tokens))
        self.clock: Callable[[], float] = monotonic  # what a turn's time is measured by, in seconds
        self.turn_seconds = TURN_SECONDS
        self.speak_from(AsServed(self))

    def speak_from(self, editions: Editions) -> None:
        """Give of everything that hangs on the knowledge what belongs to the edition of the moment."""
        self.editions = editions
        self.knowledge: Lazily[Knowledge] = Current(editions, lambda edition: edition.knowledge)
        self.prover: Lazily[Prover] = Current(editions, lambda edition: edition.prover)
        self.retriever: Lazily[Retrieve] = Lazily(lambda: asking(editions, lambda edition: edition.retriever))
        self.safe_retriever: Lazily[Retrieve] = Lazily(lambda: asking(editions, lambda edition: edition.safe_retriever))
        self.tools: Lazily[Tools] = Current(editions, lambda edition: edition.tools)
        self.unaided_tools: Lazily[Tools] = Current(editions, lambda edition: edition.unaided_tools)
        self.safe_tools: Lazily[Tools] = Current(editions, lambda edition: edition.safe_tools)

    def speaking(self, version: Version) -> "Container":
        """Give services that share everything with these and speak of one version only. They are closed with these."""
        pinned = copy(self)
        pinned.speak_from(One(pinned, version))
        return pinned

    def embedding_by(self, embedder: Embedder) -> "Container":
        """Give services that share everything with these and embed with another engine. They are closed with these."""
        pinned = copy(self)
        pinned.embedder = Lazily(lambda: embedder)
        pinned.scope = Lazily(lambda: build_scope(pinned.embedder.get))
        pinned.speak_from(self.editions.by(pinned))
        return pinned

    def on(self, day: date) -> "Container":
        """Give services that share everything with these and live on another day. They are closed with these."""
        return self.speaking(replace(self.editions.current().version, today=lambda: day))

    def close(self) -> None:
        """Give back every connection, and leave the embedded server if it is ours."""
        for slots in self.slots.reset():
            slots.close()
        self.wrappers.close()
        self.models.close()
        self.embedders.close()
        for versions in self.versions.reset():
            versions.close()
        for flags in self.flags.reset():
            flags.close()
        for recordings in self.recordings.reset():
            recordings.close()
        for engine in self.engine.reset():
            engine.dispose()
        if self.server is not None:
            self.server.stop()

    def turn_vectors(self) -> TurnVectors:
        """Give what embeds for one turn, which begins now, and within its time."""
        return TurnVectors(self.slots.get().embed, Deadline(self.clock() + self.turn_seconds, self.clock))

    def desk(self) -> "PostgresDesk":
        """Build what keeps the turns of messages."""
        from clara.adapters.postgres.delivery.turn_store import PostgresDesk

        return PostgresDesk(self.engine.get(), self.sealer.get())

    def budget(self) -> "PostgresBudget":
        """Build what counts the answers that use a paid model."""
        from clara.adapters.postgres.delivery.usage import PostgresBudget

        settings = self.settings
        return PostgresBudget(
            self.engine.get(), settings.clara_sender_model_answers_per_day, settings.clara_model_answers_per_day
        )

    def listener(self) -> Listener | None:
        """Build what listens to voice notes; none where nobody writes them down, or none can come."""
        if (transcriber := self.transcriber.get()) is None or not (recordings := self.recordings.get()):
            return None
        return Listener(recordings, transcriber)

    def migrate(self) -> str:
        """Check the server, bring the schema and the job engine's tables to the newest version; say what was done."""
        from clara.adapters.postgres.connections import check_server, translated
        from clara.adapters.postgres.migrations import upgrade
        from clara.adapters.procrastinate.schema import upgrade_job_engine

        engine = self.engine.get()
        check_server(engine)
        with translated(), engine.begin() as connection:
            before, after = upgrade(connection, resources() / "migrations")
            applied = upgrade_job_engine(connection)
        moved = f"schema {before or 'empty'} -> {after}" if before != after else f"schema {after}, nothing to do"
        return f"{moved}; job engine: {', '.join(applied) or 'nothing to do'}"

    def _build_sealer(self) -> "AesGcmSealer":
        from clara.adapters.aes_gcm import AesGcmSealer

        return AesGcmSealer(self.settings.address_key)

    def guard_of(self, part: str) -> "Guard":
        """Give what stands between a part and a served model."""
        return self.models.guard(part)

    def tier(self, name: str) -> Retrieve:
        """Give one tier of the chain alone, for measuring it."""
        return self.editions.current().tier(name)

    def variant(self, gather: Gather, wrap: Callable[[Retrieve], Retrieve]) -> Retrieve:
        """Give the hybrid tier over another search and wrapped otherwise, for measuring it."""
        return self.editions.current().variant(gather, wrap)


@cache
def _texts() -> Texts:
    return read_texts(resources() / "data")


@cache
def _danger() -> Danger:
    return build_danger(resources() / "data")


def open_container(settings: Settings) -> Container:
    """Give the services on the operator's database, or on the embedded server, started. Raises EmbeddedServerError."""
    if settings.rag_db_url is not None:
        return Container(settings, settings.rag_db_url.get_secret_value())
    from clara.adapters.postgres.embedded import EmbeddedServer

    server = EmbeddedServer(settings.home)
    return Container(settings, server.start(), server=server)


def _from_environment() -> Container:
    from clara.adapters.postgres.embedded import EmbeddedServerError

    settings = load_settings()
    try:
        return open_container(settings)
    except EmbeddedServerError as error:
        return Container(settings, None, outage=str(error))


services = Lazily(_from_environment)


def get_retriever() -> Retrieve:
    """Give this process's retriever, built from the environment on first use under a lock."""
    return services.get().retriever.get()


def reset_retriever() -> None:
    """Forget the retriever and close its connections; the next `get_retriever` builds another."""
    for made in services.reset():
        made.close()
