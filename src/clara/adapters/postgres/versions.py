"""Which state of a corpus a result belongs to, and whose vectors it is searched by."""

import time
from collections.abc import Callable
from threading import Lock
from typing import LiteralString

import psycopg

from clara.adapters.postgres.engine import plain_url

# A remembered result is of no use when asking whether it still holds takes longer than a search.
OPTIONS = "-c statement_timeout=1s"
CONNECT_SECONDS = 2
# For so long a database that did not answer is not asked again: its corpora count as unknown, and nothing remembered is given.
SKIP_SECONDS = 2.0
VERSION = "select version from corpora where name = %s"
MODEL = "select model from corpora where name = %s"


class CorpusVersions:
    """Reads the version of a corpus, which grows with every change of its passages or of its model, whoever makes it.

    Keeps one connection of its own, outside transactions: a version costs one exchange (through the pool it took four).
    """

    def __init__(self, url: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._url = plain_url(url)
        self._clock = clock
        self._lock = Lock()
        self._connection: psycopg.Connection | None = None
        self._again_at = 0.0

    def current(self, corpus: str) -> str | None:
        """Give the version; None for an unknown corpus and while the database is away: then nothing may be called current."""
        return self._read(VERSION, corpus)

    def model(self, corpus: str) -> str | None:
        """Give the model that the corpus is searched by; None for a corpus without one and while the database is away."""
        return self._read(MODEL, corpus)

    def _read(self, statement: LiteralString, corpus: str) -> str | None:
        with self._lock:
            if self._clock() < self._again_at:
                return None
            try:
                row = self._opened().execute(statement, [corpus.replace("\x00", " ")], prepare=True).fetchone()
            except (psycopg.Error, UnicodeEncodeError):
                self._close()
                self._again_at = self._clock() + SKIP_SECONDS
                return None
        return None if row is None or row[0] is None else str(row[0])

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
