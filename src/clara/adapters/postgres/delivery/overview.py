"""What is read of messages and of who wrote them: how delivery stands, what is kept of a person, how answers are rated."""

from collections import defaultdict
from typing import Final

from sqlalchemy import Engine

from clara.adapters.postgres.delivery.turn_store import RATEABLE
from clara.adapters.postgres.statements import AtOnce, Store
from clara.answering.privacy.rights import Known, Rated, Satisfaction
from clara.delivery.overview import DeliveryStatus, SetAside
from clara.delivery.ports import StoreUnavailableError

# What groups an answer; one without a procedure or tier is counted under "none", so that each kind adds up to the total.
KINDS: Final = ("procedure", "language", "tier")
# grouping() sets the bit of each column that a row is not grouped by, the last column's first.
_LEVELS: Final = {0b011: "procedure", 0b101: "language", 0b110: "tier"}


class PostgresOverview(Store):
    """Reads how delivery stands, and what is kept under a pseudonym. Raises StoreUnavailableError."""

    unavailable = StoreUnavailableError

    def status(self) -> DeliveryStatus:
        """Count what is on its way."""
        return self._at_once.read(DeliveryStatus, "overview.status")[0]

    def set_aside(self) -> list[SetAside]:
        """Give the messages that a person should look at, the oldest first."""
        return self._at_once.read(SetAside, "overview.aside")

    def looked_at(self, inbox_id: int) -> bool:
        """Record that a person has looked at it; False when there was no such message."""
        return bool(self._at_once.changed("overview.looked_at", id=inbox_id))

    def known(self, pseudonym: str) -> Known:
        """Give what is kept of a person, before the message whose turn it is."""
        return self._at_once.read(Known, "people.known", pseudonym=pseudonym)[0]

    def satisfaction(self, days: int) -> Satisfaction:
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


def ask(engine: Engine) -> None:
    """Ask the database for nothing, to see whether it answers. Raises StoreUnavailableError."""
    AtOnce(engine, StoreUnavailableError).row("overview.nothing")
