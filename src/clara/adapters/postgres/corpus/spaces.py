"""What corpora are searched by: their vector spaces, which of them serves, and which corpus stands behind a name."""

import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import closing, contextmanager
from typing import Final

from clara.adapters.postgres.corpus.index import as_literal, space_id
from clara.adapters.postgres.statements import Exchanges, Session, Statements, Store, Transaction
from clara.errors import Refused
from clara.ingestion.ports import LOOKED_AT, CorpusUnavailableError, Space, Unembedded
from clara.retrieval.embedders import is_blank
from clara.retrieval.ports import Vector
from clara.retrieval.served_corpora import Standing

# Any constant: one process builds the vectors of a corpus at a time, or both would pay for them.
BUILDING: Final = 5_305_003
# Any other: two that both filled a new space and then made its index would wait for each other's rows.
INDEXING: Final = 5_305_004


class NameTakenError(Refused):
    """The number of the corpus's vector space is that of another corpus, by rare chance. Give the corpus another name."""

    def __init__(self, corpus: str, other: str) -> None:
        super().__init__(f"corpus {corpus} cannot be kept beside {other}: their numbers collide. Give it another name.")


class PostgresSpaces(Store):
    """Fills vector spaces beside the one that serves, and changes over. Every method may raise CorpusUnavailableError."""

    unavailable = CorpusUnavailableError

    def spaces(self) -> list[Space]:
        """List every corpus with its spaces, by name and model."""
        return self._at_once.read(Space, "spaces")

    def prepare(self, corpus: str, model: str, dimensions: int) -> None:
        """Make the space of a corpus and a model with its index, unless it is there. Raises NameTakenError."""
        with self._at_once.transaction() as together:
            together.changed("session.unhurried")
            if ensure_space(together, corpus, model, dimensions):
                index_space(together, corpus, model, dimensions)

    def unembedded(self, corpus: str, model: str, after: int, limit: int) -> list[Unembedded]:
        """Give the next passages, beyond the key `after`, that have no vector in the space."""
        asked = {"corpus": corpus, "space_id": space_id(corpus, model), "after": after, "limit": limit}
        return self._at_once.read(Unembedded, "unembedded", **asked)

    def add(self, corpus: str, model: str, vectors: Mapping[int, Vector]) -> int:
        """Store vectors by the keys of their passages and commit; give how many were new.

        A passage that was dropped or written anew meanwhile is left out, so that no vector is of another text than its own.
        """
        literals = [as_literal(vector) for vector in vectors.values()]
        told = {"corpus": corpus, "space_id": space_id(corpus, model), "keys": list(vectors), "vectors": literals}
        return self._at_once.changed("add_vectors", **told)

    def lacking(self, corpus: str, model: str, blank: Collection[int] = ()) -> int:
        """Count the passages that should have a vector in the space and do not; more than LOOKED_AT are not counted.

        `blank` are the keys of passages that were found to have nothing to embed.
        """
        return _lacking(self._at_once, corpus, model, blank)

    def serve(self, corpus: str, model: str, blank: Collection[int] = ()) -> int:
        """Let the corpus be searched by this space from now on, if it lacks nothing; give how many passages it lacks.

        No ingestion can come between looking and changing over. Repeating it changes nothing. The space must be there.
        """
        with self._at_once.transaction() as together:
            together.changed("session.unhurried")
            together.row("passage.lock", corpus=corpus)
            lacking = _lacking(together, corpus, model, blank)
            if not lacking:
                together.changed("serve", corpus=corpus, model=model)
        return lacking

    @contextmanager
    def building(self, corpus: str) -> Iterator[bool]:
        """Be the only one who builds vectors for the corpus; False when somebody else is. Ends with the process, too."""
        with closing(Session(self._engine, CorpusUnavailableError)) as session:
            yield bool(session.value("passage.building", building=BUILDING, corpus=corpus))


def ensure_space(together: Transaction, corpus: str, model: str, dimensions: int) -> bool:
    """Make the space in the caller's transaction; False when it is there. A new one wants an index. Raises NameTakenError."""
    number = space_id(corpus, model)
    if not together.changed("passage.new_space", id=number, corpus=corpus, model=model, dimensions=dimensions):
        held = together.row("passage.space", id=number)
        if (held.corpus, held.model) != (corpus, model):
            raise NameTakenError(corpus, held.corpus)
        return False
    together.row("passage.indexing", indexing=INDEXING)
    return True


def index_space(together: Transaction, corpus: str, model: str, dimensions: int) -> None:
    """Make the index of a space, of whatever the space holds: filled first, it takes a fraction of the time."""
    number = space_id(corpus, model)
    made = f"create index hnsw_{number} on embeddings using hnsw ((vector::vector({int(dimensions)})) vector_cosine_ops)"
    together.connection.execute(f"{made} where space_id = {number}".encode())


def _lacking(held: Statements, corpus: str, model: str, blank: Collection[int]) -> int:
    asked = {"corpus": corpus, "space_id": space_id(corpus, model), "after": 0, "limit": LOOKED_AT + len(blank)}
    rows = held.rows("unembedded", **asked)
    return sum(row.key not in blank and not is_blank(row.text) for row in rows)


class CorpusVersions:
    """Reads what a name stands for, and its version, which grows with every change of passages or model, whoever makes it."""

    def __init__(self, url: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._exchanges = Exchanges(url, clock)

    def standing(self, name: str) -> Standing | None:
        """Give what stands behind a name, all of it read in one exchange; None while the database is away."""
        return self._read("publication.standing", name)

    def itself(self, corpus: str) -> Standing | None:
        """Give the same of a corpus, whatever stands behind its name; None while the database is away."""
        return self._read("publication.itself", corpus)

    def version_of(self, corpus: str) -> str | None:
        """Give the version of a corpus itself; None for an unknown one and while the database is away."""
        standing = self.itself(corpus)
        return None if standing is None else standing.version

    def model(self, corpus: str) -> str | None:
        """Give the model that the corpus is searched by; None for a corpus without one and while the database is away."""
        standing = self.standing(corpus)
        return None if standing is None else standing.model

    def _read(self, statement: str, name: str) -> Standing | None:
        rows = self._exchanges.rows(statement, name=name.replace("\x00", " "))
        if not rows:
            return None if rows is None else Standing(name)
        ((physical, version, model, publication),) = rows
        return Standing(physical, None if version is None else str(version), model, publication)

    def close(self) -> None:
        """Give the connection back; the next question opens another."""
        self._exchanges.close()
