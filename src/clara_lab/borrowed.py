"""A database for one measurement: made empty on a server, dropped at the end."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import psycopg
from psycopg import sql
from sqlalchemy import make_url

from clara.adapters.postgres.connections import DatabaseUnavailableError, UnsuitableServerError

REMEDY: Final = "grant the user of RAG_DB_URL CREATEDB, or unset RAG_DB_URL to measure on a server of Clara's own"


@contextmanager
def borrowed_database(url: str, name: str) -> Iterator[str]:
    """Make an empty database beside that of `url`, anew if it is there, and give its address.

    Raises DatabaseUnavailableError, and UnsuitableServerError when the user may not make databases.
    """
    parsed = make_url(url.replace("postgres://", "postgresql://", 1)).set(drivername="postgresql")
    server = parsed.render_as_string(hide_password=False)
    drop = sql.SQL("drop database if exists {} with (force)").format(sql.Identifier(name))
    try:
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(drop)
            connection.execute(sql.SQL("create database {}").format(sql.Identifier(name)))
    except psycopg.errors.InsufficientPrivilege as error:
        raise UnsuitableServerError(f"the database {name} cannot be made; {REMEDY}") from error
    except psycopg.OperationalError as error:
        raise DatabaseUnavailableError(f"the database {name} cannot be made: {error}") from error
    try:
        yield parsed.set(database=name).render_as_string(hide_password=False)
    finally:
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(drop)
