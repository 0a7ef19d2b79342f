"""What an operator sees of the messages on their way."""

from typing import Final

from sqlalchemy import Engine, text

from clara.adapters.postgres.connections import translated
from clara.delivery.overview import DeliveryStatus, SetAside
from clara.delivery.ports import StoreUnavailableError

# Whatever is not answered still has its address, and the index of addresses holds little more than the last day.
STATUS: Final = text("""
with unanswered as (
    select created_at from inbox
    where (address is not null or sender is not null) and over_limit is null
        and not exists (select from outbox where inbox_id = inbox.id)
)
select
    (select count(*) from unanswered) as unanswered,
    (select coalesce(max(extract(epoch from now() - created_at)), 0)::float from unanswered) as unanswered_for,
    (select count(*) from outbox where status = 'pending') as unsent,
    (select count(*) from outbox where status = 'pending' and attempted_at is not null) as uncertain,
    (select count(*) from outbox
        where status in ('failed', 'undelivered') and updated_at > now() - interval '1 day') as refused,
    (select count(*) from inbox where over_limit is not null and created_at > now() - interval '1 day') as over_limit,
    (select count(*) from inbox where set_aside_at is not null and looked_at is null) as set_aside
""")
ASIDE: Final = text("""
select inbox.id, set_aside_at, tries, body, turns.status,
    (select string_agg(distinct status, ', ') from outbox where inbox_id = inbox.id) as delivery
from inbox left join turns on turns.inbox_id = inbox.id
where set_aside_at is not null and looked_at is null order by set_aside_at
""")
LOOKED_AT: Final = text("update inbox set looked_at = now() where id = :id and set_aside_at is not null and looked_at is null")


class PostgresOverview:
    """Reads how delivery stands. Raises StoreUnavailableError."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def status(self) -> DeliveryStatus:
        """Count what is on its way."""
        with translated(StoreUnavailableError), self._engine.connect() as connection:
            return DeliveryStatus(**connection.execute(STATUS).mappings().one())

    def set_aside(self) -> list[SetAside]:
        """Give the messages that a person should look at, the oldest first."""
        with translated(StoreUnavailableError), self._engine.connect() as connection:
            return [SetAside(*row) for row in connection.execute(ASIDE)]

    def looked_at(self, inbox_id: int) -> bool:
        """Record that a person has looked at it; False when there was no such message."""
        with translated(StoreUnavailableError), self._engine.begin() as connection:
            return bool(connection.execute(LOOKED_AT, {"id": inbox_id}).rowcount)


def ask(engine: Engine) -> None:
    """Ask the database for nothing, to see whether it answers. Raises StoreUnavailableError."""
    with translated(StoreUnavailableError), engine.connect() as connection:
        connection.execute(text("select 1"))
