"""Versions of what is asked under a name: staged beside the served one, switched to in one statement, and back."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final

from sqlalchemy import Connection, Engine, Row, func, insert, select, text, update
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.exc import DBAPIError

from clara.adapters.postgres.connections import translated
from clara.adapters.postgres.editorial.evidence import RECORDING, record_evidence
from clara.adapters.postgres.editorial.schema import publications, served
from clara.adapters.postgres.schema import corpora
from clara.adapters.postgres.sql import statement
from clara.editorial.records import Publication, ServedChangedError, ServedVersion
from clara.ingestion.ports import CorpusUnavailableError
from clara.retrieval.corpus_alias import version_name

# Any constant: one process publishes at a time.
PUBLISHING: Final = 5_305_005
COPYING: Final = 5_305_006
# Versions that can be gone back to. Each takes as much room as what is served.
KEPT: Final = 3


class PostgresPublications:
    """Keeps the versions of a name. Every method may raise CorpusUnavailableError."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def served(self, name: str) -> ServedVersion:
        """Give what is served under a name."""
        with translated(CorpusUnavailableError), self._engine.connect() as connection:
            return _served(connection, name)

    def version_of(self, physical: str) -> int | None:
        """Give the version of a corpus, which grows with every change of it; None when there is none."""
        wanted = select(corpora.c.version).where(corpora.c.name == physical)
        with translated(CorpusUnavailableError), self._engine.connect() as connection:
            version: int | None = connection.scalar(wanted)
        return version

    def revisions(self, publication: int) -> tuple[int, ...]:
        """Give the numbers of the corrections that a version holds."""
        wanted = select(publications.c.revisions).where(publications.c.id == publication)
        with translated(CorpusUnavailableError), self._engine.connect() as connection:
            return tuple(connection.scalar(wanted) or ())

    def publications(self, name: str) -> list[Publication]:
        """List the versions of a name, newest first."""
        wanted = (
            select(publications, corpora.c.passages)
            .outerjoin(corpora, corpora.c.name == publications.c.physical)
            .where(publications.c.corpus == name)
            .order_by(publications.c.id.desc())
        )
        with translated(CorpusUnavailableError), self._engine.connect() as connection:
            return [_publication(row) for row in connection.execute(wanted)]

    def stage(self, name: str, revisions: Sequence[int]) -> Publication:
        """Give a new version its number. What is served without one gets its own first, so that there is a way back to it."""
        numbered = select(publications.c.id).where(publications.c.corpus == name, publications.c.state == "served")
        with translated(CorpusUnavailableError), self._engine.begin() as connection:
            if connection.scalar(numbered) is None:
                connection.execute(insert(publications).values(corpus=name, physical=name, state="served"))
            made = insert(publications).values(corpus=name, physical=name, revisions=list(revisions)).returning(publications)
            row = connection.execute(made).one()
            named = update(publications).where(publications.c.id == row.id).values(physical=version_name(name, row.id))
            row = connection.execute(named.returning(publications, text("null::bigint as passages"))).one()
        return _publication(row)

    def switch(self, staged: Publication, before: ServedVersion, gate: Mapping[str, Any]) -> None:
        """Serve a staged version from now on; its evidence and the state of all versions change with it or not at all.

        Raises ServedChangedError when what is served is not `before` any more.
        """
        with translated(CorpusUnavailableError), self._changing() as connection:
            _require(connection, before)
            _put(connection, before.name, staged, "past", gate)
            published = "update revisions set publication_id = :id where id = any(:ids) and publication_id is null"
            connection.execute(text(published), {"id": staged.id, "ids": list(staged.revisions)})

    def undo(self, before: ServedVersion, target: Publication) -> None:
        """Serve an earlier version again. What only the undone one held becomes drafts. Raises ServedChangedError."""
        with translated(CorpusUnavailableError), self._changing() as connection:
            _require(connection, before)
            _put(connection, before.name, target, "undone", None)
            redrafted = "update revisions set publication_id = null where publication_id = :id"
            connection.execute(text(redrafted), {"id": before.publication})

    def refuse(self, staged: Publication, gate: Mapping[str, Any]) -> None:
        """Record that a staged version is not served, and why."""
        refused = update(publications).where(publications.c.id == staged.id, publications.c.state == "staged")
        with translated(CorpusUnavailableError), self._engine.begin() as connection:
            connection.execute(refused.values(state="refused", gate=dict(gate), ended_at=func.now()))

    def leftovers(self, name: str) -> list[str]:
        """Give up whatever was being staged when its process died; name the corpora that are of no more use.

        Only for who holds `publishing`.
        """
        with translated(CorpusUnavailableError), self._engine.begin() as connection:
            cut = update(publications).where(publications.c.corpus == name, publications.c.state == "staged")
            connection.execute(cut.values(state="refused", gate={"cut_short": True}, ended_at=func.now()))
            return list(connection.scalars(statement("unused_versions"), {"name": name, "kept": KEPT}))

    @contextmanager
    def publishing(self) -> Iterator[bool]:
        """Be the only one who changes what is served; False when somebody else does. Ends with the process, too."""
        with translated(CorpusUnavailableError), self._engine.connect() as connection:
            connection.execution_options(isolation_level="AUTOCOMMIT")
            alone = bool(connection.scalar(text("select pg_try_advisory_lock(:publishing)"), {"publishing": PUBLISHING}))
            try:
                yield alone
            finally:
                # The lock is the session's: closing it, instead of handing it to the pool, releases it whatever happened. But
                # the server hears of that only a moment later, when the next who comes would find it taken.
                with suppress(DBAPIError):
                    connection.execute(text("select pg_advisory_unlock(:publishing)"), {"publishing": PUBLISHING})
                connection.invalidate()

    def abandoned(self, name: str) -> list[str]:
        """Name the copies of a corpus that were left behind by processes that died."""
        with translated(CorpusUnavailableError), self._engine.connect() as connection:
            return list(connection.scalars(statement("abandoned_copies"), {"name": name, "copying": COPYING}))

    @contextmanager
    def using(self, copy: str) -> Iterator[None]:
        """Keep a copy from being taken for one that was left behind, as long as this process lives."""
        with translated(CorpusUnavailableError), self._engine.connect() as connection:
            connection.execution_options(isolation_level="AUTOCOMMIT")
            connection.execute(text("select pg_advisory_lock(:copying, hashtext(:copy))"), {"copying": COPYING, "copy": copy})
            try:
                yield
            finally:
                connection.invalidate()

    @contextmanager
    def _changing(self) -> Iterator[Connection]:
        with self._engine.begin() as connection:
            connection.execute(text("set local statement_timeout = 0"))
            connection.execute(text("select pg_advisory_xact_lock(:recording)"), {"recording": RECORDING})
            yield connection


def _served(connection: Connection, name: str) -> ServedVersion:
    row = connection.execute(statement("served_version"), {"name": name}).one()
    return ServedVersion(name, row.physical, row.version, row.publication_id, tuple(row.revisions or ()))


def _require(connection: Connection, before: ServedVersion) -> None:
    if _served(connection, before.name) != before:
        raise ServedChangedError


def _put(connection: Connection, name: str, next_: Publication, ended: str, gate: Mapping[str, Any] | None) -> None:
    """Let a version stand behind a name, and record which evidence that is."""
    over = update(publications).where(publications.c.corpus == name, publications.c.state == "served")
    connection.execute(over.values(state=ended, ended_at=func.clock_timestamp()))
    begun = update(publications).where(publications.c.id == next_.id).values(state="served", served_at=func.clock_timestamp())
    connection.execute(begun.values(ended_at=None) if gate is None else begun.values(gate=json.loads(json.dumps(gate))))
    standing = {"physical": next_.physical, "publication_id": next_.id, "switched_at": func.clock_timestamp()}
    put = upsert(served).values(name=name, **standing)
    connection.execute(put.on_conflict_do_update(index_elements=["name"], set_=standing))
    record_evidence(connection, next_.physical)


def _publication(row: Row[Any]) -> Publication:
    return Publication(
        row.id,
        row.physical,
        row.state,
        tuple(row.revisions),
        row.gate,
        row.created_at,
        row.served_at,
        row.ended_at,
        row.passages,
    )
