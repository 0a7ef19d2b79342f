"""The connection to PostgreSQL, and what is asked of the server before it is used."""

import re
import select
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import psycopg
from sqlalchemy import URL, Engine, create_engine, event, make_url, text
from sqlalchemy.exc import ArgumentError, DBAPIError, InvalidatePoolError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from clara.errors import Unavailable

MINIMUM_SERVER: Final = 160_000
MINIMUM_PGVECTOR: Final = (0, 8)
# HNSW gives at most ef_search candidates, so it must exceed the pool of 50 that the hybrid statement takes from each leg.
# Iterative scans keep looking when a filter throws candidates away. Compiling a statement of milliseconds costs more than it
# saves: without it the hybrid search took .76 of the time (medians of three alternating rounds, 15,825 passages).
# A process that freezes in the middle of a transaction holds what others wait for: a sender's counter, a message's row.
SESSION_OPTIONS: Final = (
    "-c hnsw.ef_search=100 -c hnsw.iterative_scan=relaxed_order -c jit=off -c statement_timeout=10s "
    "-c idle_in_transaction_session_timeout=15s"
)
# A server that vanished without a word must not hold a thread for the quarter of an hour that TCP is patient for.
VANISHED_SERVER: Final = {"tcp_user_timeout": 5_000, "keepalives_idle": 5, "keepalives_interval": 2, "keepalives_count": 3}


class DatabaseUnavailableError(Unavailable):
    """PostgreSQL could not be reached, or left during the call. Nothing is known about what it holds."""


class UnsuitableServerError(Unavailable):
    """The server behind RAG_DB_URL lacks something. The message says what to do."""


def open_engine(url: str, pool_size: int = 10) -> Engine:
    """Make a lazy engine: nothing is connected until the first use. Raises UnsuitableServerError on a malformed URL."""
    engine = create_engine(
        _parsed(url).set(drivername="postgresql+psycopg"),
        pool_size=pool_size,
        max_overflow=0,  # what is over the size is closed after each use: at 80 messages a second that cost a third of a core
        pool_timeout=5,
        hide_parameters=True,  # they hold what people wrote, and errors are logged
        connect_args={"connect_timeout": 3, "options": SESSION_OPTIONS, "application_name": "clara", **VANISHED_SERVER},
    )
    event.listen(engine, "checkout", _refuse_dead)
    return engine


def _refuse_dead(connection: psycopg.Connection[Any], _record: object, _proxy: object) -> None:
    """Throw the pool away when this connection was ended by the server: its end, or a last word, waits to be read.

    Looking at the socket takes microseconds; the pool's own way, a question to the server, a trip for each use.
    """
    watched = select.poll()
    if not connection.closed:
        watched.register(connection.fileno(), select.POLLIN | select.POLLHUP | select.POLLERR)
    if connection.closed or watched.poll(0):
        raise InvalidatePoolError


def _parsed(url: str) -> URL:
    try:
        parsed = make_url(url.replace("postgres://", "postgresql://", 1))
    except (ArgumentError, ValueError) as error:
        msg = "RAG_DB_URL is not a database URL. It must look like postgresql://user:password@host:5432/database"
        raise UnsuitableServerError(msg) from error
    if parsed.get_backend_name() != "postgresql":
        msg = f"RAG_DB_URL names '{parsed.get_backend_name()}', but Clara runs on PostgreSQL: postgresql://user:password@host:5432/database"
        raise UnsuitableServerError(msg)
    return parsed


def plain_url(url: str) -> str:
    """Write a database URL as libpq reads it, whatever driver it names. Raises UnsuitableServerError."""
    return _parsed(url).set(drivername="postgresql").render_as_string(hide_password=False)


def check_server(engine: Engine) -> None:
    """Make sure that the server is new enough and has pgvector. Raises UnsuitableServerError, DatabaseUnavailableError."""
    with translated(), engine.connect() as connection:
        number = int(connection.scalar(text("show server_version_num")) or 0)
        offered = connection.scalar(text("select default_version from pg_available_extensions where name = 'vector'"))
    if fault := lacking(number, offered):
        raise UnsuitableServerError(fault)


def lacking(server: int, pgvector: str | None) -> str | None:
    """Say what a server lacks and what to do, given `server_version_num` and the version of pgvector it offers."""
    if server < MINIMUM_SERVER:
        return f"RAG_DB_URL leads to PostgreSQL {server // 10_000}; Clara needs 16 or newer. Upgrade it, or unset RAG_DB_URL."
    numbers = tuple(int(part) for part in re.findall(r"\d+", pgvector or "")[:2])
    if numbers < MINIMUM_PGVECTOR:
        have = f"pgvector {pgvector}" if pgvector else "no pgvector"
        return (
            f"the server behind RAG_DB_URL has {have}; Clara needs 0.8 or newer. "
            "Install it (Debian: apt install postgresql-18-pgvector; hosted: enable 'vector'), or unset RAG_DB_URL."
        )
    return None


def is_current(engine: Engine, scripts: Path) -> bool:
    """Whether the database is at the newest revision. Reads file names, because loading Alembic takes a third of a second."""
    newest = max(script.name.split("_")[0] for script in (scripts / "versions").glob("[0-9]*.py"))
    with translated(), engine.connect() as connection:
        if connection.scalar(text("select to_regclass('alembic_version')")) is None:
            return False
        return bool(connection.scalar(text("select version_num from alembic_version")) == newest)


def has_passages(engine: Engine, corpus: str) -> bool:
    """Whether anything was ingested into the corpus."""
    with translated(), engine.connect() as connection:
        held = connection.scalar(text("select passages from corpora where name = :corpus"), {"corpus": corpus})
    return bool(held)


def is_outage(error: BaseException) -> bool:
    """Whether the error says that the server is away, not that the statement is wrong."""
    if isinstance(error, PoolTimeoutError):
        return True
    if not isinstance(error, (DBAPIError, psycopg.Error)):
        return False
    state: Any = getattr(_cause(error), "sqlstate", None)
    broken = isinstance(error, DBAPIError) and error.connection_invalidated
    if state is None:  # no server said it: the connection is gone, or the driver was called wrongly
        return broken or isinstance(_cause(error), (psycopg.OperationalError, psycopg.InterfaceError))
    # 42P01 no such table: the schema is not there yet. 25P03 and 25P04: the server ended what stood still in a transaction.
    # 08 connection, 53 resources, 57 operator intervention (shutdown, time-out), 58 system error
    return broken or state in {"42P01", "25P03", "25P04"} or str(state)[:2] in {"08", "53", "57", "58"}


def blames_values(error: BaseException, table: str) -> bool:
    """Whether the server will never take these values: they are no data (class 22), or break a rule of the table itself (23).

    Every other word - read-only, deadlock, no right, no column, no room - is about the server, or about another table.
    """
    cause = _cause(error)
    if isinstance(cause, psycopg.IntegrityError):
        return cause.diag.table_name == table
    return isinstance(cause, psycopg.DataError)


def named(error: BaseException) -> str:
    """Name what the driver says by its SQLSTATE and kind; its text may hold what a person wrote."""
    cause = _cause(error)
    return " ".join(filter(None, [getattr(cause, "sqlstate", None), type(cause or error).__name__]))


@contextmanager
def translated(away: Callable[[str], Exception] = DatabaseUnavailableError) -> Iterator[None]:
    """Turn the outages that SQLAlchemy or the driver tell of into the error of a port; let mistakes through."""
    try:
        yield
    except DatabaseUnavailableError as error:  # of what was called inside
        raise away(str(error)) from error
    except (DBAPIError, PoolTimeoutError, psycopg.Error) as error:
        if is_outage(error):
            raise away(described(error)) from error
        raise


def _cause(error: BaseException) -> BaseException | None:
    """Give the driver's error, None when there is none behind it."""
    return error if isinstance(error, psycopg.Error) else getattr(error, "orig", None)


def described(error: BaseException) -> str:
    """Say what happened without repeating a statement, which may hold what a person wrote."""
    cause = _cause(error)
    state = getattr(cause, "sqlstate", None)
    if state is None and cause is not None and str(cause):
        return f"PostgreSQL does not answer ({str(cause).splitlines()[0]}). Start it, or check RAG_DB_URL."
    if state == "42P01":
        return "the database has no tables yet. Run `clara migrate`, then `clara ingest`."
    return f"PostgreSQL broke off ({state or type(error).__name__}). It may be restarting: try again."
