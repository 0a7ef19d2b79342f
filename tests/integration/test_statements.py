"""Every named statement fits the tables of the migrations."""

import re
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg.pq import ExecStatus

from clara.adapters import postgres
from clara.adapters.postgres.statements import source

FOLDER = Path(postgres.__file__).parent / "sql"
# Their text is completed for each query; the tests of the search run them.
COMPOSED = {"hybrid", "dense", "bm25", "filtered"}


def names() -> Iterator[str]:
    for file in sorted(FOLDER.glob("*.sql")):
        parts = re.findall(r"^-- name: (\w+)$", file.read_text("utf-8"), re.MULTILINE)
        yield from (f"{file.stem}.{part}" for part in parts) if parts else (file.stem,)


def numbered(statement: str) -> bytes:
    """Write values as the server reads them: $1, $2."""
    numbers: dict[str, str] = {}

    def number(found: re.Match[str]) -> str:
        return numbers.setdefault(found[1], f"${len(numbers) + 1}")

    return re.sub(r"(?<![:\w]):(\w+)(?!:)", number, statement).encode()


@pytest.fixture
def connection(empty_url: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(empty_url) as made:
        yield made


def test_the_server_takes_every_statement(connection: psycopg.Connection) -> None:
    """Tables, columns and types are those of the migrations: a name that is not there is refused before it is run."""
    refused = {}
    for name in set(names()) - COMPOSED:
        connection.execute("savepoint here")
        answer = connection.pgconn.prepare(b"", numbered(source(name)))
        if answer.status != ExecStatus.COMMAND_OK:
            refused[name] = answer.error_message.decode()
        connection.execute("rollback to savepoint here")
    assert refused == {}
    assert len(set(names())) > 100
