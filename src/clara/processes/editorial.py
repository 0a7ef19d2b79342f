"""The editorial journey on its adapters: what the command line, a schedule and the operators' addresses start."""

from collections.abc import Iterator
from contextlib import contextmanager

from clara.adapters.postgres.corpus.passages import alone_with
from clara.adapters.postgres.editorial.findings import PostgresFindings, PostgresSnapshots
from clara.answering.snapshot import KnowledgeSnapshot
from clara.container import Container
from clara.editorial.as_of import PastMoment, copied, known_then
from clara.editorial.journey import Editorial
from clara.editorial.ports import EditorialDesk
from clara.ingestion.norms import NormIndex
from clara.knowledge.knowledge_base import KnowledgeVersion
from clara.knowledge.passages import CORPUS
from clara.processes.preparation import patient_embedder


def build_editorial(container: Container) -> Editorial:
    """Build the journey."""
    engine = container.engine
    return Editorial(
        EditorialDesk(
            snapshots=PostgresSnapshots(engine),
            findings=PostgresFindings(engine),
            revisions=container.revisions(),
            publications=container.publications(),
            corpora=container,
            norms=build_norms(container),
            served=lambda: container.snapshot().knowledge,
            released=lambda: container.released,
            data=container.data,
            patient=lambda corpus, say: patient_embedder(container, corpus, say),
        )
    )


def build_norms(container: Container) -> NormIndex:
    """Build what brings norms into the index."""
    engine = container.engine
    return NormIndex(container, PostgresSnapshots(engine), lambda corpus, norm: alone_with(engine, corpus, norm))


@contextmanager
def speaking_as_of(container: Container, past: PastMoment) -> Iterator[KnowledgeSnapshot]:
    """Give the snapshot of then; what it searches is dropped at the end.

    Whatever understands questions and judges what is found is today's: only the evidence is that of the time. Raises
    CorpusUnavailableError, EmbedderUnavailableError.
    """
    knowledge = known_then(container.evidence(), container.released, past)
    with copied(container.publications(), container, knowledge.passages) as name:
        yield container.snapshot_of(KnowledgeVersion(knowledge, {CORPUS: name}, today=lambda: past.day))
