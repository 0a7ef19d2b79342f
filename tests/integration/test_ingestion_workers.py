"""Tests of the command, as an operator runs it: alone, with workers, twice at once, and when a worker is killed."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep

import psycopg
import pytest
from tests.faults.processes import children

from clara.adapters.postgres.connections import plain_url
from clara.adapters.procrastinate.ingestion_queue import MOST_TRIES, QUEUE, IngestionQueue
from clara.ingestion.ports import CorpusUnavailableError
from clara.settings import child_environment

SCRIPT = Path(__file__).parents[2] / "scripts" / "run_ingestion.py"
# Processes that embed, on a machine that does other things beside.
PATIENCE = 800
pytestmark = pytest.mark.timeout(900)
RUNNING: list[subprocess.Popen[str]] = []
ARTICLE = "El interesado podrá solicitar la autorización número {} en el plazo de {} días."


@pytest.fixture
def norms(tmp_path: Path) -> Path:
    """A folder of four norms with three articles each."""
    folder = tmp_path / "norms"
    folder.mkdir()
    for number in range(1, 5):
        write(folder, number, days=10)
    return folder


def write(folder: Path, number: int, days: int, articles: int = 3) -> None:
    norm = f"BOE-A-2020-{number}"
    body = "\n\n".join(
        f"##### Artículo {place}.\n\n{ARTICLE.format(place + 100 * number, days)}" for place in range(1, articles + 1)
    )
    front = f'---\ntitle: "Ley {number}/2020"\nidentifier: "{norm}"\nlast_updated: "2026-01-{days}"\n---\n'
    (folder / f"{norm}.md").write_text(f"{front}# Ley {number}/2020\n\n{body}\n", "utf-8")


@pytest.fixture(autouse=True)
def processes() -> Iterator[None]:
    """End what a test that failed has left running."""
    RUNNING.clear()
    yield
    for process in RUNNING:
        if process.poll() is None:
            process.kill()
            process.communicate()


def started(url: str, *options: str) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, str(SCRIPT), *options],
        env=child_environment(RAG_DB_URL=url, OMP_NUM_THREADS="1"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    RUNNING.append(process)
    return process


def finished(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    out, errors = process.communicate(timeout=PATIENCE)
    return process.returncode, out, errors


def ran(url: str, *options: str) -> tuple[int, str, str]:
    return finished(started(url, *options))


def held(url: str) -> dict[str, int]:
    with psycopg.connect(url) as connection:
        rows = connection.execute("select document_id, count(*) from passages where corpus = 'law' group by 1 order by 1")
        return dict(rows.fetchall())


ALL = {f"BOE-A-2020-{number}": 3 for number in range(1, 5)}


def test_the_script(empty_url: str, norms: Path) -> None:
    """What it did is said document by document and in total; again, it does nothing; a change waits with exit code 1."""
    code, out, errors = ran(empty_url, "--norms", str(norms))
    assert code == 0, errors
    assert out.splitlines()[0] == "BOE-A-2020-1: new; wrote 3 passages (3 new vectors), dropped 0, kept 0"
    assert out.splitlines()[-1] == "4 sources (4 new): wrote 12 passages (12 new vectors), dropped 0, kept 0"
    assert held(empty_url) == ALL
    write(norms, 2, days=15)
    code, out, errors = ran(empty_url, "--norms", str(norms), "--json")
    report = json.loads(out)
    assert (code, report["outcomes"], report["total"]["embedded"]) == (1, {"unchanged": 3, "waiting": 1}, 0), errors
    with psycopg.connect(empty_url) as connection:
        runs = connection.execute("select job, exit_code, report -> 'total' ->> 'written' from job_runs order by id").fetchall()
    assert runs == [("ingestion", 0, "12"), ("ingestion", 1, "0")]


def test_without_a_choice_it_is_data(knowledge_url: str) -> None:
    """`run_ingestion.py` alone is `clara ingest`: data/ into its corpus, and nothing to do when that is there."""
    code, out, errors = ran(knowledge_url, "--dry-run")
    assert (code, out.startswith("clara: would write 0 passages")) == (0, True), errors


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        pytest.param(("--source", "nowhere"), "there is no source 'nowhere'", id="source"),
        pytest.param(("--norms", "/nowhere"), "does not exist", id="folder"),
        pytest.param(("--workers", "-1"), "is not in the range", id="workers"),
    ],
)
def test_what_could_not_run(options: tuple[str, ...], expected: str, empty_url: str) -> None:
    """Exit code 2, and a message that says what is wrong."""
    code, out, errors = ran(empty_url, *options)
    assert (code, out) == (2, "")
    assert expected in errors


def test_workers_share_the_documents(empty_url: str, norms: Path) -> None:
    """Two processes bring in what one would, and the report is the same; forced, they do it all again."""
    code, out, errors = ran(empty_url, "--norms", str(norms), "--workers", "2", "--json")
    report = json.loads(out)
    assert (code, report["total"]) == (0, {"written": 12, "embedded": 12, "dropped": 0, "kept": 0}), errors
    assert held(empty_url) == ALL
    with psycopg.connect(empty_url) as connection:
        left = connection.execute("select count(*) from procrastinate_jobs where queue_name = %s", [QUEUE]).fetchone()
    assert left == (0,)


def test_a_worker_that_is_killed(empty_url: str, norms: Path) -> None:
    """Its document is taken by another one, or by itself when it is started again."""
    for number in range(1, 5):
        write(norms, number, days=20, articles=8)
    process = started(empty_url, "--norms", str(norms), "--workers", "1", "--json")
    with doing(empty_url):
        (worker,) = children(process.pid)
        os.kill(worker, signal.SIGKILL)
    code, out, errors = finished(process)
    assert (code, json.loads(out)["total"]["written"]) == (0, 32), errors
    assert set(held(empty_url).values()) == {8}


@contextmanager
def doing(url: str) -> Iterator[None]:
    """Wait until some worker has a document."""
    until = monotonic() + PATIENCE
    while monotonic() < until:
        with psycopg.connect(url) as connection:
            if connection.execute("select 1 from procrastinate_jobs where status = 'doing'").fetchone():
                yield
                return
        sleep(0.02)
    raise AssertionError("no worker took a document")


def test_a_document_that_ends_its_workers_is_given_up(empty_url: str, norms: Path) -> None:
    """After some tries it counts as failed, and the others are ingested."""
    ran(empty_url, "--norms", str(norms))
    write(norms, 1, days=15)
    process = started(empty_url, "--norms", str(norms), "--workers", "1", "--json", "--accept")
    with psycopg.connect(empty_url, autocommit=True) as connection:
        until = monotonic() + PATIENCE
        tries = "update procrastinate_jobs set attempts = %s where status = 'todo' and args ->> 'source' = 'BOE-A-2020-1'"
        while monotonic() < until and not connection.execute(tries, [MOST_TRIES]).rowcount:
            sleep(0.01)
    code, out, errors = finished(process)
    report = json.loads(out)
    assert (code, report["outcomes"]) == (1, {"failed": 1, "unchanged": 3}), errors
    assert "again and again" in report["documents"][0]["detail"]


def test_two_runs_at_once(empty_url: str, norms: Path) -> None:
    """The second finds the first at work, and leaves it to that one."""
    first, second = (started(empty_url, "--norms", str(norms), "--json") for _ in range(2))
    ends = [finished(process) for process in (first, second)]
    assert [code for code, _, _ in ends] == [0, 0]
    assert sum(json.loads(out)["total"]["written"] for _, out, _ in ends if out) == 12
    assert held(empty_url) == ALL


def test_a_queue_that_is_away() -> None:
    """A database that does not answer is an outage, not an empty queue."""
    queue = IngestionQueue(plain_url("postgresql://nobody@127.0.0.1:1/none"))
    with pytest.raises(CorpusUnavailableError):
        queue.undone("r")
    with pytest.raises(CorpusUnavailableError):
        queue.add("r", ["a"], anew=False)
