"""Backing up and restoring, with the commands of the run book as they are written."""

import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from psycopg import sql
from tests.integration.delivering import store_on
from tests.journeys.operating import stock

from clara.adapters.postgres.embedded import EmbeddedServer, _shipped_binaries
from clara.settings import child_environment, resources

SECTION = (
    (resources() / "docs" / "operations.md").read_text("utf-8").partition("## Backup and restore")[2].partition("\n## ")[0]
)
BLOCKS = re.findall(r"^```sh\n(.*?)^```", SECTION, re.MULTILINE | re.DOTALL)
TABLES = (
    "select table_name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE' order by 1"
)


@dataclass(frozen=True)
class Restored:
    """A database that is new and empty: its address with the role of Clara, and with one that may create extensions."""

    url: str
    admin_url: str


@pytest.fixture(params=["superuser", "plain"])
def other(server: EmbeddedServer, request: pytest.FixtureRequest) -> Iterator[Restored]:
    """Of a superuser, and of a role that may make tables in this database and nothing else."""
    name = f"restored_{uuid4().hex}"
    role = sql.Identifier(f"{name}_owner")
    with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
        connection.execute(sql.SQL("create role {} login").format(role))
        connection.execute(sql.SQL("create database {} owner {}").format(sql.Identifier(name), role))
        admin = server.url(name)
        plain = admin.replace("//postgres@", f"//{name}_owner@")
        yield Restored(plain if request.param == "plain" else admin, admin)
        connection.execute(sql.SQL("drop database {} with (force)").format(sql.Identifier(name)))
        connection.execute(sql.SQL("drop role {}").format(role))


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder in which `.venv/bin/clara` is the command under test."""
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    script = tmp_path / ".venv" / "bin" / "clara"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m clara "$@"\n')
    script.chmod(0o755)
    return tmp_path


def run(block: str, folder: Path, **environment: str) -> str:
    path = f"{_shipped_binaries()}:{child_environment()['PATH']}"
    done = subprocess.run(
        ["/bin/bash", "-euo", "pipefail", "-c", block],
        cwd=folder,
        env=child_environment(PATH=path, CLARA_CHANNEL="local", **environment),
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def content(url: str) -> dict[str, tuple[int, str]]:
    """Count the rows of every table, and digest them."""
    with psycopg.connect(url) as connection:
        names = [row[0] for row in connection.execute(TABLES)]
        query = sql.SQL("select count(*), coalesce(md5(string_agg(t::text, ',' order by t::text)), '') from {} t")
        return {name: connection.execute(query.format(sql.Identifier(name))).fetchone() for name in names}


def test_a_restored_database_is_the_one_that_was_dumped(knowledge_url: str, other: Restored, checkout: Path) -> None:
    """Every row of every table is there, the schema is this release's, questions are answered, and what is new is stored."""
    numbers = stock(knowledge_url)
    dump, _of_the_embedded_server, restore = BLOCKS
    before = content(knowledge_url)
    run(dump, checkout, RAG_DB_URL=knowledge_url)
    told = run(restore, checkout, RAG_DB_URL=knowledge_url, OTHER_DB_URL=other.url, OTHER_ADMIN_URL=other.admin_url)
    assert "nothing to do" in told
    assert content(other.url) == before
    assert before["findings"][0] == len(numbers)
    answer = run('.venv/bin/clara ask "¿Cuánto cuesta el NIE?"', checkout, RAG_DB_URL=other.url)
    assert "9,84 €" in answer
    with store_on(other.url) as store:
        assert store.accept("SM-after-the-restore") > 1
    with psycopg.connect(other.url, autocommit=True) as connection:
        connection.execute("insert into audit_log (actor, act) values ('cli', 'restored')")
        with pytest.raises(psycopg.errors.RaiseException):
            connection.execute("delete from audit_log")
    assert "unbroken" in run(".venv/bin/clara audit check", checkout, RAG_DB_URL=other.url)


def test_a_dump_may_leave_out_what_is_only_remembered(knowledge_url: str, other: Restored, checkout: Path) -> None:
    """Without remembered embeddings everything else is the same."""
    with psycopg.connect(knowledge_url, autocommit=True) as connection:
        connection.execute("insert into remembered_embeddings (key, model, vector, milliseconds) values ('k', 'm', '[1]', 1)")
    before = content(knowledge_url)
    dump = BLOCKS[0].replace("pg_dump ", "pg_dump --exclude-table-data=remembered_embeddings ")
    assert "--exclude-table-data=remembered_embeddings" in SECTION
    run(dump, checkout, RAG_DB_URL=knowledge_url)
    run(BLOCKS[2].partition("RAG_DB_URL")[0], checkout, OTHER_DB_URL=other.url, OTHER_ADMIN_URL=other.admin_url)
    after = content(other.url)
    assert (before.pop("remembered_embeddings")[0], after.pop("remembered_embeddings")[0]) == (1, 0)
    assert after == before
