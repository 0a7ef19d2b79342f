"""Each message's turn: the case as it was stored, the reply waiting to go out, and what became of it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict

from sqlalchemy import Case as SqlCase
from sqlalchemy import Engine, case, exists, func, select, update
from sqlalchemy.dialects.postgresql import insert as upsert

from clara.adapters.postgres.engine import DatabaseUnavailableError, translated
from clara.adapters.postgres.schema import inbox, outbox, turns
from clara.adapters.postgres.search import storable
from clara.conversation.message import Incoming, Reply
from clara.conversation.ports import Case, Outgoing, StoredTurn, StoreUnavailableError

# How far a message has come. Callbacks arrive in any order: a message never goes back to an earlier state.
PROGRESS = ("pending", "sent", "queued", "sending", "delivered", "read", "undelivered", "failed")


class PostgresDesk:
    """Implements the conversation's Desk."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def case(self, inbox_id: int) -> Case | None:
        """Give the message and its conversation; None when it was erased."""
        with self._outages(), self._engine.connect() as connection:
            row = connection.execute(select(inbox).where(inbox.c.id == inbox_id)).one_or_none()
            if row is None:
                return None
            earlier = connection.scalar(
                select(turns.c.language).where(turns.c.pseudonym == row.pseudonym).order_by(turns.c.created_at.desc()).limit(1)
            )
        incoming = Incoming(row.message_sid, row.channel, row.sender, row.recipient, row.body, tuple(row.media_types))
        return Case(incoming, first_contact=earlier is None, previous_language=earlier)

    def answered(self, inbox_id: int) -> bool:
        """Whether a reply to this message was recorded."""
        with self._outages(), self._engine.connect() as connection:
            return bool(connection.scalar(select(exists().where(outbox.c.inbox_id == inbox_id))))

    def reply(self, inbox_id: int, reply: Reply) -> None:
        """Record the turn and the reply together; an earlier reply to the same message stays."""
        with self._outages(), self._engine.begin() as connection:
            made = connection.scalar(
                upsert(outbox)
                .values(inbox_id=inbox_id, body=storable(reply.text))
                .on_conflict_do_nothing()
                .returning(outbox.c.id)
            )
            if made is None:
                return
            name = select(inbox.c.pseudonym).where(inbox.c.id == inbox_id).scalar_subquery()
            connection.execute(
                upsert(turns)
                .values(
                    inbox_id=inbox_id,
                    pseudonym=name,
                    language=reply.language,
                    status=reply.status.value,
                    tier=reply.tier,
                    citations=[asdict(citation) for citation in reply.citations],
                    timings_ms=dict(reply.timings_ms),
                    trace=dict(reply.trace),
                    total_ms=reply.timings_ms.get("total", 0.0),
                )
                .on_conflict_do_nothing()
            )

    def turn(self, inbox_id: int) -> StoredTurn | None:
        """Give a recorded turn with the message that it answered; None when there is none."""
        wanted = (
            select(turns.c.status, turns.c.tier, turns.c.trace, inbox.c.body)
            .join(inbox, inbox.c.id == turns.c.inbox_id)
            .where(turns.c.inbox_id == inbox_id)
        )
        with self._outages(), self._engine.connect() as connection:
            row = connection.execute(wanted).one_or_none()
        return StoredTurn(row.status, row.tier, row.trace, row.body) if row else None

    def waiting(self, inbox_id: int) -> Outgoing | None:
        """Give the reply that still has to be sent."""
        wanted = (
            select(outbox.c.id, inbox.c.recipient, inbox.c.sender, outbox.c.body)
            .join(inbox, inbox.c.id == outbox.c.inbox_id)
            .where(outbox.c.inbox_id == inbox_id, outbox.c.status == "pending")
        )
        with self._outages(), self._engine.connect() as connection:
            row = connection.execute(wanted).one_or_none()
        return Outgoing(row.id, sender=row.recipient, recipient=row.sender, text=row.body) if row else None

    def sent(self, outgoing: Outgoing, provider_sid: str | None) -> None:
        """Record that the channel took the reply; a report that was faster keeps its status."""
        taken = case((outbox.c.status == "pending", "sent"), else_=outbox.c.status)
        self._update(outgoing, status=taken, provider_sid=provider_sid)

    def refused(self, outgoing: Outgoing, code: str) -> None:
        """Record that the channel will never take the reply."""
        self._update(outgoing, status="failed", error_code=code)

    def delivery(self, outgoing_id: int, status: str, error_code: str | None) -> bool:
        """Take a status callback: the row moves forward or stays; False when there is no such reply."""
        if status not in PROGRESS:
            return False
        order = func.array_position(list(PROGRESS), outbox.c.status)
        forward = func.array_position(list(PROGRESS), status)
        known = outbox.c.id == outgoing_id
        values = {"status": status, "error_code": error_code, "updated_at": func.now()}
        with self._outages(), self._engine.begin() as connection:
            connection.execute(update(outbox).where(known, order < forward).values(values))
            return bool(connection.scalar(select(exists().where(known))))

    def _update(self, outgoing: Outgoing, **values: str | SqlCase[str] | None) -> None:
        with self._outages(), self._engine.begin() as connection:
            connection.execute(update(outbox).where(outbox.c.id == outgoing.id).values(updated_at=func.now(), **values))

    @contextmanager
    def _outages(self) -> Iterator[None]:
        try:
            with translated():
                yield
        except DatabaseUnavailableError as error:
            raise StoreUnavailableError(str(error)) from error
