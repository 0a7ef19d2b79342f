"""What is kept of people's use: counts and choices of who asks about themselves, and how answers are rated."""

from collections import defaultdict
from typing import Final

from sqlalchemy import Engine, text

from clara.adapters.postgres.connections import translated
from clara.adapters.postgres.delivery.turn_store import RATEABLE
from clara.answering.dialogue.feedback import Rated, Satisfaction
from clara.answering.privacy.rights import Known
from clara.delivery.ports import StoreUnavailableError

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
        with translated(StoreUnavailableError), self._engine.connect() as connection:
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


# What groups an answer; one without a procedure or tier is counted under "none", so that each kind adds up to the total.
KINDS: Final = ("procedure", "language", "tier")
COUNTS: Final = text("""
with answers as (
    select
        coalesce(turns.citations -> 0 ->> 'document_id', 'none') as procedure,
        turns.language,
        coalesce(turns.tier, 'none') as tier,
        rating
    from turns left join feedback on turn_id = turns.inbox_id
    where status = any (cast(:rateable as text[])) and turns.created_at > now() - make_interval(days => :days)
)
select
    procedure, language, tier, grouping(procedure, language, tier) as level,
    count(*) as answers,
    count(*) filter (where rating = 'helpful') as helpful,
    count(*) filter (where rating = 'unhelpful') as unhelpful,
    count(*) filter (where rating = 'wrong') as wrong
from answers
group by grouping sets ((), (procedure), (language), (tier))
order by answers desc, procedure, language, tier
""")
# grouping() sets the bit of each column that a row is not grouped by, the last column's first.
_LEVELS: Final = {0b011: "procedure", 0b101: "language", 0b110: "tier"}


class PostgresSatisfaction:
    """Reads how answers were rated. Raises StoreUnavailableError."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def of_last(self, days: int) -> Satisfaction:
        """Count the answers of the last so many days, and what was said of them."""
        with translated(StoreUnavailableError), self._engine.connect() as connection:
            rows = connection.execute(COUNTS, {"days": days, "rateable": list(RATEABLE)}).all()
        total = Rated()
        by: dict[str, dict[str, Rated]] = defaultdict(dict)
        for row in rows:
            rated = Rated(row.answers, row.helpful, row.unhelpful, row.wrong)
            if kind := _LEVELS.get(row.level):
                by[kind][getattr(row, kind)] = rated
            else:
                total = rated
        return Satisfaction(days, total, {kind: by[kind] for kind in KINDS})
