"""The audit log is a chain of digests: what is changed, removed or added by hand is seen, and where."""

import subprocess
import sys
from collections.abc import Callable
from threading import Thread

import psycopg
import pytest
from alembic import command
from sqlalchemy import text

from clara.adapters.postgres import migrations
from clara.adapters.postgres.connections import open_engine
from clara.adapters.postgres.operations.audit import PostgresAudit
from clara.container import Container
from clara.settings import child_environment, resources

OFF, ON = "alter table audit_log disable trigger user", "alter table audit_log enable trigger user"


@pytest.fixture
def audit(empty_url: str, services_on: Callable[..., Container]) -> PostgresAudit:
    """A log with seven acts."""
    log = PostgresAudit(services_on(empty_url).engine)
    for number in range(7):
        log.record("operator", "accept", f"finding {number}", details={"día": "ñ", "number": number})
    return log


def change(url: str, statement: str) -> None:
    """Do what only the owner of the table can."""
    with psycopg.connect(url, autocommit=True) as connection:
        for one in (OFF, statement, ON):
            connection.execute(one)


def test_what_nobody_touched_fits(audit: PostgresAudit) -> None:
    """Every act follows from the one before; each head that was noted is found."""
    heads = []
    for _ in range(3):
        heads.append(audit.chain().head)
        audit.record("cli", "ingest --accept", "x")
    whole = audit.chain()
    assert (whole.acts, whole.broken, len(whole.head)) == (10, None, 64)
    assert len(set(heads)) == 3
    assert all(audit.chain(head).noted for head in heads)
    assert not audit.chain("0" * 64).noted


@pytest.mark.parametrize(
    ("statement", "first"),
    [
        pytest.param("update audit_log set actor = 'reader' where id = 3", 3, id="actor"),
        pytest.param("update audit_log set at = at - interval '1 microsecond' where id = 1", 1, id="a-microsecond"),
        pytest.param("update audit_log set outcome = 'refused' where id = 7", 7, id="the-last"),
        pytest.param("""update audit_log set details = details || '{"x": 1}' where id = 4""", 4, id="details"),
        pytest.param("update audit_log set subject = act, act = subject where id = 5", 5, id="fields-exchanged"),
        pytest.param("delete from audit_log where id = 2", 3, id="removed"),
        pytest.param("delete from audit_log where id < 4", 4, id="the-first-ones"),
        pytest.param("update audit_log set digest = sha256('x') where id = 6", 6, id="a-digest"),
        pytest.param(
            "insert into audit_log (id, actor, act, digest) overriding system value values (99, 'cli', 'x', sha256('x'))",
            99,
            id="added",
        ),
    ],
)
def test_any_change_is_seen(audit: PostgresAudit, empty_url: str, statement: str, first: int) -> None:
    """The first act that does not fit is named."""
    change(empty_url, statement)
    assert audit.chain().broken == first


def test_acts_that_are_missing_at_the_end_need_a_note(audit: PostgresAudit, empty_url: str) -> None:
    """The rest fits; who noted the head elsewhere sees that it is gone."""
    head = audit.chain().head
    change(empty_url, "delete from audit_log where id > 5")
    assert (audit.chain(head).broken, audit.chain(head).noted) == (None, False)


@pytest.mark.parametrize("statement", ["truncate audit_log", "truncate audit_log cascade", "delete from audit_log"])
def test_it_cannot_be_emptied(audit: PostgresAudit, empty_url: str, statement: str) -> None:
    """Not even by the owner of the table, who has to switch the rule off first."""
    with (
        psycopg.connect(empty_url) as connection,
        pytest.raises(psycopg.errors.RaiseException, match="never changed"),
    ):
        connection.execute(statement)
    assert audit.chain().acts == 7


def test_acts_at_the_same_time_are_one_chain(audit: PostgresAudit) -> None:
    """Each waits for the one before: the order of the numbers is that of the digests."""
    threads = [Thread(target=lambda: [audit.record("cli", "x") for _ in range(10)]) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert (audit.chain().acts, audit.chain().broken) == (67, None)


def test_the_command(audit: PostgresAudit, empty_url: str) -> None:
    """0 and the head; 1 and the first act that does not fit, or that the noted digest is gone."""

    def said(*options: str) -> tuple[int, str]:
        done = subprocess.run(
            [sys.executable, "-m", "clara", "audit", "check", *options],
            env=child_environment(RAG_DB_URL=empty_url),
            capture_output=True,
            text=True,
            timeout=200,
            check=False,
        )
        return done.returncode, done.stdout

    head = audit.chain().head
    assert said() == (0, f"7 acts, unbroken; the last is 7, its digest {head}\n")
    assert said("--noted", head.upper())[0] == 0
    assert said("--noted", "0" * 64)[0] == 1
    change(empty_url, "update audit_log set actor = 'cli' where id = 4")
    status, told = said()
    assert (status, "act 4 does not fit" in told) == (1, True)


def test_acts_of_an_older_release_are_chained(empty_url: str) -> None:
    """What was in the log before the migration fits, and what comes after it."""
    engine = open_engine(empty_url)
    with engine.begin() as connection:
        command.downgrade(migrations._config(resources() / "migrations", connection), "0010")
        for number in range(3):
            connection.execute(text("insert into audit_log (actor, act) values ('cli', :act)"), {"act": f"act {number}"})
    with engine.begin() as connection:
        migrations.upgrade(connection, resources() / "migrations")
    PostgresAudit(engine).record("cli", "after")
    assert (PostgresAudit(engine).chain().acts, PostgresAudit(engine).chain().broken) == (4, None)
    engine.dispose()
