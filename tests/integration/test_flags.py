"""Facts in doubt, on the real database: every answer warns of them, whichever tier found them, until a person decided."""

from collections.abc import Iterator

import psycopg
import pytest
from psycopg import sql
from tests.integration.correcting import FEE, NEW, OLD, QUESTION, answered, keep_draft, raised, rows, run_publish, run_sql
from tests.integration.wired import forget, wired

from clara.adapters.postgres.editorial.facts import LOOK_SECONDS, PostgresFlags
from clara.adapters.postgres.embedded import EmbeddedServer
from clara.container import Container
from clara.quality.suites.proof import faults_in
from clara.retrieval.passage import Query

WARNING = "⚠️ [C1] Atención: la norma ha cambiado o puede haber cambiado"


@pytest.fixture
def services(knowledge_url: str) -> Iterator[Container]:
    with wired(knowledge_url) as made:
        yield made


def found(services: Container, state: str = "open", weight: str = "substantive", fact: str = FEE) -> int:
    """Record a finding that touches a fact."""
    made = """insert into findings (source_id, kind, weight, title, digest, state)
              values ('BOE-A-2025-12056', 'article', :weight, 'Tasas', md5(random()::text), :state) returning id"""
    ((number,),) = rows(services, made, weight=weight, state=state)
    linked = "insert into finding_facts (finding_id, fact_id, relation) values (:number, :fact, 'norm') returning finding_id"
    rows(services, linked, number=number, fact=fact)
    return int(number)


def test_an_open_finding_warns_in_every_tier(services: Container) -> None:
    """The search, the keywords and the safe chain mark the fact with the day; its answer says it and is proved as before."""
    assert WARNING not in answered(services).text
    found(services)
    with wired(services.database_url) as other:
        reply = answered(other)
        assert WARNING in reply.text
        assert OLD in reply.text
        assert len(reply.text) <= 1_600
        assert faults_in(other.snapshot(), reply, QUESTION) == []
        query = Query(QUESTION, "clara", "es")
        for retrieve in (other.retriever, other.snapshot().chains.tier("json_fallback"), other.snapshot().safe_retriever):
            marks = {hit.passage.id: hit.passage.flagged for hit in retrieve(query).hits}
            assert {name for name, since in marks.items() if since} == {FEE}


@pytest.mark.parametrize(
    ("state", "weight"),
    [("open", "cosmetic"), ("rejected", "substantive"), ("superseded", "substantive"), ("accepted", "cosmetic")],
)
def test_what_is_decided_or_cosmetic_does_not_warn(services: Container, state: str, weight: str) -> None:
    """A warning that is always there is read by nobody."""
    found(services, state, weight)
    assert services.flagged() == {}


def test_an_accepted_change_warns_until_somebody_decides(services: Container) -> None:
    """That the law is right says nothing about the fact: it is warned of until a person holds it to be true."""
    number = found(services, "accepted")
    assert services.flagged().keys() == {FEE}
    decided = "update finding_facts set decision = 'holds', reason = 'so' where finding_id = :number"
    run_sql(services, decided, number=number)
    with wired(services.database_url) as other:
        assert other.flagged() == {}


def test_an_accepted_change_warns_until_it_is_served(services: Container) -> None:
    """The served fact is known to be wrong until the corrected one is published."""
    keep_draft(services, raised(services), finding=found(services, "accepted"))
    with wired(services.database_url) as other:
        assert WARNING in answered(other).text
        run_publish(other)
    with wired(services.database_url) as later:
        reply = answered(later)
    assert NEW in reply.text
    assert WARNING not in reply.text


def test_a_remembered_result_is_flagged_too(services: Container) -> None:
    """A flag that is younger than what is remembered is on it."""
    with wired(services.database_url, rag_cache_enabled=True) as other:
        retrieve = other.retriever
        query = Query(QUESTION, "clara", "es")
        retrieve(query)
        found(services)
        forget(other, "flags")
        again = retrieve(query)
        assert again.trace["cache"] == "exact"
        assert {hit.passage.id for hit in again.hits if hit.passage.flagged} == {FEE}


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_flags_are_looked_up_now_and_then_and_kept_in_an_outage(server: EmbeddedServer, services: Container) -> None:
    """Between two looks, and while the database is away, those known last count."""
    clock = Clock()
    flags = PostgresFlags(str(services.database_url), clock)
    assert flags.current() == {}
    found(services)
    assert flags.current() == {}
    clock.now += LOOK_SECONDS
    assert flags.current().keys() == {FEE}
    name = sql.Identifier(str(services.database_url).partition("?")[0].rpartition("/")[2])
    with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
        connection.execute(sql.SQL("alter database {} with allow_connections false").format(name))
        connection.execute("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'clara versions'")
        clock.now += LOOK_SECONDS
        assert flags.current().keys() == {FEE}
        connection.execute(sql.SQL("alter database {} with allow_connections true").format(name))
    run_sql(services, "update findings set state = 'rejected'")
    clock.now += LOOK_SECONDS
    assert flags.current() == {}
    flags.close()
