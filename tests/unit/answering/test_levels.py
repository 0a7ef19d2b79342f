"""Tests of saying for which territory an answer holds."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from tests.languages import LANGUAGES
from unit_builders import hit_of

from clara.answering.journey import Tools, converse, find, follow, write
from clara.answering.message import Message, ReplyStatus, Turn
from clara.retrieval.passage import Found, Hit, Status

ToolsWith = Callable[..., Tools]


def answer(tools_with: ToolsWith, question: str, territories: Sequence[str], language: str = "es") -> tuple[str, Tools]:
    """Answer a question with one fact for each territory; give the text and the tools."""
    hits = [hit_of(f"nie-plazos-0{place}", 1.0 - place / 100, territory=code) for place, code in enumerate(territories, 1)]
    tools = tools_with(lambda _query: Found(Status.FOUND, "pgvector", tuple(hits)))
    turn = Turn(Message(question), question=question, asked=question, language=language)
    return follow(turn, tools, (find, write)).text, tools


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("question", "territories", "text", "place"),
    [
        pytest.param("NIE en Alcoy", ["ES"], "level_state", "Alcoy", id="municipality-without-own-facts"),
        pytest.param("NIE en Cataluña", ["ES"], "level_state", "Cataluña", id="comunidad-without-own-facts"),
        pytest.param("NIE en Cataluña", ["ES-CT"], "level_territory", "Cataluña", id="comunidad-with-own-facts"),
        pytest.param("NIE en Cataluña", ["ES", "ES-CT"], "level_territory", "Cataluña", id="own-facts-and-the-states"),
        pytest.param("NIE en Badalona", ["ES", "ES-CT"], "level_territory", "Cataluña", id="its-comunidad-has-facts"),
        pytest.param("NIE en Badalona", ["ES-CT", "ES-B"], "level_territory", "Barcelona", id="its-province-is-narrower"),
        pytest.param(
            "NIE en Barcelona", ["ES-B/08019", "ES"], "level_territory", "Barcelona", id="municipality-with-own-facts"
        ),
        pytest.param("NIE en Alcoy", ["ES-CT"], "level_state", "Alcoy", id="facts-of-another-place"),
    ],
)
def test_place_named(
    tools_with: ToolsWith, question: str, territories: list[str], text: str, place: str, language: str
) -> None:
    """An answer to a question about a place begins with the narrowest territory that it holds for, or says it is the state."""
    written, tools = answer(tools_with, question, territories, language)
    assert written.startswith(f"{tools.texts.say(language, text, place=place)}\n\n*")


@pytest.mark.parametrize("question", ["¿cuánto tarda el NIE?", "el NIE en España", "la vida es dura"])
@pytest.mark.parametrize("territories", [["ES"], ["ES-CT"]], ids=["state", "comunidad"])
def test_no_place_named(tools_with: ToolsWith, question: str, territories: list[str]) -> None:
    """Where no place is named, or only Spain, nothing is said about places."""
    written, tools = answer(tools_with, question, territories)
    assert written.startswith(f"*{tools.dialogue.listing.names['nie']['es']}*")


def test_only_what_is_chosen_counts(tools_with: ToolsWith) -> None:
    """A fact that is too far from the best one to be said does not make the answer one for its territory."""
    far = replace(hit_of("nie-plazos-02", 0.1), passage=hit_of("nie-plazos-02", territory="ES-CT").passage)
    hits: tuple[Hit, ...] = (hit_of("nie-plazos-01", 1.0), far)
    tools = tools_with(lambda _query: Found(Status.FOUND, "pgvector", hits))
    reply = converse(Message("¿Cuánto tarda el NIE en Cataluña?"), tools)
    assert reply.text.startswith(tools.texts.say("es", "level_state", place="Cataluña"))


@pytest.mark.parametrize("status", [Status.NOT_FOUND, Status.OUTAGE])
def test_nothing_found(tools_with: ToolsWith, status: Status) -> None:
    """A reply without an answer says nothing about places."""
    tools = tools_with(lambda _query: Found(status, "directory_fallback"))
    assert converse(Message("¿Cuánto tarda el NIE en Alcoy?"), tools).text == tools.say("es", status.value)


@pytest.mark.parametrize("place", ["Cataluña", "Madrid", "Sevilla", "Valencia", "Burgos", "Bilbao"])
def test_real_chain(tools_with: ToolsWith, real: Any, place: str) -> None:
    """On the real data, only facts that hold in the place named are said."""
    tools = tools_with()
    reply = converse(Message(f"¿Dónde se pide el certificado de discapacidad en {place}?"), tools)
    assert reply.status is ReplyStatus.ANSWERED
    found = tools.places.territory_of(f"en {place}")
    assert found is not None
    territories = {passage.id: passage.territory for passage in real.passages}
    assert {territories[citation.passage_id] for citation in reply.citations} <= set(tools.places.around(found.code))
