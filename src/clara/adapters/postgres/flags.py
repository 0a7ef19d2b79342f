"""The facts that a change of their source may have made wrong, so that answers say so."""

import time
from collections.abc import Callable, Mapping
from threading import Lock
from typing import Final, LiteralString

from clara.adapters.postgres.exchanges import Exchanges

# A warning that comes so much later than the finding is in time, and a question in ten pays for the look.
LOOK_SECONDS: Final = 5.0
# What was accepted warns until the corrected fact is served.
FLAGGED: LiteralString = """
select t.fact_id, to_char(max(f.found_at) at time zone 'Europe/Madrid', 'YYYY-MM-DD')
  from findings f
  join finding_facts t on t.finding_id = f.id
 where f.weight = 'substantive'
   and (f.state = 'open'
        or f.state = 'accepted' and exists (
               select from revisions r
                where r.finding_id = f.id and r.fact_id = t.fact_id and r.publication_id is null and r.withdrawn_at is null))
 group by t.fact_id"""


class PostgresFlags:
    """Knows the facts with an open finding; while the database is away those that were known last."""

    def __init__(self, url: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._exchanges = Exchanges(url, clock)
        self._clock = clock
        self._lock = Lock()
        self._known: Mapping[str, str] = {}
        self._again_at = float("-inf")

    def current(self) -> Mapping[str, str]:
        """Give the day on which each fact was found to be in doubt, by fact id."""
        with self._lock:
            if self._clock() >= self._again_at:
                rows = self._exchanges.rows(FLAGGED)
                self._known = self._known if rows is None else dict(rows)
                self._again_at = self._clock() + LOOK_SECONDS
            return self._known

    def close(self) -> None:
        """Give the connection back; the next look opens another."""
        self._exchanges.close()
