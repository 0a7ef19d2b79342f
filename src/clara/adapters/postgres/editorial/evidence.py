"""Everything that was ever served, with the time during which it was: kept with each change, read to answer as then."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Engine

from clara.adapters.postgres.statements import AtOnce, Transaction
from clara.editorial.records import KnownPassage, ShownPassage
from clara.ingestion.ports import CorpusUnavailableError
from clara.knowledge.passages import CORPUS, fact_passage
from clara.retrieval.corpus_alias import name_of
from clara.retrieval.passage import Passage, stored_passage

# The names whose evidence is kept: what an answer may rest on. Corpora of an operator's own are their own matter.
EVIDENCE: Final = ("clara", "law")
# Any constant: one transaction records evidence at a time, so that the versions of a passage follow each other.
RECORDING: Final = 5_305_004


class PostgresEvidence:
    """Reads the versions of evidence. Every method may raise CorpusUnavailableError."""

    def __init__(self, engine: Engine) -> None:
        self._at_once = AtOnce(engine, CorpusUnavailableError)

    def since(self, name: str) -> datetime | None:
        """Give when the first version was recorded; None when there is none."""
        earliest: datetime | None = self._at_once.value("evidence.since", name=name)
        return earliest

    def recorded(self, name: str) -> frozenset[str]:
        """Give the ids of all passages that were ever served under a name."""
        return frozenset(row.passage_id for row in self._at_once.rows("evidence.recorded", name=name))

    def as_of(self, name: str, moment: datetime) -> list[KnownPassage]:
        """Give what was served under a name at a moment, by passage id."""
        rows = self._at_once.rows("evidence_as_of", name=name, moment=moment)
        return [KnownPassage(_passage(name, row.content), row.known_later) for row in rows]

    def shown(self, name: str, ids: Iterable[str], moment: datetime) -> Mapping[str, ShownPassage]:
        """Give what was served of these passages at a moment, and whether it is what is served now."""
        rows = self._at_once.rows("evidence.shown", name=name, ids=list(ids), moment=moment)
        return {
            row.id: ShownPassage(_passage(name, row.content), row.changed) if row.content else ShownPassage(None)
            for row in rows
        }


def record_evidence(together: Transaction, physical: str, ids: Iterable[str] | None = None) -> None:
    """Record in the caller's transaction what a corpus gives those who ask for it; nothing when nobody does.

    To be called behind every change of what is served: of passages of a corpus, with the `ids` of those that were written or
    dropped, and of which corpus stands behind a name, without them.
    """
    if name_of(physical) not in EVIDENCE:
        return
    together.row("evidence.alone", recording=RECORDING)
    told = None if ids is None else list(ids)
    together.changed("record_evidence", physical=physical, evidence=list(EVIDENCE), ids=told)


def _passage(name: str, content: Mapping[str, Any]) -> Passage:
    """Read a passage as it was recorded: one of Clara's own with its fact."""
    passage = stored_passage({**content, "corpus": name})
    return fact_passage(passage) if name == CORPUS else passage
