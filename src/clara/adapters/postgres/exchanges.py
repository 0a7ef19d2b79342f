"""A question to the database that must cost nearly nothing, and may fail: one connection, one exchange, no waiting."""

import time
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any, LiteralString

import psycopg

from clara.adapters.postgres.engine import plain_url

# What is asked so is of no use when asking takes longer than a search.
OPTIONS = "-c statement_timeout=1s"
CONNECT_SECONDS = 2
# For so long a database that did not answer is not asked again.
SKIP_SECONDS = 2.0


class Exchanges:
    """Keeps one connection of its own, outside transactions: a question costs one exchange (through the pool it took four)."""

    def __init__(self, url: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._url = plain_url(url)
        self._clock = clock
        self._lock = Lock()
        self._connection: psycopg.Connection | None = None
        self._again_at = 0.0

    def rows(self, statement: LiteralString, values: Sequence[object] = ()) -> list[tuple[Any, ...]] | None:
        """Give the rows; None while the database is away."""
        with self._lock:
            if self._clock() < self._again_at:
                return None
            try:
                return self._opened().execute(statement, values, prepare=True).fetchall()
            except (psycopg.Error, UnicodeEncodeError):
                self._close()
                self._again_at = self._clock() + SKIP_SECONDS
                return None

    def close(self) -> None:
        """Give the connection back; the next question opens another."""
        with self._lock:
            self._close()

    def _opened(self) -> psycopg.Connection:
        if self._connection is None:
            self._connection = psycopg.connect(
                self._url, autocommit=True, connect_timeout=CONNECT_SECONDS, options=OPTIONS, application_name="clara versions"
            )
        return self._connection

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
