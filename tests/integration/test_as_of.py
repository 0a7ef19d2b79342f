"""Answering as of the past: what was served is recorded with every change, and spoken again on the day it was served."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from tests.integration.correcting import (
    FEE,
    NEW,
    OLD,
    QUESTION,
    answered,
    corpora_of,
    draft,
    rows,
    run_publish,
    run_sql,
    texts_of,
)
from tests.integration.editing import replay, undo
from tests.integration.wired import CommandLine, wired

from clara.adapters.postgres.delivery.inbox import PostgresInbox, TurnTask
from clara.adapters.procrastinate.engine import QUEUE, TASK
from clara.answering.questions import ask
from clara.container import Container
from clara.delivery.message import Incoming, split
from clara.editorial.as_of import NothingRecordedError, copied, end_of, known_then, recorded_since
from clara.ingestion.journey import ingest
from clara.knowledge.procedure import madrid_today
from clara.processes.editorial import speaking_as_of
from clara.processes.worker import answer
from clara.quality.explanation import page
from clara.retrieval.passage import Passage
from clara.retrieval.profile import Profile

DAYS = 10
SERVED = """select passage_id, digest from evidence_versions where corpus = 'clara' and known_until is null order by 1"""
HELD = "select id, digest from passages where corpus = :corpus order by 1"


@pytest.fixture
def opened(knowledge_url: str) -> Iterator[Callable[..., Container]]:
    with ExitStack() as stack:
        yield lambda **settings: stack.enter_context(wired(knowledge_url, **settings))


@pytest.fixture
def services(opened: Callable[..., Container]) -> Container:
    return opened()


def age(services: Container, days: int = DAYS) -> None:
    """Let everything that was recorded have been recorded so many days earlier."""
    moved = """update evidence_versions set known_from = known_from - make_interval(days => :days),
                                            known_until = known_until - make_interval(days => :days)"""
    run_sql(services, moved, days=days)


def said_to_hold(services: Container, name: str, field: str, day: str) -> None:
    """Let what was recorded of a fact say from when, or until when, it holds."""
    changed = """update evidence_versions
                    set content = jsonb_set(content, array['metadata', :field], to_jsonb(cast(:day as text)))
                  where passage_id = :name"""
    run_sql(services, changed, name=name, field=field, day=day)


def recorded(services: Container, name: str = FEE) -> list[tuple[str, bool]]:
    sql = """select content ->> 'text', known_until is null from evidence_versions
              where corpus = 'clara' and passage_id = :name order by known_from"""
    return [(text, current) for text, current in rows(services, sql, name=name)]


def ask_as_of(services: Container, question: str, day: date) -> dict[str, Any]:
    with speaking_as_of(services, end_of(day)) as then:
        return ask(then.tools, question)


def test_every_change_of_what_is_served_is_recorded(services: Container) -> None:
    """A first load, a publication, its undoing and a corrected passage: the open versions are always what is served."""
    assert rows(services, SERVED) == rows(services, HELD, corpus="clara")
    draft(services)
    run_publish(services)
    assert rows(services, SERVED) == rows(services, HELD, corpus="clara@2")
    assert [(NEW in text, current) for text, current in recorded(services)] == [(False, False), (True, True)]
    undo(services, lambda _line: None)
    assert rows(services, SERVED) == rows(services, HELD, corpus="clara")
    assert [(NEW in text, current) for text, current in recorded(services)] == [(False, False), (True, False), (False, True)]
    assert len(recorded(services, "nie-plazos-01")) == 1
    spans = """select count(*) from evidence_versions a join evidence_versions b using (corpus, passage_id)
                where a.known_from < b.known_from and (a.known_until is null or a.known_until > b.known_from)"""
    assert rows(services, spans) == [(0,)]


def test_the_law_is_recorded_and_corpora_of_ones_own_are_not(services: Container) -> None:
    """What is loaded as `law` has its versions; what an operator loads is their own matter; what is staged is not served."""
    one = Passage("a1", "law", "normativa", "BOE-A-2015-10565", "a1", ("Ley",), "Artículo uno.", "es")

    def load(corpus: str, *passages: Passage) -> None:
        ingest(corpus, passages, services.passages(Profile(name="prose")), services.memorising_embedder())

    for corpus in ("law", "mine", "law@9"):
        load(corpus, one)
    assert rows(services, "select corpus, passage_id from evidence_versions where corpus <> 'clara'") == [("law", "a1")]
    load("law")
    assert rows(services, "select count(*) from evidence_versions where corpus = 'law' and known_until is null") == [(0,)]


def test_answering_as_of_a_day(services: Container) -> None:
    """The fee of that day is told, today the new one; the copy that was searched is gone."""
    age(services)
    draft(services)
    run_publish(services)
    today = madrid_today()
    assert OLD in ask_as_of(services, QUESTION, today - timedelta(days=5))["text"]
    assert NEW in ask_as_of(services, QUESTION, today)["text"]
    assert NEW in answered(services).text
    assert corpora_of(services) == ["clara", "clara@2"]


def test_what_was_not_recorded_yet_counts_as_it_was_first(services: Container) -> None:
    """Before anything was recorded, facts count that say they held; those that began later do not, those that ended do."""
    day = date(2026, 4, 25)
    said_to_hold(services, "nie-plazos-01", "valid_from", "2026-05-01")
    draft(services)
    run_publish(services)
    then = texts_of(known_then(services.evidence(), services.released, end_of(day)).passages)
    assert OLD in then[FEE]
    assert "nie-plazos-01" not in then
    ended = [
        fact.id
        for one in services.released.catalogue.procedures.values()
        for fact in one.facts
        if fact.validity.ended(madrid_today()) and fact.published(day)
    ]
    assert set(ended) <= then.keys()


def test_the_day_decides_what_is_valid(services: Container) -> None:
    """A fact that ends is told as of its last day, and as of the day after as one that has ended."""
    last = madrid_today() - timedelta(days=3)
    said_to_hold(services, FEE, "valid_until", last.isoformat())
    age(services)
    replies = [ask_as_of(services, QUESTION, day) for day in (last, last + timedelta(days=1))]
    assert all(FEE in {citation["passage_id"] for citation in reply["citations"]} for reply in replies)
    assert ["Ya no vale" in reply["text"] for reply in replies] == [False, True]


def test_a_copy_left_behind_is_dropped_by_the_next(services: Container) -> None:
    """A copy in use stays; one whose process died goes."""
    passages = services.snapshot().knowledge.passages[:3]
    ingest("clara~dead", passages, services.passages(), services.passage_embedder())
    with (
        copied(services.publications(), services, passages) as first,
        copied(services.publications(), services, passages) as second,
    ):
        assert corpora_of(services) == sorted(["clara", first, second])
    with pytest.raises(KeyboardInterrupt), copied(services.publications(), services, passages):
        raise KeyboardInterrupt
    assert corpora_of(services) == ["clara"]


def test_without_records_nothing_is_claimed(empty_url: str) -> None:
    """A database that was never filled knows nothing of the past, and says what to do."""
    with wired(empty_url) as services, pytest.raises(NothingRecordedError, match="clara ingest"):
        recorded_since(services.evidence())


def test_the_command_line(knowledge_url: str) -> None:
    """The day and what is recorded are told beside the reply, not in it; a day to come is refused."""
    line = CommandLine(knowledge_url)
    done = line("ask", "--as-of", "2026-04-25", QUESTION)
    assert done.code == 0
    assert OLD in done.out
    assert "2026-04-25" not in done.out
    assert done.err.startswith("as of 25 April 2026; versions are recorded from ")
    assert "it was recorded first" in done.err
    assert json.loads(line("ask", "--as-of", "2026-04-25", "--json", QUESTION).out)["status"] == "answered"
    late = line("ask", "--as-of", "2999-01-01", QUESTION)
    assert (late.code, "a day to come" in late.err) == (2, True)
    assert "--replay needs --turn" in line("explain", "--replay", QUESTION).err
    line.close()


def taken(services: Container, body: str) -> int:
    """Take in a message and answer it; give the number of its turn."""
    inbox = PostgresInbox(services.engine, services.settings.pseudonym_key, services.sealer, TurnTask(QUEUE, TASK))
    inbox.accept(Incoming(f"SM{datetime.now(UTC).timestamp()}", "local", "ana", "clara", body))
    ((number,),) = rows(services, "select max(id) from inbox")
    case = services.desk().begin(number)
    assert case is not None
    reply = answer(services, case)
    services.desk().reply(case, reply, split(reply.text, 1_600))
    return int(number)


@pytest.fixture
def turn(opened: Callable[..., Container]) -> tuple[Container, int]:
    services = opened(clara_channel="local")
    return services, taken(services, QUESTION)


def test_a_turn_is_shown_on_its_own_evidence(turn: tuple[Container, int]) -> None:
    """What it cited stands there as it was served then, with its source, and whether it has changed since."""
    services, number = turn
    before = replay(services, number)["citations"]
    assert {one["changed"] for one in before} == {False}
    draft(services)
    run_publish(services)
    told = replay(services, number)
    changed = {one["passage_id"]: one["changed"] for one in told["citations"]}
    assert changed == {one["passage_id"]: one["passage_id"] == FEE for one in before}
    (fee,) = [one for one in told["citations"] if one["passage_id"] == FEE]
    assert OLD in fee["text"]
    assert fee["source"]["url"].startswith("https://www.boe.es/")
    assert f"{FEE}, it says something else now, or is not told any more: " in page(told)
    assert page(told).count("unchanged since") == len(before) - 1


def test_a_turn_is_answered_again(turn: tuple[Container, int]) -> None:
    """On the evidence of its time it cites the same facts, whatever is served now; without its text it is not asked again."""
    services, number = turn
    draft(services)
    run_publish(services)
    again = replay(services, number, again=True)["again"]
    assert again["same"]
    assert OLD in again["text"]
    run_sql(services, "update inbox set body = null where id = :number", number=number)
    told: dict[str, Any] = replay(services, number, again=True)
    assert told["again"] == {"answered": False, "why": "the text of the message is not kept any more"}
    assert "not answered again: the text" in page(told)
