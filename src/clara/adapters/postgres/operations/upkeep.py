"""What must be done regularly, whoever does it: all of it may run at the same time in several processes."""

from typing import Any, Final

import structlog
from sqlalchemy import Connection, Engine, func, select, text, update

from clara.adapters.postgres.connections import DatabaseUnavailableError, translated
from clara.adapters.postgres.delivery.inbox import Schedule
from clara.adapters.postgres.delivery.turn_store import lock_of
from clara.adapters.postgres.delivery.usage import purge
from clara.adapters.postgres.operations.retention import forget_figures, forget_texts, settle_receipts
from clara.adapters.postgres.schema import inbox
from clara.delivery.message import Incoming
from clara.delivery.ports import Sealer, StoreUnavailableError
from clara.delivery.records import seal_address

# An address is needed while something may still be sent to it. A day after the last delivery the window for free text has
# closed, and with it the need. The addresses of voice notes, which the channel keeps, go with it; of a message over a limit,
# that nobody answered, everything.
FORGET_ADDRESSES: Final = text("""
update inbox set
    address = null, sender = null, recipient = null, recordings = '{}',
    body = case when exists (select from outbox where inbox_id = inbox.id) then body end,
    pseudonym = case when exists (select from outbox where inbox_id = inbox.id) then pseudonym else '' end
where id in (
    select id from inbox held
    where (address is not null or sender is not null)
        and created_at < now() - interval '24 hours'
        and not exists (
            select from outbox where inbox_id = held.id and (status = 'pending' or updated_at > now() - interval '24 hours')
        )
        and (over_limit is not null or exists (select from outbox where inbox_id = held.id))
    for update skip locked
)
""")
# The previous release's workers can send to an address in clear only, so it stays in clear while one of them may take the
# turn. The queue is the one that they serve.
PLAIN: Final = text("""
select id, message_sid, channel, sender, recipient from inbox
where sender is not null
    and not exists (
        select from procrastinate_jobs job
        where job.queue_name = 'turns' and job.status in ('todo', 'doing') and (job.args ->> 'inbox_id')::bigint = inbox.id
    )
limit 500 for update of inbox skip locked
""")
# A message whose job is gone, or has failed for good, though something is left to do. None is known to get here; the
# claim that nothing is lost should not hang on the job table alone.
WITHOUT_JOB: Final = text("""
select id, pseudonym from inbox
where (address is not null or sender is not null)
    and pseudonym <> ''
    and created_at < now() - interval '1 minute'
    and (over_limit is null or exists (select from outbox where inbox_id = inbox.id))
    and (
        not exists (select from outbox where inbox_id = inbox.id)
        or exists (select from outbox where inbox_id = inbox.id and status = 'pending')
    )
    and not exists (
        select from procrastinate_jobs job
        where job.status in ('todo', 'doing') and job.lock in (inbox.pseudonym, 'emergency:' || inbox.pseudonym)
            and (job.args ->> 'inbox_id')::bigint = inbox.id
    )
order by id limit 500 for update skip locked
""")
# The receipt of an erasure has no name any more, while the job that it had from before is still locked by one.
RECEIPT_WITHOUT_JOB: Final = text("""
select id, pseudonym from inbox
where pseudonym = '' and (address is not null or sender is not null)
    and exists (
        select from outbox where inbox_id = inbox.id and status = 'pending' and created_at < now() - interval '1 minute'
    )
    and not exists (
        select from procrastinate_jobs job
        where job.status in ('todo', 'doing') and (job.args ->> 'inbox_id')::bigint = inbox.id
    )
order by id limit 500 for update skip locked
""")
# Any constant: one process reschedules at a time, because another one would not see the first one's jobs yet.
RESCHEDULING: Final = 5_305_002
log = structlog.get_logger()


def forget_addresses(connection: Connection) -> int:
    """Forget the addresses that are not needed any more; give how many."""
    return connection.execute(FORGET_ADDRESSES).rowcount


FORGETTING: Final = (forget_addresses, settle_receipts, forget_texts, forget_figures)


class PostgresUpkeep:
    """Seals what the previous release left in clear, finds messages that nobody would answer, forgets what has had its time."""

    def __init__(self, engine: Engine, sealer: Sealer, schedule: Schedule) -> None:
        self._engine = engine
        self._sealer = sealer
        self._schedule = schedule

    def run(self) -> None:
        """Do everything once; an outage is logged and left to the next time."""
        try:
            with translated():
                for step in (self.seal_plain, self.reschedule, *FORGETTING):
                    with self._engine.begin() as connection:
                        step(connection)
            purge(self._engine)
        except (DatabaseUnavailableError, StoreUnavailableError) as error:
            log.warning("upkeep put off", error=str(error))

    def seal_plain(self, connection: Connection) -> int:
        """Seal addresses in clear that no worker of the previous release can need; give how many, at most 500 at once."""
        rows = connection.execute(PLAIN).all()
        for row in rows:
            ends = Incoming(row.message_sid, row.channel, row.sender, row.recipient or "", None)
            sealed: dict[str, Any] = {"address": seal_address(ends, self._sealer), "sender": None, "recipient": None}
            connection.execute(update(inbox).where(inbox.c.id == row.id).values(sealed))
        return len(rows)

    def reschedule(self, connection: Connection) -> int:
        """Schedule what waits without a job; give how many."""
        if not connection.scalar(select(func.pg_try_advisory_xact_lock(RESCHEDULING))):
            return 0
        rows = [*connection.execute(WITHOUT_JOB), *connection.execute(RECEIPT_WITHOUT_JOB)]
        for row in rows:
            self._schedule(connection.connection.driver_connection, row.id, lock_of(row.id, row.pseudonym))
        if rows:
            log.error("messages found that had no job", count=len(rows))
        return len(rows)
