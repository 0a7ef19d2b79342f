"""Correcting facts and publishing them, for tests: the fee of the NIE, raised."""

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from sqlalchemy import text
from tests.integration.editing import publish

from clara.adapters.postgres.statements import AtOnce
from clara.answering.journey import converse
from clara.answering.message import Message, Reply
from clara.container import Container
from clara.editorial.ports import JobOutcome
from clara.editorial.publication import Candidate
from clara.knowledge.procedure import Fact
from clara.knowledge.revisions import Revision, fact_digest, fact_document
from clara.quality.publication_gate import Measured, Verdict

FEE, QUESTION = "nie-cuantias-01", "¿Cuánto cuesta el NIE?"
OLD, NEW = "9,84 €", "10,84 €"
NOTHING_WORSE = Verdict(Measured(), Measured())


def fact_of(services: Container, name: str = FEE) -> Fact:
    procedures = services.released.catalogue.procedures.values()
    return next(fact for one in procedures for fact in one.facts if fact.id == name)


def raised(services: Container, euros: str = NEW) -> Revision:
    """Give the correction that raises the fee."""
    document = fact_document(fact_of(services))
    value = float(euros.removesuffix(" €").replace(",", "."))
    values = [{**one, "value": value} if one["kind"] == "amount" else one for one in document["values"]]
    fields = {"text": document["text"].replace(OLD, euros), "values": values}
    return Revision(0, FEE, fields, fact_digest(fact_of(services)), "the fee was raised", "test")


def keep_draft(services: Container, revision: Revision, finding: int | None = None) -> int:
    return int(AtOnce(services.engine).value("fact.draft", finding_id=finding, **asdict(revision)))


def draft(services: Container, euros: str = NEW) -> int:
    return keep_draft(services, raised(services, euros))


def judged_well(_before: Candidate, _staged: Candidate) -> Verdict:
    return NOTHING_WORSE


def run_publish(services: Container, judge: Any = judged_well, said: list[str] | None = None, **chosen: Any) -> JobOutcome:
    lines = said if said is not None else []
    return publish(services, judge, lines.append, **chosen)


def answered(services: Container, question: str = QUESTION) -> Reply:
    return converse(Message(question), services.snapshot().tools)


def rows(services: Container, sql: str, **values: object) -> list[tuple[Any, ...]]:
    with services.engine.begin() as connection:
        return [tuple(row) for row in connection.execute(text(sql), values)]


def run_sql(services: Container, *statements: str, **values: object) -> None:
    with services.engine.begin() as connection:
        for sql in statements:
            connection.execute(text(sql), values)


def corpora_of(services: Container) -> list[str]:
    return [name for (name,) in rows(services, "select name from corpora order by name")]


def states(services: Container) -> list[tuple[int, str]]:
    return [(number, state) for number, state in rows(services, "select id, state from publications order by id")]


def texts_of(passages: Iterable[Any]) -> dict[str, str]:
    return {passage.id: passage.text for passage in passages}
