"""What is kept of a person, for who asks about themselves: counts, days and choices, never the words."""

from typing import Final

from sqlalchemy import Engine, text

from clara.adapters.postgres.desk import outages
from clara.conversation.people.rights import Known

# The message that asks is not counted: it has no turn yet. The most spoken language comes first.
KNOWN: Final = text("""
with own as (
    select inbox.body, turns.language, (turns.created_at at time zone 'Europe/Madrid')::date as day
    from turns join inbox on inbox.id = turns.inbox_id
    where turns.pseudonym = :pseudonym
)
select
    count(*) as messages,
    count(body) as texts,
    min(day) as first_on,
    max(day) as last_on,
    array(select language from own group by language order by count(*) desc, language) as languages,
    (select count(*) from feedback join turns on turns.inbox_id = turn_id where pseudonym = :pseudonym) as ratings,
    (select memory from consents where pseudonym = :pseudonym) as memory
from own
""")


class PostgresPeople:
    """Reads what is kept under a pseudonym. Raises StoreUnavailableError."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def known(self, pseudonym: str) -> Known:
        """Give what is kept of a person, before the message whose turn it is."""
        with outages(), self._engine.connect() as connection:
            row = connection.execute(KNOWN, {"pseudonym": pseudonym}).one()
        return Known(
            messages=row.messages,
            texts=row.texts,
            first_on=row.first_on,
            last_on=row.last_on,
            languages=tuple(row.languages),
            ratings=row.ratings,
            memory=row.memory is not False,
            chosen=row.memory is not None,
        )
