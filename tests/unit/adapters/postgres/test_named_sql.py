"""The statements that every message needs are short enough for the driver to remember how it read them."""

import pytest
from psycopg import _queries
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg

from clara.adapters.postgres.sql import source, statement


@pytest.mark.parametrize("name", ["accept_message", "begin_turn", "record_reply", "forward_reports", "refuse_message"])
def test_it_is_remembered(name: str) -> None:
    """Neither its length nor its parameters are above the driver's bounds; those are private, so they are held here."""
    compiled = statement(name).compile(dialect=PGDialect_psycopg())
    assert len(str(compiled).encode()) <= _queries.MAX_CACHED_STATEMENT_LENGTH
    assert len(compiled.params) <= _queries.MAX_CACHED_STATEMENT_PARAMS


def test_nothing_but_comments_and_blanks_is_left_out() -> None:
    """What is sent begins with the statement, and its last line is there."""
    sent = source("accept_message")
    assert sent.startswith("with stored as (\ninsert into inbox")
    assert sent.endswith("left join scheduled on true")
    assert "--" not in sent
