"""Ingestions that are killed leave every norm whole."""

import shutil
from pathlib import Path

import psycopg
from tests.faults.ingesting import contents_of, faults_of, ingest_in_turn, kill

DATA = Path(__file__).parents[1] / "data"


def test_a_killed_ingestion_leaves_every_norm_whole(empty_url: str, tmp_path: Path) -> None:
    """Wherever it is killed, each norm is served in its old wording or in the new one, and found by words and by meaning."""
    before, after = DATA / "legislation_2026-04-25", tmp_path / "after"
    after.mkdir()
    for path in before.glob("*.md"):
        shutil.copy(DATA / "legislation" / path.name, after)
    folders = (before, after)
    ingest_in_turn(empty_url, folders, rounds=2)
    done = kill(empty_url, folders, kills=4, longest=0.6, seed=7)
    assert done.faults == []
    assert done.during > 0


def test_what_is_not_whole_is_seen(empty_url: str, tmp_path: Path) -> None:
    """The look that finds nothing wrong would find a norm of which a passage is missing."""
    folders = (DATA / "legislation_2026-04-25", DATA / "legislation_2026-04-25")
    ingest_in_turn(empty_url, folders, rounds=1)
    known = contents_of(folders)
    assert faults_of(empty_url, known)[0] == []
    with psycopg.connect(empty_url) as connection:
        connection.execute("delete from passages where pk = (select min(pk) from passages)")
    assert len(faults_of(empty_url, known)[0]) == 1
