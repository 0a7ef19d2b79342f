"""Tests of asking back."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.languages import LANGUAGES
from unit_builders import hit_of

from clara.answering.dialogue.clarification import Clarifying, near_procedures, read_ambiguous, turns_on_place
from clara.answering.message import Message, Past, Reply, ReplyStatus, Turn
from clara.answering.texts import Texts
from clara.retrieval.passage import Found, Hit, Status

NOTHING = Found(Status.NOT_FOUND, "pgvector")


@pytest.fixture(scope="module")
def clarifying(data: Path, texts: Texts, real: Any) -> Clarifying:
    """What asks back, on the real data."""
    return Clarifying(read_ambiguous(data), texts, real.names, real.catalogue.places, real.named)


def found(*hits: Hit) -> Found:
    """Find these."""
    return Found(Status.FOUND, "pgvector", hits)


@pytest.mark.parametrize(
    ("asked", "language", "options"),
    [
        ("tarjeta", "es", ("tie", "tarjeta_sanitaria")),
        ("Quiero renovar mi tarjeta", "es", ("tie", "tarjeta_sanitaria")),
        ("I want to renew my card please", "en", ("tie", "tarjeta_sanitaria")),
        ("البطاقة", "ar", ("tie", "tarjeta_sanitaria")),
        ("мне нужна справка", "ru", ("empadronamiento", "certificado_discapacidad")),
        ("我的号码", "zh", ("nie", "numero_seguridad_social")),
        ("tarjeta sanitaria", "es", ()),
        ("¿Cuánto tarda la tarjeta?", "es", ()),
        ("NIE", "es", ()),
    ],
)
def test_bare_nouns(clarifying: Clarifying, asked: str, language: str, options: tuple[str, ...]) -> None:
    """A message that says only what several procedures share is asked back, whether something was found or not."""
    for outcome in (NOTHING, found(hit_of())):
        reply = clarifying.ask(asked, outcome, language)
        assert (reply.options if reply else ()) == options


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_question(clarifying: Clarifying, real: Any, language: str) -> None:
    """The question lists the procedures by their names, numbered, in the person's language."""
    reply = clarifying.ask("?", found(hit_of("nie-plazos-01"), hit_of("tie-plazos-01", 0.8)), language)
    assert reply is not None
    assert reply.status is ReplyStatus.CLARIFIED
    assert reply.options == ("nie", "tie")
    assert f"1. {real.names['nie'][language]}\n2. {real.names['tie'][language]}" in reply.text


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        pytest.param({"nie": 1.0}, [], id="one"),
        pytest.param({"nie": 1.0, "tie": 0.69}, [], id="clearly-first"),
        pytest.param({"nie": 1.0, "tie": 0.7}, ["nie", "tie"], id="near"),
        pytest.param({"nie": 1.0, "tie": 0.9, "imv": 0.6, "arraigo": 0.59}, ["nie", "tie", "imv"], id="a-third"),
    ],
)
def test_near_procedures(scores: dict[str, float], expected: list[str]) -> None:
    """Procedures are offered only when the second one fits nearly as well as the first."""
    assert near_procedures([hit_of(f"{name}-plazos-01", score) for name, score in scores.items()]) == expected


def test_the_place(clarifying: Clarifying, texts: Texts) -> None:
    """When facts of several places would answer, and none for all of Spain does better, the place is asked for."""
    here, there = hit_of(territory="ES-CT"), hit_of("nie-plazos-02", 0.9, territory="ES-MD")
    reply = clarifying.ask("¿Dónde se pide?", found(here, there), "es")
    assert reply is not None
    assert (reply.text, reply.options) == (texts.say("es", "which_place"), ())
    assert clarifying.ask("¿Dónde se pide en Sevilla?", found(here, there), "es") is None
    assert not turns_on_place([here])
    assert not turns_on_place([hit_of(), here, there])
    assert not turns_on_place([])


def test_never_twice(clarifying: Clarifying) -> None:
    """After one question back the best guess is answered; an outage is never turned into a question."""
    near = found(hit_of("nie-plazos-01"), hit_of("tie-plazos-01", 0.8))
    past = (Past("?", ReplyStatus.CLARIFIED, "es", options=("nie", "tie")),)
    turn = Turn(Message("?"), asked="?", found=near)
    assert isinstance(clarifying.answer(turn), Reply)
    again = Turn(Message("?"), asked="?", found=near, past=past)
    assert clarifying.answer(again) is again
    assert clarifying.ask("tarjeta", Found(Status.OUTAGE, "directory"), "es") is None


def test_the_options_exist(data: Path, real: Any) -> None:
    """Every option of the data is a procedure."""
    document = json.loads((data / "ambiguous.json").read_text("utf-8"))
    assert {name for options in document["options"].values() for name in options} <= real.names.keys()
