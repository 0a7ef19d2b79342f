"""The facts that a change of their source may have made wrong, so that answers say so."""

import time
from collections.abc import Callable, Mapping
from threading import Lock
from typing import Final, LiteralString

from clara.adapters.postgres.exchanges import Exchanges

# A warning that comes so much later than the finding is in time, and a question in ten pays for the look.
LOOK_SECONDS: Final = 5.0
# An accepted finding goes on warning of a fact until that is held to be true, or its correction is served.
OPEN_FLAGS: LiteralString = """
select fact_id, to_char(max(found_at) at time zone 'Europe/Madrid', 'YYYY-MM-DD')
  from facts_in_doubt group by fact_id"""


class PostgresFlags:
    """Knows the facts that a finding puts in doubt; while the database is away those that were known last."""

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
                rows = self._exchanges.rows(OPEN_FLAGS)
                self._known = self._known if rows is None else dict(rows)
                self._again_at = self._clock() + LOOK_SECONDS
            return self._known

    def close(self) -> None:
        """Give the connection back; the next look opens another."""
        self._exchanges.close()
