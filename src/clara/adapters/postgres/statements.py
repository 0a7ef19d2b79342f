"""Named statements of `sql/` for the driver: each by itself, several in one transaction, or in a session of their own.

A statement is named by its file, or by its file and its own name: `turn.begin` stands in `turn.sql` behind `-- name: begin`.
"""

import re
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from functools import cache
from importlib.resources import files
from threading import Lock
from typing import Any, Final, TypeAlias, TypeVar, cast

import psycopg
from psycopg.pq import TransactionStatus
from psycopg.rows import namedtuple_row
from psycopg.types.json import Jsonb
from sqlalchemy import Engine

from clara.adapters.postgres.connections import plain_url, translated

# A named tuple. What its columns are is the statement's.
Row: TypeAlias = Any
Value = TypeVar("Value")
# A value in a statement, `:name`; not a cast, `::name`.
_VALUE: Final = re.compile(r"(?<![:\w]):(\w+)(?!:)")


@cache
def source(name: str) -> str:
    """Give a statement without what is there for its readers: lines of comment and indentation.

    The driver remembers how it read a statement of up to 4,096 bytes (psycopg 3.3, `MAX_CACHED_STATEMENT_LENGTH`); a longer one
    it cuts up again each time, which took an eighth of the web process's time while `accept_message` was one of them.
    """
    file, _, part = name.partition(".")
    text = (files(__package__) / "sql" / f"{file}.sql").read_text(encoding="utf-8")
    if part:
        text = text.partition(f"-- name: {part}\n")[2].partition("-- name: ")[0]
    return "\n".join(line for line in map(str.strip, text.splitlines()) if line and not line.startswith("--"))


@cache
def _for_driver(name: str) -> bytes:
    return _VALUE.sub(r"%(\1)s", source(name).replace("%", "%%")).encode()


class Statements(ABC):
    """What is asked by name. Mappings are handed in as jsonb."""

    @abstractmethod
    def _cursor(self) -> AbstractContextManager[psycopg.Cursor[Row]]:
        """Give what statements are run on."""

    def rows(self, name: str, /, **values: Any) -> list[Row]:  # noqa: ANN401  whatever the driver takes
        """Give what the statement gives, each row with its columns as attributes."""
        with self._cursor() as cursor:
            return cursor.execute(_for_driver(name), _adapted(values)).fetchall()

    def row(self, name: str, /, **values: Any) -> Row:  # noqa: ANN401
        """Give the only row; None without one."""
        return next(iter(self.rows(name, **values)), None)

    def value(self, name: str, /, **values: Any) -> Any:  # noqa: ANN401
        """Give the first column of the only row; None without one."""
        row = self.row(name, **values)
        return None if row is None else row[0]

    def read(self, kind: Callable[..., Value], name: str, /, **values: Any) -> list[Value]:  # noqa: ANN401
        """Make a value of each row, whose columns are named as its fields; arrays become tuples."""
        return [made(kind, row) for row in self.rows(name, **values)]

    def changed(self, name: str, /, **values: Any) -> int:  # noqa: ANN401
        """Give how many rows the statement changed."""
        with self._cursor() as cursor:
            return cursor.execute(_for_driver(name), _adapted(values)).rowcount


def made(kind: Callable[..., Value], row: Row, **more: object) -> Value:
    """Make a value of a row, whose columns are named as its fields, and of `more`; arrays become tuples."""
    fields = {name: tuple(value) if isinstance(value, list) else value for name, value in row._asdict().items()}
    return kind(**fields | more)


def _adapted(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: Jsonb(dict(value)) if isinstance(value, Mapping) else value for name, value in values.items()}


class Transaction(Statements):
    """Runs statements on the driver's connection, inside its transaction."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self.connection = connection

    def streamed(self, name: str, at_once: int) -> Iterator[Row]:
        """Give the rows as they are asked for, so many in a trip: however many there are, these are held."""
        with self.connection.cursor("streamed", row_factory=namedtuple_row) as cursor:
            cursor.itersize = at_once
            yield from cursor.execute(_for_driver(name), {})

    def _cursor(self) -> AbstractContextManager[psycopg.Cursor[Row]]:
        return self.connection.cursor(row_factory=namedtuple_row)


class AtOnce(Statements):
    """Runs named statements on an engine's connections, each in one trip and a transaction of its own.

    SQLAlchemy composes, converts and remembers what these statements do not need: a row of two values takes .24 ms of processor
    time by its `Connection`, .09 by its pool alone, .04 by the driver (medians of three rounds of 2,000, one thread). An outage
    is raised as `unavailable`; without one the driver's errors come through.
    """

    def __init__(self, engine: Engine, unavailable: Callable[[str], Exception] | None = None) -> None:
        self._engine = engine
        self._unavailable = unavailable

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """Run several statements together, or none of them."""
        with self._told(), self._lent() as connection, connection.transaction():
            yield Transaction(connection)

    @contextmanager
    def _cursor(self) -> Iterator[psycopg.Cursor[Row]]:
        with self._told(), self._lent() as connection, connection.cursor(row_factory=namedtuple_row) as cursor:
            yield cursor

    def _told(self) -> AbstractContextManager[None]:
        return translated(self._unavailable) if self._unavailable else nullcontext()

    @contextmanager
    def _lent(self) -> Iterator[psycopg.Connection[Any]]:
        lent = self._engine.raw_connection()
        connection: Any = lent.driver_connection
        try:
            connection.autocommit = True
            yield connection
        finally:
            if connection.pgconn.transaction_status == TransactionStatus.IDLE:
                connection.autocommit = False  # as the others expect it
            else:  # it ended, or was interrupted
                lent.invalidate()
            lent.close()


class Store:
    """What a port is implemented by on an engine's connections; an outage is raised as `unavailable`."""

    unavailable: type[Exception]

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._at_once = AtOnce(engine, self.unavailable)


class Session(Statements):
    """A session of its own, for locks that end with it and so with the process: nobody else ever gets its connection.

    It waits `patience` seconds for a lock, or asks whether it is free. An outage is raised as `unavailable`.
    """

    def __init__(
        self, engine: Engine, unavailable: Callable[[str], Exception], application: str = "clara", patience: float | None = None
    ) -> None:
        self._unavailable = unavailable
        with translated(unavailable), ExitStack() as undone:
            lent = engine.raw_connection()
            undone.callback(lent.close)
            self._connection: psycopg.Connection[Any] = cast("psycopg.Connection[Any]", lent.driver_connection)
            lent.detach()
            self._connection.autocommit = True
            lock, statement = ("0", "10s") if patience is None else (f"{patience * 1000:.0f}ms", "0")
            self.changed("session.outlive", application=application, lock_timeout=lock, statement_timeout=statement)
            undone.pop_all()

    def close(self) -> None:
        """Give all locks back, so that they are free when this returns: after a mere leaving the server needs a moment."""
        with suppress(psycopg.Error):  # the server has ended the session, and the locks with it
            self._connection.execute("select pg_advisory_unlock_all()")
        self._connection.close()

    @contextmanager
    def _cursor(self) -> Iterator[psycopg.Cursor[Row]]:
        with translated(self._unavailable), self._connection.cursor(row_factory=namedtuple_row) as cursor:
            yield cursor


# What is asked so is of no use when asking takes longer than a search.
CONNECTING: Final[Mapping[str, Any]] = {
    "connect_timeout": 2, "options": "-c statement_timeout=1s", "application_name": "clara versions",
}  # fmt: skip
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

    def rows(self, name: str, /, **values: object) -> list[tuple[Any, ...]] | None:
        """Give the rows of a named statement; None while the database is away."""
        with self._lock:
            if self._clock() < self._again_at:
                return None
            try:
                if self._connection is None:
                    self._connection = psycopg.connect(self._url, autocommit=True, **CONNECTING)
                return self._connection.execute(_for_driver(name), values, prepare=True).fetchall()
            except (psycopg.Error, UnicodeEncodeError):
                self._close()
                self._again_at = self._clock() + SKIP_SECONDS
                return None

    def close(self) -> None:
        """Give the connection back; the next question opens another."""
        with self._lock:
            self._close()

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
