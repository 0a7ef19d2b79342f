"""Tests of what is kept of sources: one served, one waiting, nothing twice, and the last look at each."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from threading import Barrier, Thread

import pytest
from sqlalchemy import Engine, text

from clara.adapters.postgres.connections import open_engine
from clara.adapters.postgres.editorial.findings import PostgresSnapshots
from clara.editorial.sources import Snapshot, digest_of_content
from clara.ingestion.ports import CorpusUnavailableError


@pytest.fixture
def engine(empty_url: str) -> Iterator[Engine]:
    made = open_engine(empty_url)
    yield made
    made.dispose()


@pytest.fixture
def store(engine: Engine) -> PostgresSnapshots:
    return PostgresSnapshots(engine)


def snapshot(content: str = "uno", source: str = "a", **changes: object) -> Snapshot:
    values = {"source_id": source, "kind": "html", "url": "https://a.example/", "content": content}
    return Snapshot(**{**values, "digest": digest_of_content(content), **changes})


def states(engine: Engine, source: str = "a") -> dict[str, str]:
    with engine.connect() as connection:
        rows = connection.execute(text("select content, state from snapshots where source_id = :a"), {"a": source})
        return {row.content: row.state for row in rows}


def settle(engine: Engine, kept: Snapshot, state: str) -> None:
    with engine.begin() as connection:
        connection.execute(text("update snapshots set state = :state where id = :id"), {"state": state, "id": kept.id})


def test_what_is_kept_comes_back(store: PostgresSnapshots) -> None:
    """Every field is as it was given; the number and the time are the store's."""
    given = snapshot("año\n€", version_date=date(2026, 3, 4), etag='"1"', last_modified="Mon, 09 Nov 2026 10:00:00 GMT")
    kept = store.keep(given, "served")
    assert kept.id
    assert kept.fetched_at is not None
    assert replace(kept, id=0, fetched_at=None) == replace(given, state="served")
    assert store.served("a") == kept
    assert store.served("b") is None


def test_the_same_words_are_one_snapshot(store: PostgresSnapshots, engine: Engine) -> None:
    """Keeping again changes nothing but the time and what names the version at its host."""
    first = store.keep(snapshot(), "served")
    again = store.keep(snapshot(etag='"2"'), "waiting")
    assert (again.id, again.state, again.etag) == (first.id, "served", '"2"')
    assert states(engine) == {"uno": "served"}


def test_one_is_served_and_one_waits(store: PostgresSnapshots, engine: Engine) -> None:
    """A later state waits beside the served one, and takes the place of what waited before."""
    store.keep(snapshot("uno"), "served")
    store.keep(snapshot("dos"), "waiting")
    assert states(engine) == {"uno": "served", "dos": "waiting"}
    store.keep(snapshot("tres"), "waiting")
    assert states(engine) == {"uno": "served", "dos": "past", "tres": "waiting"}
    store.keep(snapshot("uno", "b"), "waiting")
    store.keep(snapshot("tres"), "served")
    assert states(engine) == {"uno": "past", "dos": "past", "tres": "served"}
    assert states(engine, "b") == {"uno": "waiting"}


def test_serving_again_changes_nothing(store: PostgresSnapshots, engine: Engine) -> None:
    """The same decision twice is one."""
    store.keep(snapshot(), "served")
    store.keep(snapshot(), "served")
    assert states(engine) == {"uno": "served"}


def test_earlier_words_may_come_back(store: PostgresSnapshots, engine: Engine) -> None:
    """A source that says again what it said before waits again for a person."""
    store.keep(snapshot("uno"), "served")
    store.keep(snapshot("dos"), "served")
    store.keep(snapshot("uno"), "waiting")
    assert states(engine) == {"uno": "waiting", "dos": "served"}


def test_what_was_rejected_stays_so(store: PostgresSnapshots, engine: Engine) -> None:
    """However often a source says it, a rejected state does not wait again; only who keeps it as served serves it."""
    store.keep(snapshot("uno"), "served")
    settle(engine, store.keep(snapshot("dos"), "waiting"), "rejected")
    assert store.keep(snapshot("dos"), "waiting").state == "rejected"
    store.keep(snapshot("dos"), "served")
    assert states(engine) == {"uno": "past", "dos": "served"}


def test_at_the_same_time(store: PostgresSnapshots, engine: Engine) -> None:
    """Eight who keep eight states as served at once leave one served."""
    start = Barrier(8)

    def keep(number: int) -> None:
        start.wait()
        store.keep(snapshot(str(number)), "served")

    threads = [Thread(target=keep, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(states(engine).values()) == ["past"] * 7 + ["served"]


def test_the_last_look(store: PostgresSnapshots) -> None:
    """A source that does not answer keeps the time when it last did; one that never did has none."""
    store.check("a", "unchanged", reached=True)
    store.check("b", "unreachable", reached=False, detail="answered 503")
    (first, never) = store.checks()
    assert (first.outcome, first.reached_at) == ("unchanged", first.checked_at)
    assert (never.source_id, never.outcome, never.detail, never.reached_at) == ("b", "unreachable", "answered 503", None)
    store.check("a", "unreachable", reached=False)
    (later, _) = store.checks()
    assert later.checked_at > first.checked_at
    assert later.reached_at == first.reached_at


def test_what_an_ingestion_did(store: PostgresSnapshots) -> None:
    """A run finds what it did, of its own snapshots only."""
    one, two = store.keep(snapshot(source="a"), "served"), store.keep(snapshot(source="b"), "served")
    store.note_ingestion(one.id, {"run": "r1", "written": 3})
    store.note_ingestion(two.id, {"run": "r2", "written": 4})
    assert store.ingestions("r1") == {"a": {"run": "r1", "written": 3}}


def test_an_outage_is_told() -> None:
    """A database that is away is an outage, not a source without a snapshot."""
    engine = open_engine("postgresql://nobody@127.0.0.1:1/none")
    with pytest.raises(CorpusUnavailableError):
        PostgresSnapshots(engine).served("a")
    engine.dispose()
