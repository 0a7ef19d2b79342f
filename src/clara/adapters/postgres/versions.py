"""Which corpus stands behind a name, in which state, and whose vectors it is searched by."""

import time
from collections.abc import Callable
from typing import LiteralString

from clara.adapters.postgres.exchanges import Exchanges
from clara.retrieval.standing import Standing

STANDING: LiteralString = """
select coalesce(s.physical, asked.name), c.version, c.model, s.publication_id
  from (select %s::text as name) asked
  left join served s on s.name = asked.name
  left join corpora c on c.name = coalesce(s.physical, asked.name)"""


class CorpusVersions:
    """Reads what a name stands for, and its version, which grows with every change of passages or model, whoever makes it."""

    def __init__(self, url: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._exchanges = Exchanges(url, clock)

    def standing(self, name: str) -> Standing | None:
        """Give what stands behind a name, all of it read in one exchange; None while the database is away."""
        rows = self._exchanges.rows(STANDING, [name.replace("\x00", " ")])
        if not rows:
            return None
        ((physical, version, model, publication),) = rows
        return Standing(physical, None if version is None else str(version), model, publication)

    def current(self, corpus: str) -> str | None:
        """Give the version; None for an unknown corpus and while the database is away: then nothing may be called current."""
        standing = self.standing(corpus)
        return None if standing is None else standing.version

    def model(self, corpus: str) -> str | None:
        """Give the model that the corpus is searched by; None for a corpus without one and while the database is away."""
        standing = self.standing(corpus)
        return None if standing is None else standing.model

    def close(self) -> None:
        """Give the connection back; the next question opens another."""
        self._exchanges.close()
