"""Which version a process speaks of: known in one exchange, renewed once, kept in an outage, and never two in one turn."""

from collections.abc import Iterator
from threading import Barrier, Thread

import psycopg
import pytest
from psycopg import sql
from structlog.testing import capture_logs
from tests.integration.correcting import FEE, NEW, OLD, QUESTION, answered, draft, run_publish, run_sql, texts_of
from tests.integration.wired import forget, wired

from clara.adapters.postgres.embedded import EmbeddedServer
from clara.answering.journey import converse
from clara.answering.message import Message
from clara.container import Container
from clara.retrieval.passage import Query
from clara.retrieval.served_corpora import Standing, name_of, version_name


@pytest.fixture
def services(knowledge_url: str) -> Iterator[Container]:
    with wired(knowledge_url) as made:
        yield made


@pytest.fixture
def published(services: Container) -> Container:
    draft(services)
    run_publish(services)
    return services


def lock(server: EmbeddedServer, services: Container, *, out: bool) -> None:
    """Throw everybody out of the database, or let them in again."""
    name = str(services.database_url).partition("?")[0].rpartition("/")[2]
    with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
        allowed = sql.SQL("alter database {} with allow_connections {}")
        connection.execute(allowed.format(sql.Identifier(name), sql.Literal(not out)))
        if out:
            connection.execute("select pg_terminate_backend(pid) from pg_stat_activity where datname = %s", [name])


def test_names_lead_to_versions() -> None:
    """A version and a copy are told from the name they stand for, and from corpora of an operator's own."""
    assert version_name("clara", 7) == "clara@7"
    assert [name_of(name) for name in ("clara", "clara@7", "clara~1f3a", "my-docs")] == ["clara"] * 3 + ["my-docs"]


def test_what_stands_behind_a_name(published: Container) -> None:
    """Corpus, version, model and publication are read together; an unknown name stands for itself and nothing."""
    standing = published.served.standing("clara")
    assert (standing.physical, standing.publication, standing.model) == ("clara@2", 2, published.embedder.model)
    own = published.served.standing("clara@2")
    assert (own.physical, own.version, own.publication) == ("clara@2", standing.version, None)
    assert published.served.standing("nobody") == Standing("nobody")
    assert published.versions.standing("clara") == standing


def test_hits_are_of_the_version_that_is_served(published: Container) -> None:
    """Every leg searches the corpus that stands behind the name."""
    found = published.retriever(Query(QUESTION, "clara", "es"))
    assert {hit.passage.corpus for hit in found.hits} == {"clara@2"}
    assert published.corpus_retriever("clara")(Query(QUESTION, "clara")).hits[0].passage.corpus == "clara@2"


def test_a_switch_is_noticed_by_the_next_turn_and_built_once(services: Container) -> None:
    """However many turns come at once, one builds the new edition; all of them speak from it."""
    with wired(services.database_url) as other:
        assert OLD in answered(other).text
        draft(services)
        run_publish(services)
        start, replies = Barrier(6), list[str]()

        def ask() -> None:
            start.wait()
            replies.append(answered(other).text)

        with capture_logs() as logs:
            threads = [Thread(target=ask) for _ in range(6)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        renewed = [entry for entry in logs if entry["event"] == "knowledge renewed"]
        assert ([NEW in text for text in replies], len(renewed)) == ([True] * 6, 1)
        assert renewed[0]["version"] == 2


def test_a_turn_keeps_what_it_began_with(services: Container) -> None:
    """Tools that were taken before a switch speak of the version before, in search and writing alike, while it is kept."""
    before = services.snapshot().tools
    draft(services)
    run_publish(services)
    text = converse(Message(QUESTION), before).text
    assert OLD in text
    assert NEW not in text
    assert NEW in answered(services).text


def test_a_version_that_was_dropped_is_not_taken_for_an_empty_one(published: Container) -> None:
    """Tools that outlive their version search what is served, and say what their own version says: they find something."""
    held = published.snapshot().tools
    run_sql(
        published,
        "update served set physical = 'clara', publication_id = 1",
        "update publications set state = 'undone' where id = 2",
    )
    published.passages().drop("clara@2")
    assert NEW in converse(Message(QUESTION), held).text


def test_in_an_outage_what_was_known_last_is_spoken(server: EmbeddedServer, published: Container) -> None:
    """Keywords go on with the corrected fact; data/ alone is not gone back to."""
    assert NEW in answered(published).text
    lock(server, published, out=True)
    reply = answered(published)
    assert NEW in reply.text
    assert reply.tier == "json_fallback"
    lock(server, published, out=False)


def test_a_start_without_the_database_speaks_from_data_and_renews(server: EmbeddedServer, published: Container) -> None:
    """A process that started in an outage knows data/ alone, and what is served as soon as the database is back."""
    with wired(published.database_url) as other:
        lock(server, published, out=True)
        assert OLD in texts_of(other.snapshot().knowledge.passages)[FEE]
        assert OLD in answered(other).text
        lock(server, published, out=False)
        forget(other, "versions")
        assert NEW in answered(other).text


def test_a_correction_that_lost_is_left_out_of_what_is_spoken(published: Container) -> None:
    """A newer release wins in every process, and it is logged."""
    run_sql(published, "update revisions set base_digest = 'of another release'")
    with wired(published.database_url) as other, capture_logs() as logs:
        assert OLD in texts_of(other.snapshot().knowledge.passages)[FEE]
    assert [entry["event"] for entry in logs] == ["correction left out"]
