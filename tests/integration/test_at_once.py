"""Statements that commit by themselves, on connections that others use otherwise."""

from collections.abc import Iterator

import psycopg
import pytest
from sqlalchemy import Engine, text
from tests.integration.delivering import CUT

from clara.adapters.postgres.connections import open_engine
from clara.adapters.postgres.statements import AtOnce

SPENT = {"scope": "calls:somebody", "per_day": 9}


@pytest.fixture
def engine(empty_url: str) -> Iterator[Engine]:
    made = open_engine(empty_url, pool_size=1)
    yield made
    made.dispose()


def spent(once: AtOnce) -> list[int]:
    return [row.used for row in once.rows("spend_call", **SPENT)]


def used(engine: Engine) -> int:
    with engine.connect() as connection:
        return int(connection.scalar(text("select coalesce(sum(used), 0) from usage")))


def test_each_statement_commits(engine: Engine) -> None:
    """What others do on the same connection before and after is theirs to commit."""
    once = AtOnce(engine)
    with engine.connect() as connection, connection.begin() as undone:
        connection.execute(text("insert into usage (scope, window_start, used) values ('mine', now(), 100)"))
        undone.rollback()
    assert spent(once) == [1]
    with engine.connect() as connection, connection.begin() as undone:
        connection.execute(text("update usage set used = 100"))
        undone.rollback()
    assert once.changed("spend_call", **SPENT) == 1
    assert spent(once) == [3]
    assert once.row("spend_call", **SPENT | {"per_day": 3}) is None
    assert used(engine) == 3


def test_a_mistake_leaves_the_connection(engine: Engine) -> None:
    """The driver's error comes through, and the only connection serves the next."""
    once = AtOnce(engine)
    with pytest.raises(psycopg.errors.InvalidTextRepresentation):
        once.row("spend_call", **SPENT | {"per_day": "nine"})
    assert spent(once) == [1]


def test_a_connection_that_ends_is_not_used_again(engine: Engine) -> None:
    """The statement fails, the next one has another connection."""
    once = AtOnce(engine)
    with engine.begin() as connection:
        connection.execute(text(CUT))
        connection.execute(text("create trigger cut after insert on usage for each row execute function cut()"))
    with pytest.raises(psycopg.OperationalError):
        once.row("spend_call", **SPENT)
    with engine.begin() as connection:
        connection.execute(text("drop trigger cut on usage"))
    assert spent(once) == [1]
