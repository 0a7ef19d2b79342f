"""Everything that was ever served, with the time during which it was: kept with each change, read to answer as then."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from sqlalchemy import Connection, Engine, func, select, text

from clara.adapters.postgres.connections import translated
from clara.adapters.postgres.editorial.schema import evidence_versions
from clara.adapters.postgres.sql import statement
from clara.editorial.records import KnownPassage, ShownPassage
from clara.ingestion.ports import CorpusUnavailableError
from clara.knowledge.passages import CORPUS, fact_passage
from clara.retrieval.corpus_alias import name_of
from clara.retrieval.passage import Passage, stored_passage

# The names whose evidence is kept: what an answer may rest on. Corpora of an operator's own are their own matter.
EVIDENCE: Final = ("clara", "law")
# Any constant: one transaction records evidence at a time, so that the versions of a passage follow each other.
RECORDING: Final = 5_305_004
NEVER: Final = datetime.max.replace(tzinfo=UTC)


class PostgresEvidence:
    """Reads the versions of evidence. Every method may raise CorpusUnavailableError."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def since(self, name: str) -> datetime | None:
        """Give when the first version was recorded; None when there is none."""
        first = select(func.min(evidence_versions.c.known_from)).where(evidence_versions.c.corpus == name)
        with translated(CorpusUnavailableError), self._engine.connect() as connection:
            earliest: datetime | None = connection.scalar(first)
        return earliest

    def recorded(self, name: str) -> frozenset[str]:
        """Give the ids of all passages that were ever served under a name."""
        wanted = select(evidence_versions.c.passage_id).where(evidence_versions.c.corpus == name).distinct()
        with translated(CorpusUnavailableError), self._engine.connect() as connection:
            return frozenset(connection.scalars(wanted))

    def as_of(self, name: str, moment: datetime) -> list[KnownPassage]:
        """Give what was served under a name at a moment, by passage id."""
        with translated(CorpusUnavailableError), self._engine.connect() as connection:
            rows = connection.execute(statement("evidence_as_of"), {"name": name, "moment": moment}).all()
        return [KnownPassage(_passage(name, row.content), row.known_later) for row in rows]

    def shown(self, name: str, ids: Iterable[str], moment: datetime) -> Mapping[str, ShownPassage]:
        """Give what was served of these passages at a moment, and whether it is what is served now."""
        wanted = list(ids)
        asked = select(evidence_versions).where(evidence_versions.c.corpus == name, evidence_versions.c.passage_id.in_(wanted))
        with translated(CorpusUnavailableError), self._engine.connect() as connection:
            rows = connection.execute(asked).all()
        now = {row.passage_id: row.digest for row in rows if row.known_until is None}
        then = {row.passage_id: row for row in rows if row.known_from <= moment < (row.known_until or NEVER)}
        return {
            name_: ShownPassage(_passage(name, row.content), changed=now.get(name_) != row.digest)
            if row
            else ShownPassage(None)
            for name_, row in ((one, then.get(one)) for one in wanted)
        }


def record_evidence(connection: Connection, physical: str, ids: Iterable[str] | None = None) -> None:
    """Record in the caller's transaction what a corpus gives those who ask for it; nothing when nobody does.

    To be called behind every change of what is served: of passages of a corpus, with the `ids` of those that were written or
    dropped, and of which corpus stands behind a name, without them.
    """
    if name_of(physical) not in EVIDENCE:
        return
    connection.execute(text("select pg_advisory_xact_lock(:recording)"), {"recording": RECORDING})
    told = {"physical": physical, "evidence": list(EVIDENCE), "ids": None if ids is None else list(ids)}
    connection.execute(statement("record_evidence"), told)


def _passage(name: str, content: Mapping[str, Any]) -> Passage:
    """Read a passage as it was recorded: one of Clara's own with its fact."""
    passage = stored_passage({**content, "corpus": name})
    return fact_passage(passage) if name == CORPUS else passage
