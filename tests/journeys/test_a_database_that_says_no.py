"""A database that answers "no" is out: what came is kept and acknowledged, and answered once when it takes things in again."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from urllib.parse import urlencode

import psycopg
import pytest
from psycopg import sql
from structlog.testing import capture_logs
from tests.journeys.talking import Clara, until

# What PostgreSQL may say while a message is stored, by its table of error codes (appendix A of its manual).
STATES = {
    "08006": "connection failure",
    "0A000": "feature not supported",
    "21000": "cardinality violation",
    "25006": "read-only transaction",
    "25P03": "idle in transaction",
    "26000": "invalid statement name",
    "28000": "invalid authorisation",
    "2D000": "invalid transaction termination",
    "3D000": "no such database",
    "3F000": "no such schema",
    "40001": "serialisation failure",
    "40P01": "deadlock",
    "42501": "permission denied",
    "42601": "syntax error",
    "42703": "no such column",
    "42804": "another type",
    "42883": "no such function",
    "42P01": "no such table",
    "53100": "disk full",
    "53200": "out of memory",
    "53300": "too many connections",
    "53400": "configuration limit",
    "54001": "statement too complex",
    "55000": "object not in the state that is needed",
    "55006": "object in use",
    "55P03": "lock not available",
    "57014": "statement cancelled by its time-out",
    "57P01": "administrator's shutdown",
    "57P02": "crash",
    "57P03": "cannot connect now",
    "58030": "input or output error",
    "P0001": "raised by a trigger",
    "XX000": "internal error",
    "XX001": "damaged data",
    "XX002": "damaged index",
    # Rules, but none of the inbox: another table's, or nobody knows whose.
    "23503": "foreign key of another table",
    "23505": "doubled in another table",
    "23514": "check of another table",
}
SAY_NO = """
    create function say_no() returns trigger language plpgsql as $$
    begin raise exception 'no' using errcode = {state}; end $$;
    create trigger say_no before insert on inbox for each statement execute function say_no();
"""
SAY_YES = "drop trigger say_no on inbox; drop function say_no()"
SENDER, RECIPIENT = "whatsapp:+34600000001", "whatsapp:+15555550100"


@contextmanager
def saying_no(url: str, state: str) -> Iterator[None]:
    """Have the inbox refuse every row with this SQLSTATE."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(sql.SQL(SAY_NO).format(state=sql.Literal(state)))
        yield
        connection.execute(SAY_YES)


def message(sid: str, **fields: str) -> str:
    return urlencode({"From": SENDER, "To": RECIPIENT, "MessageSid": sid, "Body": "gracias", **fields})


def stored(clara: Clara) -> set[str]:
    return {row[0] for row in clara.rows("select message_sid from inbox")}


def test_every_no_goes_to_the_spool(start: Callable[..., Clara], knowledge_url: str) -> None:
    """None is refused, none is set aside, and each is answered exactly once."""
    clara = start(clara_sender_per_minute=1_000, clara_sender_per_day=1_000)
    statuses: dict[str, tuple[int, int]] = {}
    with capture_logs() as logs:
        for number, state in enumerate(STATES, 1):
            statuses[state] = said_no(clara, knowledge_url, state)
            # The next one has to come at the door, whose way is open a moment after the last one went in.
            until(lambda: [entry["event"] for entry in logs].count("store is back") == number)  # noqa: B023  asked at once
    assert statuses == dict.fromkeys(STATES, (200, 200))
    counts = (
        "select count(*), count(distinct inbox_id), count(distinct message_sid) from outbox join inbox on inbox.id = inbox_id"
    )
    assert clara.rows(counts) == [(2 * len(STATES),) * 3]
    assert len(clara.twilio.taken) == 2 * len(STATES)
    events = [entry["event"] for entry in logs]
    assert events.count("store is away") == len(STATES)
    assert "message set aside" not in events


def said_no(clara: Clara, url: str, state: str) -> tuple[int, int]:
    """Post a message while the inbox refuses it, and one of somebody else behind it; wait until they are answered."""
    before, refused, behind = len(clara.twilio.taken), f"SM{state}", f"SMbehind{state}"
    sids = {refused, behind}
    with saying_no(url, state):
        statuses = (clara.post(message(refused)), clara.post(message(behind, From=f"{SENDER}{before}")))
        assert stored(clara).isdisjoint(sids)
    until(lambda: sids <= stored(clara) and len(clara.twilio.taken) == before + 2)
    return statuses


@pytest.mark.parametrize(
    ("broken", "mended"),
    [
        pytest.param("alter table inbox rename body to text", "alter table inbox rename text to body", id="no column"),
        pytest.param("alter table inbox rename to held", "alter table held rename to inbox", id="no table"),
        pytest.param("alter table usage rename to held", "alter table held rename to usage", id="no other table"),
        pytest.param(
            "alter table procrastinate_jobs add constraint none check (lock = '') not valid",
            "alter table procrastinate_jobs drop constraint none",
            id="a rule of the queue",
        ),
    ],
)
def test_a_schema_that_does_not_fit(start: Callable[..., Clara], knowledge_url: str, broken: str, mended: str) -> None:
    """In the middle of an upgrade, say."""
    clara = start()
    with psycopg.connect(knowledge_url, autocommit=True) as connection:
        connection.execute(broken)
        assert clara.post(message("SM1")) == 200
        connection.execute(mended)
    clara.reply(0)
    assert stored(clara) == {"SM1"}


@pytest.mark.parametrize(
    ("rule", "state"),
    [("message_sid <> 'SM1'", "23514"), ("1 / case message_sid when 'SM1' then 0 else 1 end = 1", "22012")],
)
def test_a_message_that_is_at_fault_itself(clara: Clara, knowledge_url: str, rule: str, state: str) -> None:
    """A rule of the inbox, or values that are none: it is refused, the log does not quote it, and the next one is taken."""
    with psycopg.connect(knowledge_url, autocommit=True) as connection:
        connection.execute(f"alter table inbox add constraint it_is_not check ({rule}) not valid")
    with capture_logs() as logs:
        assert clara.post(message("SM1", Body="secret")) == 400
    ((entry),) = [entry for entry in logs if entry["event"] == "message refused"]
    assert state in entry["reason"]
    assert "secret" not in str(logs)
    assert clara.post(message("SM2")) == 200
    assert stored(clara) == {"SM2"}
