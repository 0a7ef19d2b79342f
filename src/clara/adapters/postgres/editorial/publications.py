"""What is served under a name: its versions, of which one is switched to in one statement, and all that ever was served."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import datetime
from typing import Any, Final

from clara.adapters.postgres.statements import Session, Statements, Store, Transaction
from clara.editorial import records
from clara.ingestion.ports import CorpusUnavailableError
from clara.knowledge.passages import CORPUS, fact_passage
from clara.retrieval.passage import Passage, stored_passage
from clara.retrieval.served_corpora import name_of, version_name

# The names whose evidence is kept: what an answer may rest on. Corpora of an operator's own are their own matter.
EVIDENCE: Final = ("clara", "law")
# Any constant: one transaction records evidence at a time, so that the versions of a passage follow each other.
RECORDING: Final = 5_305_004
# Any constant: one process publishes at a time.
PUBLISHING: Final = 5_305_005
COPYING: Final = 5_305_006
# Versions that can be gone back to. Each takes as much room as what is served.
KEPT: Final = 3


class PostgresPublications(Store):
    """Keeps the versions of a name. Every method may raise CorpusUnavailableError."""

    unavailable = CorpusUnavailableError

    def served(self, name: str) -> records.ServedVersion:
        """Give what is served under a name."""
        return _served(self._at_once, name)

    def revisions(self, publication: int) -> tuple[int, ...]:
        """Give the numbers of the corrections that a version holds."""
        return tuple(self._at_once.value("publication.revisions", id=publication) or ())

    def publications(self, name: str) -> list[records.Publication]:
        """List the versions of a name, newest first."""
        return self._at_once.read(records.Publication, "publication.all", name=name)

    def stage(self, name: str, revisions: Sequence[int]) -> records.Publication:
        """Give a new version its number. What is served without one gets its own first, so that there is a way back to it."""
        with self._at_once.transaction() as together:
            together.changed("publication.number_served", name=name)
            number = together.value("publication.stage", name=name, revisions=list(revisions))
            return together.read(records.Publication, "publication.call", id=number, physical=version_name(name, number))[0]

    def switch(self, staged: records.Publication, before: records.ServedVersion, gate: Mapping[str, Any]) -> None:
        """Serve a staged version from now on; its evidence and the state of all versions change with it or not at all.

        Raises ServedChangedError when what is served is not `before` any more.
        """
        with self._changing(before) as together:
            _put(together, before.name, staged, "past", gate)
            together.changed("publication.publish_revisions", id=staged.id, ids=list(staged.revisions))

    def undo(self, before: records.ServedVersion, target: records.Publication) -> None:
        """Serve an earlier version again. What only the undone one held becomes drafts. Raises ServedChangedError."""
        with self._changing(before) as together:
            _put(together, before.name, target, "undone", None)
            together.changed("publication.redraft_revisions", id=before.publication)

    def refuse(self, staged: records.Publication, gate: Mapping[str, Any]) -> None:
        """Record that a staged version is not served, and why."""
        self._at_once.changed("publication.refuse", id=staged.id, name=None, gate=gate)

    def leftovers(self, name: str) -> list[str]:
        """Give up whatever was being staged when its process died; name the corpora that are of no more use.

        Only for who holds `publishing`.
        """
        with self._at_once.transaction() as together:
            together.changed("publication.refuse", id=None, name=name, gate={"cut_short": True})
            return [row.name for row in together.rows("unused_versions", name=name, kept=KEPT)]

    @contextmanager
    def publishing(self) -> Iterator[None]:
        """Be the only one who changes what is served; ends with the process, too. Raises BusyPublishingError."""
        with closing(Session(self._engine, CorpusUnavailableError)) as session:
            if not session.value("publication.alone", publishing=PUBLISHING):
                raise records.BusyPublishingError
            yield

    def abandoned(self, name: str) -> list[str]:
        """Name the copies of a corpus that were left behind by processes that died."""
        return [row[0] for row in self._at_once.rows("abandoned_copies", name=name, copying=COPYING)]

    @contextmanager
    def using(self, copy: str) -> Iterator[None]:
        """Keep a copy from being taken for one that was left behind, as long as this process lives."""
        with closing(Session(self._engine, CorpusUnavailableError)) as session:
            session.row("publication.using", copying=COPYING, copy=copy)
            yield

    @contextmanager
    def _changing(self, before: records.ServedVersion) -> Iterator[Transaction]:
        with self._at_once.transaction() as together:
            together.changed("session.unhurried")
            together.row("evidence.alone", recording=RECORDING)
            if _served(together, before.name) != before:
                raise records.ServedChangedError
            yield together


def _served(held: Statements, name: str) -> records.ServedVersion:
    return held.read(records.ServedVersion, "served_version", name=name)[0]


def _put(together: Transaction, name: str, next_: records.Publication, ended: str, gate: Mapping[str, Any] | None) -> None:
    """Let a version stand behind a name, and record which evidence that is."""
    together.changed("publication.end", name=name, state=ended)
    together.changed("publication.begin", id=next_.id, gate=gate)
    together.changed("publication.put", name=name, physical=next_.physical, id=next_.id)
    record_evidence(together, next_.physical)


class PostgresEvidence(Store):
    """Reads the versions of evidence. Every method may raise CorpusUnavailableError."""

    unavailable = CorpusUnavailableError

    def since(self, name: str) -> datetime | None:
        """Give when the first version was recorded; None when there is none."""
        earliest: datetime | None = self._at_once.value("evidence.since", name=name)
        return earliest

    def recorded(self, name: str) -> frozenset[str]:
        """Give the ids of all passages that were ever served under a name."""
        return frozenset(row.passage_id for row in self._at_once.rows("evidence.recorded", name=name))

    def as_of(self, name: str, moment: datetime) -> list[records.KnownPassage]:
        """Give what was served under a name at a moment, by passage id."""
        rows = self._at_once.rows("evidence_as_of", name=name, moment=moment)
        return [records.KnownPassage(_passage(name, row.content), row.known_later) for row in rows]

    def shown(self, name: str, ids: Iterable[str], moment: datetime) -> Mapping[str, records.ShownPassage]:
        """Give what was served of these passages at a moment, and whether it is what is served now."""
        rows = self._at_once.rows("evidence.shown", name=name, ids=list(ids), moment=moment)
        return {
            row.id: records.ShownPassage(_passage(name, row.content), row.changed)
            if row.content
            else records.ShownPassage(None)
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
