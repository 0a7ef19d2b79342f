"""How people rate answers: the ratings against the answers that could be rated, by procedure, language and tier."""

from collections import defaultdict
from typing import Final

from sqlalchemy import Engine, text

from clara.adapters.postgres.desk import RATEABLE, outages
from clara.conversation.people.feedback import Rated, Satisfaction

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
        with outages(), self._engine.connect() as connection:
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
