"""A store of passages in memory, for tests of ingestion."""

import math
from collections.abc import Mapping, Sequence

from clara.ingestion.ports import CorpusChange, CorpusUnavailableError, StoredDigests, WrittenPassage
from clara.retrieval.profile import Profile


class MemoryStore:
    """Implements PassageStore with dictionaries, and counts what it is asked to do."""

    def __init__(self, profile: Profile | None = None) -> None:
        self.profile = profile or Profile()
        self.corpora: dict[str, dict[str, WrittenPassage]] = {}
        self.changes: list[CorpusChange] = []
        self.down = False

    def stored(self, corpus: str, document: str | None = None) -> StoredDigests:
        """Give the digests of a corpus, or of one document."""
        self._answer()
        held = {
            name: written
            for name, written in self.corpora.get(corpus, {}).items()
            if document in (None, written.passage.document_id)
        }
        return StoredDigests(
            {name: written.digest for name, written in held.items()},
            {name: written.vector_digest for name, written in held.items() if any(written.vector)},
            self.profile.name if corpus in self.corpora else None,
        )

    def vectors(self, corpus: str, ids: Sequence[str]) -> Mapping[str, list[float]]:
        """Give stored vectors."""
        self._answer()
        held = self.corpora.get(corpus, {})
        return {name: list(held[name].vector) for name in ids if name in held}

    def apply(self, corpus: str, change: CorpusChange) -> None:
        """Make all changes."""
        self._answer()
        held = dict(self.corpora.get(corpus, {}))
        for written in change.write:
            if any(written.vector) and not math.isclose(math.hypot(*written.vector), 1.0, abs_tol=0.01):
                msg = "unit_length: a vector must have length 1"
                raise ValueError(msg)
        for name in change.drop:
            if name in held and change.document in (None, held[name].passage.document_id):
                del held[name]
        for written in change.write:
            before = held.get(written.passage.id)
            if change.document is not None and before is not None and before.passage.document_id != change.document:
                msg = "uq_passages_corpus_id: another document has a passage of that id"
                raise ValueError(msg)
        held.update({written.passage.id: written for written in change.write})
        self.changes.append(change)
        self.corpora[corpus] = held

    def _answer(self) -> None:
        if self.down:
            raise CorpusUnavailableError("the store is down")
