"""The statements that every message needs are short enough for the driver to remember how it read them."""

import pytest
from psycopg import _queries

from clara.adapters.postgres.statements import _for_driver, source


@pytest.mark.parametrize("name", ["accept_message", "begin_turn", "record_reply", "forward_reports", "refuse_message"])
def test_it_is_remembered(name: str) -> None:
    """Neither its length nor its parameters are above the driver's bounds; those are private, so they are held here."""
    sent = _for_driver(name)
    assert len(sent) <= _queries.MAX_CACHED_STATEMENT_LENGTH
    assert 0 < sent.count(b"%(") <= _queries.MAX_CACHED_STATEMENT_PARAMS


def test_nothing_but_comments_and_blanks_is_left_out() -> None:
    """What is sent begins with the statement, and its last line is there."""
    sent = source("accept_message")
    assert sent.startswith("with stored as (\ninsert into inbox")
    assert sent.endswith("left join scheduled on true")
    assert "--" not in sent


def test_one_of_a_file_ends_where_the_next_begins() -> None:
    """A name after the point is that of a statement in the file; casts are no values."""
    assert source("publication.revisions") == "select revisions from publications where id = :id"
    assert _for_driver("publication.revisions") == b"select revisions from publications where id = %(id)s"
    assert b"null::bigint as passages" in _for_driver("publication.call")
