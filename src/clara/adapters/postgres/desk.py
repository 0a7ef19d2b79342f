"""Each message's turn: the case as it was stored, the parts waiting to go out, and what became of them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any, Final

import structlog
from sqlalchemy import Engine, Row, exists, func, insert, select, text, update
from sqlalchemy import case as when
from sqlalchemy.dialects.postgresql import insert as upsert

from clara.adapters.postgres.engine import DatabaseUnavailableError, translated
from clara.adapters.postgres.schema import inbox, outbox, turns
from clara.adapters.postgres.search import storable
from clara.conversation.message import Reply
from clara.delivery.address import open_address
from clara.delivery.message import Case, Incoming, Limit, Outgoing, StoredTurn
from clara.delivery.ports import Sealer, StoreUnavailableError, SupersededError, UnsealableError
from clara.delivery.turns import WINDOW_SECONDS

# A message that broke its worker so often is answered the safe way, and a person should look at it.
SET_ASIDE_AFTER: Final = 2
# A reply that WhatsApp refused for its rate is sent again after so long; twice and four times as long the next times.
RESEND_AFTER_SECONDS: Final = 15.0
ERASED: Final = "erased"
BEGIN: Final = text("""
with begun as (
    update inbox set
        fence = fence + 1,
        tries = tries + (not exists (select from outbox where inbox_id = inbox.id))::int,
        set_aside_at = case
            when tries >= :often and not exists (select from outbox where inbox_id = inbox.id)
            then coalesce(set_aside_at, now()) else set_aside_at
        end
    where id = :id and pseudonym <> ''  -- an erased message keeps its row, so that it cannot come again
    returning *
)
select begun.*, exists (select from outbox where inbox_id = begun.id) as answered,
    extract(epoch from clock_timestamp() - received_at)::float as age,
    (select language from turns where turns.pseudonym = begun.pseudonym and inbox_id <> begun.id
        order by turns.created_at desc limit 1) as earlier
from begun
""")
UNRECORDED: Final = text("""
select sid from unnest(cast(:sids as text[])) with ordinality as given (sid, place)
where not exists (select from outbox where provider_sid = sid)
    and not exists (
        select from outbox given_up join inbox held on held.id = given_up.inbox_id
        where sid = any (superseded_sids)
            and held.pseudonym = (select pseudonym from inbox join outbox on inbox.id = inbox_id where outbox.id = :id)
    )
order by place
""")
log = structlog.get_logger()


@contextmanager
def outages() -> Iterator[None]:
    """Turn the absence of the database into delivery's own error."""
    try:
        with translated():
            yield
    except DatabaseUnavailableError as error:
        raise StoreUnavailableError(str(error)) from error


class PostgresDesk:
    """Implements delivery's Desk."""

    def __init__(self, engine: Engine, sealer: Sealer) -> None:
        self._engine = engine
        self._sealer = sealer

    def begin(self, inbox_id: int) -> Case | None:
        """Begin the turn under a new fence; None when the message was erased."""
        with outages(), self._engine.begin() as connection:
            row = connection.execute(BEGIN, {"id": inbox_id, "often": SET_ASIDE_AFTER}).one_or_none()
        if row is None:
            return None
        return Case(
            inbox_id=inbox_id,
            fence=row.fence,
            incoming=Incoming(row.message_sid, row.channel, "", "", row.body, tuple(row.media_types), row.received_at),
            pseudonym=row.pseudonym,
            first_contact=row.earlier is None,
            previous_language=row.earlier,
            tries=row.tries if row.answered else row.tries - 1,
            answered=row.answered,
            limit=Limit(row.over_limit) if row.over_limit else None,
            age=row.age,
        )

    def reply(self, case: Case, reply: Reply, parts: Sequence[str]) -> None:
        """Record the turn and its parts together; an earlier reply stays. Raises SupersededError when it was begun again."""
        held = select(inbox.c.fence).where(inbox.c.id == case.inbox_id).with_for_update()
        with outages(), self._engine.begin() as connection:
            if connection.scalar(held) != case.fence:
                raise SupersededError
            if connection.scalar(select(exists().where(outbox.c.inbox_id == case.inbox_id))):
                return  # recorded while this turn began: parts of two replies must not mix
            rows = [{"inbox_id": case.inbox_id, "part": part, "body": storable(body)} for part, body in enumerate(parts)]
            connection.execute(insert(outbox), rows)
            turn = {
                "inbox_id": case.inbox_id,
                "pseudonym": case.pseudonym,
                "language": reply.language,
                "status": reply.status.value,
                "tier": reply.tier,
                "citations": [asdict(citation) for citation in reply.citations],
                "timings_ms": dict(reply.timings_ms),
                "trace": dict(reply.trace),
                "total_ms": reply.timings_ms.get("total", 0.0),
            }
            connection.execute(upsert(turns).values(turn).on_conflict_do_nothing())

    def turn(self, inbox_id: int) -> StoredTurn | None:
        """Give a recorded turn with the message that it answered; None when there is none."""
        wanted = (
            select(turns.c.status, turns.c.tier, turns.c.trace, inbox.c.body)
            .join(inbox, inbox.c.id == turns.c.inbox_id)
            .where(turns.c.inbox_id == inbox_id)
        )
        with outages(), self._engine.connect() as connection:
            row = connection.execute(wanted).one_or_none()
        return StoredTurn(row.status, row.tier, row.trace, row.body) if row else None

    def waiting(self, case: Case) -> Sequence[Outgoing]:
        """Give the parts that still have to be sent, in order. Raises UnsealableError when the address cannot be read."""
        uncertain_for = func.extract("epoch", func.clock_timestamp() - outbox.c.attempted_at).label("uncertain_for")
        settled_for = func.extract("epoch", func.clock_timestamp() - outbox.c.updated_at).label("settled_for")
        wanted = (
            select(outbox, uncertain_for, settled_for, inbox.c.message_sid, inbox.c.address, inbox.c.sender, inbox.c.recipient)
            .join(inbox, inbox.c.id == outbox.c.inbox_id)
            .where(outbox.c.inbox_id == case.inbox_id, outbox.c.status == "pending")
            .order_by(outbox.c.part)
        )
        with outages(), self._engine.connect() as connection:
            rows = connection.execute(wanted).all()
        return [self._outgoing(row, case) for row in rows]

    def _outgoing(self, row: Row[Any], case: Case) -> Outgoing:
        try:
            person, ours = self._ends(row)
        except UnsealableError:
            if case.age <= WINDOW_SECONDS:  # the right key may come back; its sender's later messages wait as well
                raise
            return Outgoing(row.id, ERASED, ERASED, row.body, row.part, row.attempts)
        since = None if row.uncertain_for is None else float(row.uncertain_for)
        hold = RESEND_AFTER_SECONDS * 2 ** (row.resends - 1) - float(row.settled_for) if row.resends else 0.0
        return Outgoing(row.id, ours, person, row.body, row.part, row.attempts, since, max(hold, 0.0))

    def _ends(self, row: Row[Any]) -> tuple[str, str]:
        if row.address is not None:
            return open_address(bytes(row.address), row.message_sid, self._sealer)
        return row.sender or ERASED, row.recipient or ERASED  # the previous release wrote it, and no worker has sealed it yet

    def claim(self, case: Case, outgoing: Outgoing) -> None:
        """Record that a try to send begins now. Raises SupersededError when somebody else did that, or settled the part."""
        claimed = (
            update(outbox)
            .where(outbox.c.id == outgoing.id, outbox.c.status == "pending", outbox.c.attempts == outgoing.attempts)
            .where(inbox.c.id == outbox.c.inbox_id, inbox.c.fence == case.fence)
            .values(attempts=outgoing.attempts + 1, attempted_at=func.clock_timestamp(), updated_at=func.now())
        )
        with outages(), self._engine.begin() as connection:
            if not connection.execute(claimed).rowcount:
                raise SupersededError

    def unclaim(self, outgoing: Outgoing) -> None:
        """Record that the try that was claimed did not reach the channel."""
        given_back = (
            update(outbox)
            .where(outbox.c.id == outgoing.id, outbox.c.status == "pending", outbox.c.attempts == outgoing.attempts + 1)
            .values(attempted_at=None, updated_at=func.now())
        )
        with outages(), self._engine.begin() as connection:
            connection.execute(given_back)

    def sent(self, outgoing: Outgoing, provider_sid: str | None) -> None:
        """Record that the channel took the part; a report that was faster keeps its status."""
        same = outbox.c.provider_sid.is_(None) | (outbox.c.provider_sid == provider_sid)
        fresh = func.coalesce(provider_sid, "") != func.all(outbox.c.superseded_sids)
        taken = (
            update(outbox)
            .where(outbox.c.id == outgoing.id, same, fresh)
            .values(
                status=when((outbox.c.status == "pending", "sent"), else_=outbox.c.status),
                provider_sid=func.coalesce(outbox.c.provider_sid, provider_sid),
                attempted_at=None,
                updated_at=func.now(),
            )
        )
        with outages(), self._engine.begin() as connection:
            if not connection.execute(taken).rowcount:
                log.warning("send not recorded", reason="the part is recorded under another id, or was erased")

    def refused(self, outgoing: Outgoing, code: str) -> None:
        """Record that the channel will never take the part."""
        final = {"status": "failed", "error_code": code, "attempted_at": None, "updated_at": func.now()}
        ours = outbox.c.attempts <= outgoing.attempts + 1  # somebody else's later try may succeed
        pending = update(outbox).where(outbox.c.id == outgoing.id, outbox.c.status == "pending", ours)
        with outages(), self._engine.begin() as connection:
            connection.execute(pending.values(final))

    def unrecorded(self, outgoing: Outgoing, sids: Sequence[str]) -> Sequence[str]:
        """Give those of the channel's ids that no reply is recorded under, in the same order."""
        if not sids:
            return ()
        with outages(), self._engine.connect() as connection:
            return connection.scalars(UNRECORDED, {"sids": list(sids), "id": outgoing.id}).all()
