"""What is kept of people's use: counts and choices of who asks about themselves, and how answers are rated."""

from collections import defaultdict
from typing import Final

from sqlalchemy import Engine

from clara.adapters.postgres.delivery.turn_store import RATEABLE
from clara.adapters.postgres.statements import AtOnce
from clara.answering.dialogue.feedback import Rated, Satisfaction
from clara.answering.privacy.rights import Known
from clara.delivery.ports import StoreUnavailableError


class PostgresPeople:
    """Reads what is kept under a pseudonym. Raises StoreUnavailableError."""

    def __init__(self, engine: Engine) -> None:
        self._at_once = AtOnce(engine, StoreUnavailableError)

    def known(self, pseudonym: str) -> Known:
        """Give what is kept of a person, before the message whose turn it is."""
        return self._at_once.read(Known, "people.known", pseudonym=pseudonym)[0]


# What groups an answer; one without a procedure or tier is counted under "none", so that each kind adds up to the total.
KINDS: Final = ("procedure", "language", "tier")
# grouping() sets the bit of each column that a row is not grouped by, the last column's first.
_LEVELS: Final = {0b011: "procedure", 0b101: "language", 0b110: "tier"}


class PostgresSatisfaction:
    """Reads how answers were rated. Raises StoreUnavailableError."""

    def __init__(self, engine: Engine) -> None:
        self._at_once = AtOnce(engine, StoreUnavailableError)

    def of_last(self, days: int) -> Satisfaction:
        """Count the answers of the last so many days, and what was said of them."""
        rows = self._at_once.rows("people.counts", days=days, rateable=list(RATEABLE))
        total = Rated()
        by: dict[str, dict[str, Rated]] = defaultdict(dict)
        for row in rows:
            rated = Rated(row.answers, row.helpful, row.unhelpful, row.wrong)
            if kind := _LEVELS.get(row.level):
                by[kind][getattr(row, kind)] = rated
            else:
                total = rated
        return Satisfaction(days, total, {kind: by[kind] for kind in KINDS})
