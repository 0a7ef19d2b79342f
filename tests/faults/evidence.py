"""Reads what a run left behind: the stand-in's and the workers' journals, the database, the spools, the logs."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import psycopg
from tests.faults.record import Attempt, Begun, InboxRow, OutboxRow, Take, Told

PENDING: Final = """
select
    (select count(*) from procrastinate_jobs where status in ('todo', 'doing')),
    (select count(*) from outbox where status = 'pending' or (attempted_at is not null and provider_sid is null
        and status not in ('failed', 'undelivered')))
"""
INBOX: Final = "select id, message_sid, over_limit, set_aside_at is not null from inbox order by id"
OUTBOX: Final = """
select id, inbox_id, part, body, status, provider_sid, error_code, attempts, attempted_at is not null, superseded_sids
from outbox order by id
"""
WINDOWS: Final = """
select count(distinct (pseudonym, over_limit,
    date_trunc(case when over_limit like '%day' then 'day' else 'minute' end, received_at, 'UTC')))
from inbox where over_limit is not null
"""
KINDS: Final = """
select turns.status, coalesce(turns.tier, ''), count(*) from turns join inbox on inbox.id = turns.inbox_id
where inbox.message_sid like %s || '%%' group by 1, 2 order by 3 desc
"""
# What explains a finding: kept beside the logs, because the database goes with the run. Nobody's address is among it.
KEPT: Final = (
    "select id, message_sid, pseudonym, created_at, received_at, fence, tries, over_limit, set_aside_at from inbox order by id",
    "select id, inbox_id, part, status, provider_sid, attempts, created_at, updated_at, attempted_at from outbox order by id",
    "select job_id, type, at from procrastinate_events order by id",
)


def lines(path: Path) -> Iterator[dict[str, Any]]:
    """Read a journal; a torn last line is left out."""
    if not path.exists():
        return
    for line in path.read_text("utf-8").split("\n")[:-1]:
        yield json.loads(line)


def takes(folder: Path) -> list[Take]:
    """Give what the channel took."""
    return [Take(**line) for line in lines(folder / "taken.jsonl")]


def told(folder: Path) -> list[Told]:
    """Give what acknowledged callbacks said."""
    return [
        Told(int(reply), line["sid"], line["status"])
        for line in lines(folder / "told.jsonl")
        if line["outcome"].startswith("2")
        for reply in parse_qs(urlsplit(line["callback"]).query).get("reply", [])
    ]


def callback_waits(folder: Path) -> list[float]:
    """Give how long each acknowledged callback took, in seconds."""
    return [line["seconds"] for line in lines(folder / "told.jsonl") if line["outcome"].startswith("2")]


def callback_failures(folder: Path) -> int:
    """Count the callbacks that were not acknowledged."""
    return sum(not line["outcome"].startswith("2") for line in lines(folder / "told.jsonl"))


def begun(folder: Path) -> list[Begun]:
    """Give when which worker began to answer which message."""
    return [Begun(**line) for line in lines(folder / "begun.jsonl")]


def rows(url: str) -> tuple[list[InboxRow], list[OutboxRow], int]:
    """Read inbox and outbox, and count the windows in which somebody was over a limit."""
    with psycopg.connect(url) as connection:
        inbox = [InboxRow(*row) for row in connection.execute(INBOX)]
        outbox = [OutboxRow(*row[:-1], superseded=tuple(row[-1])) for row in connection.execute(OUTBOX)]
        windows = (connection.execute(WINDOWS).fetchone() or (0,))[0]
    return inbox, outbox, windows


def kinds_of_reply(url: str, beginning: str) -> dict[tuple[str, str], int]:
    """Count the turns by status and tier (empty: none was asked), of messages whose ids begin so."""
    with psycopg.connect(url) as connection:
        return {(status, tier): count for status, tier, count in connection.execute(KINDS, [beginning])}


def embeddings(folder: Path) -> list[tuple[float, float]]:
    """Give when each embedding of a metered worker ended, and the processor seconds that it took."""
    return [(line["at"], line["seconds"]) for line in lines(folder / "embedded.jsonl")]


def spooled_bytes(folders: Sequence[Path]) -> int:
    """Count the bytes that wait in spools."""
    return sum(file.stat().st_size for folder in folders for file in folder.glob("*.spool"))


def pending(url: str, spools: Sequence[Path]) -> str:
    """Say what is still to be done; empty when nothing is."""
    try:
        with psycopg.connect(url, connect_timeout=3) as connection:
            jobs, parts = connection.execute(PENDING).fetchone() or (0, 0)
    except psycopg.OperationalError as error:
        return f"the database does not answer ({type(error).__name__})"
    left = {"jobs": jobs, "parts of replies": parts, "bytes spooled": spooled_bytes(spools)}
    return ", ".join(f"{count} {name}" for name, count in left.items() if count)


def keep(url: str, folder: Path) -> None:
    """Write tables to files for whoever looks for the cause of a finding."""
    with psycopg.connect(url) as connection:
        for query in KEPT:
            table = query.split(" from ")[1].split(" ")[0]
            cursor = connection.execute(query)
            names = [column.name for column in cursor.description or ()]
            rows = [json.dumps(dict(zip(names, map(str, row), strict=True))) for row in cursor]
            (folder / f"{table}.jsonl").write_text("\n".join(rows) + "\n", "utf-8")


def keep_posts(attempts: Iterable[Attempt], folder: Path) -> None:
    """Write every post to a file."""
    (folder / "posts.jsonl").write_text("".join(json.dumps(asdict(attempt)) + "\n" for attempt in attempts), "utf-8")
