"""Only the catalogue is believed: whatever stands in the index under the name of a fact, or under another name, is not said."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from sqlalchemy import text
from tests.integration.correcting import rows, run_sql
from tests.integration.wired import wired

from clara.answering.journey import converse
from clara.answering.message import Message, Reply
from clara.container import Container

POISON = "VENENO"
ADDRESS = "https://veneno.example/paga"
SOURCES = f"""[{{"url": "{ADDRESS}", "seen_on": "1999-09-09", "dated": null, "official": true}}]"""
QUESTIONS = {
    "es": "¿Cuánto cuesta el NIE?",
    "en": "how much does the NIE cost",
    "fr": "combien coûte le NIE",
    "ar": "كم يكلف رقم NIE؟",
    "ro": "cât costă NIE",
    "pt": "quanto custa o NIE",
    "ca": "quant costa el NIE",
    "zh": "办理NIE要多少钱",
    "uk": "скільки коштує NIE",
    "ru": "сколько стоит NIE",
}


@pytest.fixture
def services(knowledge_url: str) -> Iterator[Container]:
    with ExitStack() as stack:
        yield stack.enter_context(wired(knowledge_url))


def asked(services: Container, language: str) -> Reply:
    return converse(Message(QUESTIONS[language]), services.snapshot().tools, previous_language=language)


def test_nothing_of_a_poisoned_row_is_said(services: Container) -> None:
    """Text, sources, days, certainty, conditions, places and order of every row are changed: every answer stays what it was."""
    before = {language: asked(services, language).text for language in QUESTIONS}
    poisoned = """update passages
                      set text = :poison || ': ' || text,
                          territory = 'ES-MD',
                          metadata = metadata || jsonb_build_object(
                              'sources', cast(:sources as jsonb), 'certainty', 'secondary', 'place', 7,
                              'conditions', jsonb_build_array(), 'values', jsonb_build_array(),
                              'valid_until', '2099-09-09', 'kind', 'phone', 'flagged', '1999-09-09')
                    where corpus = 'clara'"""
    run_sql(services, poisoned, poison=POISON, sources=SOURCES)
    every = len(services.snapshot().knowledge.passages)
    assert rows(services, "select count(*) from passages where text like 'VENENO%'") == [(every,)]
    for language in QUESTIONS:
        reply = asked(services, language)
        for part in (POISON, ADDRESS, "1999", "2099"):
            assert part not in reply.text, language
        assert all(citation.source_url != ADDRESS for citation in reply.citations)
        assert reply.status == asked(services, language).status
        assert reply.text == before[language], language


def test_a_row_that_the_catalogue_does_not_know_is_not_said(services: Container) -> None:
    """Rows under ids of their own are found and not said; when there are no others, that is a miss."""
    names = "update passages set id = 'nie-veneno-' || pk, text = 'VENENO: ' || text where corpus = 'clara'"
    with services.engine.begin() as connection:
        connection.execute(text(f"{names} and document_id = 'nie' and section <> 'cuantias'"))
    assert "9,84 €" in asked(services, "es").text
    run_sql(services, f"{names} and id not like 'nie-veneno-%'")
    for language in QUESTIONS:
        reply = asked(services, language)
        assert POISON not in reply.text
        assert reply.citations == ()
