"""What has ended is said to have ended: the clock moved over the last day of every fact that has one."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, timedelta

import numpy as np
import pytest
from sqlalchemy import text
from tests.integration.wired import CommandLine, bundled, database, wired
from tests.languages import LANGUAGES, TAUGHT

from clara.adapters.postgres.embedded import EmbeddedServer
from clara.answering.journey import converse
from clara.answering.message import Message, Reply
from clara.container import Container
from clara.knowledge.catalogue import Catalogue
from clara.knowledge.knowledge_base import read_knowledge
from clara.knowledge.passages import CORPUS
from clara.knowledge.procedure import Certainty, Fact
from clara.knowledge.questions import TypicalQuestion
from clara.retrieval.embedders import RememberingEmbedder, digest_of
from clara.retrieval.passage import Query
from clara.settings import resources

# Of the facts that end, the share that one of their questions brings into the answer while they hold: 26 of 41 (.63).
SAID = 0.6
IMV = "¿cuánto es el ingreso mínimo vital para una persona sola?"


@dataclass(frozen=True, slots=True)
class Ending:
    """A fact that ends, and a question that it answers."""

    fact: Fact
    question: TypicalQuestion

    @property
    def own(self) -> bool:
        """Whether the question was written for this fact, and not for its section."""
        return self.question.fact == self.fact.id

    @property
    def last(self) -> date:
        assert self.fact.validity.last is not None
        return self.fact.validity.last


def endings(catalogue: Catalogue) -> list[Ending]:
    """Give each fact that ends with one of its own questions, the languages taking turns; else one of its section."""
    facts = [fact for procedure in catalogue.procedures.values() for fact in procedure.facts]
    ending = [fact for fact in facts if fact.validity.last is not None and fact.certainty is not Certainty.UNVERIFIED]
    made = []
    for number, fact in enumerate(ending):
        procedure, section = fact.id.rsplit("-", 2)[:2]
        own = [one for one in catalogue.questions if one.fact == fact.id]
        own = own or [one for one in catalogue.questions if (one.procedure, one.section) == (procedure, section)]
        wanted = TAUGHT[number % len(TAUGHT)]
        made.append(Ending(fact, next((one for one in own if one.language == wanted), own[0])))
    return made


CATALOGUE = read_knowledge(resources() / "data", with_questions=True).catalogue
ENDINGS = endings(CATALOGUE)


@pytest.fixture(scope="module")
def url(server: EmbeddedServer, templates: dict[str, str]) -> Iterator[str]:
    with database(server, templates["knowledge"]) as made:
        yield made


@pytest.fixture(scope="module")
def services(url: str) -> Iterator[Container]:
    """The real search; the questions are embedded in one go."""
    asked = [one.question.text for one in ENDINGS] + [IMV]
    vectors = np.array(bundled().embed(asked, "query"))
    known = {digest_of(question, "query"): vector for question, vector in zip(asked, vectors, strict=True)}
    with wired(url) as made:
        made.embedder = RememberingEmbedder(bundled(), known)
        yield made


def answered(services: Container, question: str, day: date) -> Reply:
    return converse(Message(question), services.snapshot(day).tools)


def lines_of(services: Container, reply: Reply) -> dict[str, str]:
    """Give by the id of its fact each line of a reply that says one."""
    lines = [line for line in reply.text.splitlines() if line.startswith("• ")]
    marks = {citation.mark: citation.passage_id for citation in reply.citations}
    return {marks[line.rsplit("[", 1)[1].rstrip("]")]: line for line in lines}


def over(services: Container, fact: Fact, language: str) -> str:
    assert fact.validity.last is not None
    day = fact.validity.last
    shown = f"{day:%Y-%m-%d}" if language == "zh" else f"{day:%d/%m/%Y}"
    return services.texts.say(language, "ended", date=shown)


def test_every_fact_that_ends(services: Container) -> None:
    """The day before, its own question gets it as ever; the day after, as one that held until then, with whom to ask.

    Nothing that has ended is said as if it held, whatever was asked, and no figure of an earlier year takes its place.
    """
    facts = {fact.id: fact for procedure in CATALOGUE.procedures.values() for fact in procedure.facts}
    said, lost, silent = 0, [], []
    for one in ENDINGS:
        before, after = (answered(services, one.question.text, one.last + timedelta(days)) for days in (0, 1))
        for reply, day in ((before, one.last), (after, one.last + timedelta(1))):
            lines = lines_of(services, reply)
            for name, line in lines.items():
                assert over(services, facts[name], reply.language) in line if facts[name].validity.ended(day) else True, name
                assert not (facts[name].validity.ended(day) and facts[name].compares), name
            if any(facts[name].validity.ended(day) for name in lines):
                authority = CATALOGUE.procedures[reply.citations[0].document_id].authority
                assert authority in reply.text
        if one.fact.id not in lines_of(services, before):
            lost.append(one.fact.id)
            continue
        said += 1
        told = lines_of(services, after)
        # Where room is short, others of its kind that ended with it may stand for it: a person learns that it is over.
        if one.own and not one.fact.compares and not any(facts[name].validity.ended(one.last + timedelta(1)) for name in told):
            silent.append((one.fact.id, one.question.text))
    assert said >= SAID * len(ENDINGS), lost
    assert silent == []


def test_what_has_ended_changes_nothing_about_the_rest(services: Container) -> None:
    """What holds is found alike whether what has ended is in the index or not; that comes apart, ranked beside."""
    index, day = services.index(), date(2027, 1, 15)
    vector = services.embedder.embed([IMV], "query")[0]
    query = Query(IMV, CORPUS, limit=12, documents={"imv": 1.5}, today=day)
    found = index.search(query, vector)
    ended = {hit.passage.id for hit in found if hit.ended}
    assert "imv-cuantias-01" in ended
    assert all(hit.passage.ended(day) for hit in found if hit.ended)
    whole = {hit.passage.id: hit for hit in index.search(replace(query, today=None), vector)}
    assert not any(hit.ended for hit in whole.values())
    with services.engine.connect() as connection:
        connection.execute(text("delete from passages where metadata ->> 'valid_until' < '2027-01-15'"))
        rest = connection.execute(index.statement(query), index._values(query, vector)).all()
        connection.rollback()
    holding = {hit.passage.id: (hit.cosine, hit.dense_rank) for hit in found if not hit.ended}
    assert holding == {row.id: (row.cosine, row.dense_rank) for row in rest}
    assert len(holding) == query.limit


def test_what_has_not_begun(services: Container) -> None:
    """A figure of a year to come is in the index and not found, nor told as one that has ended; from its first day on it is."""
    index, last = services.index(), date(2025, 12, 31)
    vector = services.embedder.embed([IMV], "query")[0]
    for day, begun in ((last, False), (last + timedelta(1), True)):
        hits = index.search(Query(IMV, CORPUS, limit=100, documents={"imv": 1.5}, today=day), vector)
        assert ("imv-cuantias-01" in {hit.passage.id for hit in hits}) is begun
        assert all(hit.passage.begun(day) for hit in hits)


def test_a_result_of_yesterday_is_not_served_after_midnight(url: str) -> None:
    """Remembered results belong to their day: the same words, asked before and after midnight, get what holds."""
    with wired(url, rag_cache_enabled=True) as services:
        for day, ended in ((date(2026, 12, 31), False), (date(2027, 1, 1), True), (date(2026, 12, 31), False)):
            found = services.snapshot(day).retriever(Query(IMV, CORPUS, "es", 12))
            assert ("imv-cuantias-01" in {hit.passage.id for hit in found.ended}) is ended
            assert ("imv-cuantias-01" in {hit.passage.id for hit in found.hits}) is not ended


def test_without_the_database(services: Container) -> None:
    """The keyword tier says the same of what has ended."""
    with wired(None) as alone:
        reply = answered(alone, IMV, date(2027, 1, 15))
    fact = next(one.fact for one in ENDINGS if one.fact.id == "imv-cuantias-01")
    assert reply.tier == "json_fallback"
    assert over(services, fact, "es") in lines_of(services, reply)["imv-cuantias-01"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_said_in_every_language(services: Container, language: str) -> None:
    """With its last day before it, the warning behind it, who is responsible, its source, and within the room of a message."""
    fact = next(one.fact for one in ENDINGS if one.fact.id == "imv-cuantias-01")
    tools = services.snapshot(date(2027, 1, 15)).tools
    hits = tools.retrieve(Query(IMV, CORPUS, language, 12)).known
    written = tools.writer.answer(IMV, hits, language, 1_600)
    marks = [citation.mark for citation in written.citations if citation.passage_id.startswith("imv-cuantias-0")]
    assert over(services, fact, language) in written.text
    assert fact.sources[0].url in written.text
    assert "INSS" in written.text
    assert f"[{marks[0]}]" in written.text
    warning = services.texts.say(language, "caution_ended", marks="|").split("|")[1]
    assert warning in written.text
    assert len(written.text) <= 1_600


def test_another_day_from_a_shell(url: str) -> None:
    """`--today` lets it be another day for ask, search and explain; a date that is none is named, with exit code 2."""
    line = CommandLine(url)
    try:
        told = json.loads(line("ask", "--today", "2027-01-15", "--json", IMV).out)["text"]
        assert "Ya no vale (valía hasta el 31/12/2026)" in told
        assert "Ya no vale" not in line("ask", "--today", "2026-12-31", IMV).out
        found = json.loads(line("search", "--today", "2027-01-15", "--json", IMV).out)
        assert "imv-cuantias-01" in {one["passage_id"] for one in found["ended"]}
        assert "imv-cuantias-01" not in {one["passage_id"] for one in found["hits"]}
        why = line("explain", "--today", "2027-01-15", IMV).out
        assert "today is 2027-01-15" in why
        assert "held once: " in why
        for command in ("ask", "search", "explain"):
            wrong = line(command, "--today", "2027-02-30", IMV)
            assert (wrong.code, "2027-02-30" in wrong.err) == (2, True)
    finally:
        line.close()
