"""What the database says while it should take something in: no message may be lost over any of it."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from clara.adapters.postgres.engine import blames_values, described, is_outage, named
from clara.delivery.ports import RefusedError, StoreRefusesError, StoreUnavailableError


@contextmanager
def refusals(table: str) -> Iterator[None]:
    """Turn everything that the driver raises into delivery's errors; `table` is where the values were to go.

    RefusedError: the values are at fault. StoreUnavailableError: the server is away. StoreRefusesError: it is there, and says
    no. The driver's own error is not chained: its details quote what a person wrote.
    """
    try:
        yield
    except (DBAPIError, PoolTimeoutError, psycopg.Error) as error:
        raise _told(error, table) from None


def _told(error: Exception, table: str) -> Exception:
    if blames_values(error, table):
        return RefusedError(f"PostgreSQL takes no such values ({named(error)})")
    if is_outage(error):
        return StoreUnavailableError(described(error))
    return StoreRefusesError(f"PostgreSQL answers and takes nothing in ({named(error)}). Its log says why: mend it there.")
