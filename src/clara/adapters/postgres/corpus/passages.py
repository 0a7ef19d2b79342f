"""The store that ingestion writes to: passages and their vectors, changed together in one transaction."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import Any, Final

import psycopg
from sqlalchemy import Engine

from clara.adapters.postgres.corpus.index import as_literal, space_id, storable
from clara.adapters.postgres.corpus.spaces import ensure_space, index_space
from clara.adapters.postgres.editorial.publications import record_evidence
from clara.adapters.postgres.statements import AtOnce, Row, Session, Transaction
from clara.errors import NotFound
from clara.ingestion import ports
from clara.retrieval.passage import COLUMNS
from clara.retrieval.profile import Profile

# Any constant beside those of other locks of two numbers.
DOCUMENT: Final = 5_305_011
# Whoever has the document embeds it meanwhile: the largest norm, 2,600 passages at four a second, takes eleven minutes.
PATIENCE_SECONDS: Final = 1_800


@contextmanager
def alone_with(engine: Engine, corpus: str, document: str, patience_seconds: float = PATIENCE_SECONDS) -> Iterator[None]:
    """Wait until nobody else ingests the document, and keep others waiting while the block runs; ends with the process, too.

    Raises BusyDocumentError, CorpusUnavailableError.
    """
    with closing(Session(engine, ports.CorpusUnavailableError, "clara ingestion", patience_seconds)) as session:
        try:
            session.row("passage.take", lock=DOCUMENT, name=f"{corpus}\n{document}")
        except psycopg.errors.LockNotAvailable as error:
            raise ports.BusyDocumentError(f"somebody else ingests {document}; look whether that process is alive") from error
        yield


class UnknownCorpusError(NotFound):
    """There is no corpus of that name. The message says where the names are."""


# After so many new passages the planner is told what the tables hold. Until the server looked by itself, a minute later, a
# question to 15,825 of them took 253 ms instead of 70.
MANY = 1_000


class PostgresPassages:
    """Implements ingestion's PassageStore for the vectors of one model.

    Vectors of other models stay with the passages whose text stays; for a text that is new, `clara index build` makes them.
    """

    def __init__(self, engine: Engine, model: str, dimensions: int, profile: Profile | None = None) -> None:
        self.profile = profile or Profile()
        self._at_once = AtOnce(engine, ports.CorpusUnavailableError)
        self._model = model
        self._dimensions = dimensions

    def stored(self, corpus: str, document: str | None = None) -> ports.StoredDigests:
        """Give what is there now, of the corpus or of one document. Raises CorpusUnavailableError."""
        meant = {"corpus": corpus, "document": document}
        with self._at_once.transaction() as together:
            rows = together.rows("passage.digests", **meant)
            vectors = together.rows("passage.vector_digests", space_id=space_id(corpus, self._model), **meant)
            profile = together.value("passage.profile", corpus=corpus)
        return ports.StoredDigests({row.id: row.digest for row in rows}, {row.id: row.digest for row in vectors}, profile)

    def vectors(self, corpus: str, ids: Sequence[str]) -> Mapping[str, list[float]]:
        """Give the stored vectors of these passages. Raises CorpusUnavailableError."""
        rows = self._at_once.rows("passage.vectors", corpus=corpus, ids=list(ids), space_id=space_id(corpus, self._model))
        return {row.id: row.vector for row in rows}

    def apply(self, corpus: str, change: ports.CorpusChange) -> None:
        """Make all changes or none. A passage that changes is deleted and written anew. Raises CorpusUnavailableError."""
        with self._at_once.transaction() as together:
            together.changed("session.unhurried")
            together.row("passage.lock", corpus=corpus)
            together.changed("passage.corpus", corpus=corpus, profile=self.profile.name)
            new = ensure_space(together, corpus, self._model, self._dimensions)
            together.changed("passage.first_model", corpus=corpus, model=self._model)
            for ids in _batches(sorted(change.drop)):
                together.changed("passage.drop", corpus=corpus, document=change.document, ids=ids)
            for items in _batches(change.write):
                ids = [item.passage.id for item in items]
                kept = together.rows("passage.other_vectors", corpus=corpus, ids=ids, model=self._model)
                together.changed("passage.drop", corpus=corpus, document=change.document, ids=ids)
                self._write(together, corpus, items, kept)
            if new:
                index_space(together, corpus, self._model, self._dimensions)
            if change.document is None:
                together.changed("passage.unlink", corpus=corpus)
                for edges in _batches(sorted(change.links), 5000):
                    sources, targets = [source for source, _ in edges], [target for _, target in edges]
                    together.changed("link", corpus=corpus, sources=sources, targets=targets)
            record_evidence(together, corpus, {*change.drop, *(item.passage.id for item in change.write)})
            if len(change.write) >= MANY:
                together.changed("passage.analyze")

    def _write(self, together: Transaction, corpus: str, items: Sequence[ports.WrittenPassage], kept: Sequence[Row]) -> None:
        """Write passages with their vectors and names; of the vectors in other spaces those that are still of their texts."""
        together.changed("passage.write", corpus=corpus, rows=json.dumps([_row(item) for item in items]))
        digests = {item.passage.id: item.vector_digest for item in items}
        space = space_id(corpus, self._model)
        vectors = [
            *((item.passage.id, space, item.vector_digest, as_literal(item.vector)) for item in items if any(item.vector)),
            *((row.id, row.space_id, row.digest, row.vector) for row in kept if row.digest == digests[row.id]),
        ]
        ids, spaces, of_texts, literals = ([row[column] for row in vectors] for column in range(4))
        told = {"corpus": corpus, "ids": ids, "spaces": spaces, "digests": of_texts, "vectors": literals}
        together.changed("passage.write_vectors", **told)
        named = [(item.passage.id, storable(name)) for item in items for name in item.names]
        told = {"corpus": corpus, "ids": [name[0] for name in named], "names": [name[1] for name in named]}
        together.changed("passage.write_names", **told)

    def corpora(self) -> list[ports.StoredCorpus]:
        """List what is there, by name. Raises CorpusUnavailableError."""
        return self._at_once.read(ports.StoredCorpus, "corpora")

    def profile_of(self, corpus: str) -> str:
        """Give the name of the corpus's profile. Raises UnknownCorpusError, CorpusUnavailableError."""
        name = self._at_once.value("passage.profile", corpus=corpus)
        if name is None:
            raise UnknownCorpusError(f"there is no corpus {corpus!r}; `clara corpus list` names those there are")
        return str(name)

    def sampled_vectors(self, corpus: str, size: int) -> list[list[float]]:
        """Give the vectors of `size` passages at most, always the same ones of a corpus. Raises CorpusUnavailableError."""
        rows = self._at_once.rows("passage.sampled_vectors", space_id=space_id(corpus, self._model), size=size)
        return [row.vector for row in rows]

    def drop(self, corpus: str) -> bool:
        """Remove a corpus with everything made for it; False when there is none. Raises CorpusUnavailableError."""
        with self._at_once.transaction() as together:
            together.changed("session.unhurried")
            spaces = together.rows("passage.spaces", corpus=corpus)
            gone = together.changed("passage.drop_corpus", corpus=corpus)
            for space in spaces:
                together.connection.execute(f"drop index if exists hnsw_{int(space.id)}".encode())
            record_evidence(together, corpus)
        return bool(gone)


def _row(item: ports.WrittenPassage) -> dict[str, Any]:
    passage = item.passage
    return {name: getattr(passage, name) for name in COLUMNS} | {
        "text": storable(passage.text),
        "indexed_text": storable(passage.indexed_text),
        "digest": item.digest,
        "metadata": passage.stored_metadata,
    }


def _batches(items: Sequence[Any], size: int = 500) -> Iterator[Sequence[Any]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]
