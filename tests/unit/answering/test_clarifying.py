"""Tests of asking back."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.languages import LANGUAGES
from unit_builders import hit_of

from clara.answering.dialogue.clarification import Clarifying, nearest_procedures, read_ambiguous, turns_on_place
from clara.answering.message import Message, Past, Reply, ReplyStatus, Turn
from clara.answering.texts import Texts
from clara.retrieval.passage import Found, Hit, Status

NOTHING = Found(Status.NOT_FOUND, "pgvector")


@pytest.fixture(scope="module")
def clarifying(data: Path, texts: Texts, real: Any) -> Clarifying:
    """What asks back, on the real data."""
    purposes = {procedure.id: procedure.purpose for procedure in real.catalogue.procedures.values()}
    return Clarifying(read_ambiguous(data), texts, real.names, purposes, real.catalogue.places, real.named)


def found(*hits: Hit, **likely: float) -> Found:
    """Find these, while these procedures are so likely."""
    return Found(Status.FOUND, "pgvector", hits, likely=likely, outside=0.0)


def refused(outside: float | None, **likely: float) -> Found:
    """Find nothing, while these procedures are so likely, and none of them."""
    return Found(Status.NOT_FOUND, "pgvector", likely=likely, outside=outside)


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
    """The question lists the procedures by their names and what they are for, numbered, in the person's language."""
    reply = clarifying.ask("?", found(hit_of("nie-plazos-01"), nie=0.39, tie=0.36, imv=0.25), language)
    assert reply is not None
    assert reply.status is ReplyStatus.CLARIFIED
    assert reply.options == ("nie", "tie", "imv")
    procedures = real.catalogue.procedures
    said = [f"*{real.names[name][language]}*: {procedures[name].purpose[language]}" for name in ("nie", "tie")]
    assert f"1. {said[0]}\n2. {said[1]}" in reply.text


@pytest.mark.parametrize(
    ("likely", "expected"),
    [
        pytest.param({"nie": 1.0}, ["nie"], id="one"),
        pytest.param({"nie": 0.96, "tie": 0.04}, ["nie"], id="the-second-is-unlikely"),
        pytest.param({"nie": 0.4, "tie": 0.3, "imv": 0.2, "arraigo": 0.1}, ["nie", "tie", "imv"], id="three-at-most"),
        pytest.param({}, [], id="nothing-known"),
    ],
)
def test_nearest_procedures(likely: dict[str, float], expected: list[str]) -> None:
    """The likeliest procedures are given, best first."""
    assert nearest_procedures(found(**likely)) == expected


@pytest.mark.parametrize(
    ("asked", "outcome", "options"),
    [
        pytest.param("?", found(hit_of(), nie=0.41, tie=0.3, imv=0.29), (), id="one-is-likely"),
        pytest.param("?", found(hit_of(), nie=0.39, tie=0.31, imv=0.3), ("nie", "tie", "imv"), id="none-is-likely"),
        pytest.param("el NIE y la TIE", found(hit_of(), nie=0.39, tie=0.31, imv=0.3), (), id="named"),
        pytest.param("?", refused(0.2, nie=0.3, tie=0.3), (), id="refused"),
        pytest.param("?", refused(None), (), id="nobody-told"),
    ],
)
def test_doubt(clarifying: Clarifying, asked: str, outcome: Found, options: tuple[str, ...]) -> None:
    """Where no procedure is likely the likeliest are offered; what is refused is told so."""
    reply = clarifying.ask(asked, outcome, "es")
    assert (reply.options if reply else ()) == options


@pytest.mark.parametrize(
    ("asked", "likely", "options"),
    [
        pytest.param("?", {"nie": 0.95, "tie": 0.05}, (), id="sure"),
        pytest.param("?", {"nie": 0.7, "tie": 0.2, "imv": 0.08, "arraigo": 0.02}, ("tie", "imv"), id="likely"),
        pytest.param("¿y el NIE?", {"nie": 0.7, "tie": 0.3}, (), id="named"),
        pytest.param("?", {}, (), id="nobody-told"),
    ],
)
def test_what_else_may_be_meant(clarifying: Clarifying, asked: str, likely: dict[str, float], options: tuple[str, ...]) -> None:
    """Below an answer that is likely and not sure stands what else may be meant, numbered."""
    text, offered = clarifying.also(found(hit_of(), **likely), asked, "es")
    assert offered == options
    assert bool(text) is bool(options)


def test_a_refusal_names_what_is_near(clarifying: Clarifying) -> None:
    """Below a refusal stand the two procedures that are nearest; nothing where nothing is near."""
    text, options = clarifying.nearest(refused(0.8, nie=0.1, tie=0.06, imv=0.04), "es")
    assert options == ("nie", "tie")
    assert "1. *NIE" in text
    assert clarifying.nearest(refused(1.0), "es") == ("", ())


def test_the_place(clarifying: Clarifying, texts: Texts) -> None:
    """When facts of several places would answer, and none for all of Spain does better, the place is asked for."""
    here, there = hit_of(territory="ES-CT"), hit_of("nie-plazos-02", 0.9, territory="ES-MD")
    reply = clarifying.ask("¿Dónde se pide?", found(here, there), "es")
    assert reply is not None
    assert (reply.text, reply.options) == (texts.say("es", "which_place"), ())
    assert clarifying.ask("¿Dónde se pide en Sevilla?", found(here, there), "es") is None
    assert not turns_on_place([here])
    assert turns_on_place([here, there], [hit_of("nie-plazos-03", 0.5)])
    assert not turns_on_place([here, there], [hit_of("nie-plazos-03", 2.0)])
    assert not turns_on_place([hit_of(), here, there])
    assert not turns_on_place([])


def test_never_twice(clarifying: Clarifying) -> None:
    """After one question back the best guess is answered; an outage is never turned into a question."""
    near = found(hit_of("nie-plazos-01"), nie=0.39, tie=0.36, imv=0.25)
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
