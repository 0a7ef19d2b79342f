"""Which corpus stands behind a name, in which state, and whose vectors it is searched by."""

import time
from collections.abc import Callable
from typing import LiteralString

from clara.adapters.postgres.statements import Exchanges
from clara.retrieval.corpus_alias import Standing

STANDING: LiteralString = """
select coalesce(s.physical, asked.name), c.version, c.model, s.publication_id
  from (select %s::text as name) asked
  left join served s on s.name = asked.name
  left join corpora c on c.name = coalesce(s.physical, asked.name)"""

ITSELF: LiteralString = "select c.name, c.version, c.model, null::bigint from corpora c where c.name = %s"


class CorpusVersions:
    """Reads what a name stands for, and its version, which grows with every change of passages or model, whoever makes it."""

    def __init__(self, url: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._exchanges = Exchanges(url, clock)

    def standing(self, name: str) -> Standing | None:
        """Give what stands behind a name, all of it read in one exchange; None while the database is away."""
        return self._read(STANDING, name)

    def itself(self, corpus: str) -> Standing | None:
        """Give the same of a corpus, whatever stands behind its name; None while the database is away."""
        return self._read(ITSELF, corpus)

    def version_of(self, corpus: str) -> str | None:
        """Give the version of a corpus itself; None for an unknown one and while the database is away."""
        standing = self.itself(corpus)
        return None if standing is None else standing.version

    def current(self, corpus: str) -> str | None:
        """Give the version; None for an unknown corpus and while the database is away: then nothing may be called current."""
        standing = self.standing(corpus)
        return None if standing is None else standing.version

    def model(self, corpus: str) -> str | None:
        """Give the model that the corpus is searched by; None for a corpus without one and while the database is away."""
        standing = self.standing(corpus)
        return None if standing is None else standing.model

    def _read(self, statement: LiteralString, name: str) -> Standing | None:
        rows = self._exchanges.rows(statement, [name.replace("\x00", " ")])
        if not rows:
            return None if rows is None else Standing(name)
        ((physical, version, model, publication),) = rows
        return Standing(physical, None if version is None else str(version), model, publication)

    def close(self) -> None:
        """Give the connection back; the next question opens another."""
        self._exchanges.close()
