"""Facts that are served: which are doubted, when they were last looked at, and corrections that wait."""

import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from threading import Lock
from typing import Final

from clara.adapters.postgres.statements import Exchanges, Row, Store
from clara.delivery.ports import StoreUnavailableError
from clara.ingestion.ports import CorpusUnavailableError
from clara.knowledge.freshness import Check, Held, ServedFact
from clara.knowledge.passages import COLLECTION, CORPUS
from clara.knowledge.procedure import madrid_today, source_from
from clara.knowledge.revisions import Revision
from clara.knowledge.sources import RegisteredSource

# A warning that comes so much later than the finding is in time, and a question in ten pays for the look.
LOOK_SECONDS: Final = 5.0


class PostgresFlags:
    """Knows the facts that a finding puts in doubt; while the database is away those that were known last."""

    def __init__(self, url: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._exchanges = Exchanges(url, clock)
        self._clock = clock
        self._lock = Lock()
        self._known: Mapping[str, str] = {}
        self._again_at = float("-inf")

    def current(self) -> Mapping[str, str]:
        """Give the day on which each fact was found to be in doubt, by fact id."""
        with self._lock:
            if self._clock() >= self._again_at:
                rows = self._exchanges.rows("fact.flags")
                self._known = self._known if rows is None else dict(rows)
                self._again_at = self._clock() + LOOK_SECONDS
            return self._known

    def close(self) -> None:
        """Give the connection back; the next look opens another."""
        self._exchanges.close()


class PostgresStaleness(Store):
    """Reads what freshness is judged by, at one moment. Raises CorpusUnavailableError."""

    unavailable = StoreUnavailableError

    def held(self, registered: Mapping[str, RegisteredSource]) -> Held:
        """Read everything."""
        with self._at_once.transaction() as together:
            together.changed("fact.as_one")
            facts = [_fact(row) for row in together.rows("served_facts", corpus=CORPUS, collection=COLLECTION)]
            checks = {one.source_id: one for one in together.read(Check, "snapshot.checks")}
            flagged = {row.fact_id: tuple(row.findings) for row in together.rows("fact.findings_of_facts")}
            now: datetime = together.value("fact.now")
        return Held(facts, checks, flagged, registered, now, madrid_today())


def _fact(row: Row) -> ServedFact:
    sources = tuple(source_from(source) for source in row.sources or ())
    norms = frozenset(basis["norm"] for basis in row.legal_basis or ())
    return ServedFact(row.id, row.document_id, row.section, sources, norms, row.valid_until)


class PostgresRevisions(Store):
    """Keeps revisions. Every method may raise CorpusUnavailableError."""

    unavailable = CorpusUnavailableError

    def drafts(self) -> list[Revision]:
        """Give what waits to be published, oldest first."""
        return self._at_once.read(Revision, "fact.drafts")

    def of(self, ids: Sequence[int], *, withdrawn: bool = True) -> list[Revision]:
        """Give the revisions of a version, in order; without `withdrawn` those that the next one still holds."""
        return self._at_once.read(Revision, "fact.revisions", ids=list(ids), withdrawn=withdrawn)

    def withdraw(self, fact_id: str) -> int:
        """Take back every correction of a fact, drafts and published ones; give how many there were.

        What is served stays as it is until the next publication.
        """
        return self._at_once.changed("fact.withdraw", fact_id=fact_id)
