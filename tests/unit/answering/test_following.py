"""Tests of follow-ups: which messages hang on what was said, and what they stand for."""

import json
from pathlib import Path

import pytest

from clara.answering.dialogue.follow_ups import MEMORY
from clara.answering.dialogue.steps import Dialogue
from clara.answering.message import Past, ReplyStatus
from clara.answering.texts import Texts
from clara.answering.tool_factory import build_dialogue
from clara.settings import resources

IMV = "Ingreso mínimo vital (IMV)"
ABOUT_IMV = Past("¿cuánto se cobra de IMV en Valencia? Es para mi madre", ReplyStatus.ANSWERED, "es", "imv")


@pytest.fixture(scope="module")
def dialogue(real: object, texts: Texts) -> Dialogue:
    """The real steps."""
    return build_dialogue(real, texts, None)


def asked(dialogue: Dialogue, text: str, language: str = "es", past: tuple[Past, ...] = (ABOUT_IMV,)) -> str:
    """Give what a message stands for."""
    return dialogue.following.resolve(text, past, language)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("es", "¿dónde?"),
        ("es", "y cuánto tarda"),
        ("es", "necesito cita?"),
        ("es", "me lo pueden quitar si viajo"),
        ("es", "¿y puedo cobrarlo con el paro?"),
        ("en", "and for my wife?"),
        ("fr", "et combien ça coûte ?"),
        ("ar", "وكم يستغرق؟"),
        ("ar", "وفين نقدم؟"),
        ("ro", "și cât durează?"),
        ("pt", "e se eu tiver filhos?"),
        ("ca", "i quant triga?"),
        ("zh", "那要多久？"),
        ("zh", "如果我有孩子呢"),
        ("uk", "а скільки чекати?"),
        ("ru", "а в Мадриде?"),
    ],
)
def test_hangs(dialogue: Dialogue, real: object, language: str, text: str) -> None:
    """A message without a subject of its own is asked about the procedure spoken of, by its name in the person's language."""
    name = real.names["imv"][language]
    whole = asked(dialogue, text, language)
    assert name.split(" (")[0].split("（")[0] in whole
    assert text in whole


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("¿y el paro?", id="names-another"),
        pytest.param("y el alquiler?", id="means-another"),
        pytest.param("me han cortado la luz", id="unnamed-other"),
        pytest.param("y como renuevo el dni", id="outside"),
        pytest.param("quiero renovar el NIE", id="full-question"),
        pytest.param("¿Cuánto se cobra de IMV en 2026?", id="names-the-same"),
        pytest.param("no", id="nothing-said"),
        pytest.param("mi hijo tiene 17 años y no tiene permiso, puede pedir beca", id="own-story"),
    ],
)
def test_new_subject(dialogue: Dialogue, text: str) -> None:
    """A message that says what it is about stays as it is, and nothing of the old subject is kept."""
    assert asked(dialogue, text) == text


def test_keeps_what_is_asked(dialogue: Dialogue) -> None:
    """A message that only changes the circumstances keeps the question; a place that it names replaces the old one."""
    whole = asked(dialogue, "¿y en Madrid?")
    assert "cuanto se cobra" in whole
    assert "mi madre" in whole
    assert "Valencia" not in whole


def test_keeps_place_and_person(dialogue: Dialogue, real: object) -> None:
    """Where and for whom it was asked stays in force, so that the right territory is searched."""
    whole = asked(dialogue, "y cuánto tarda")
    assert "mi madre" in whole
    assert real.catalogue.places.territory_of(whole) == real.catalogue.places.territory_of("vivo en Valencia")


def test_own_person_replaces(dialogue: Dialogue) -> None:
    """Somebody else in the message takes the place of the person spoken of."""
    assert "mi madre" not in asked(dialogue, "¿y para mi hijo?")


def test_change_of_topic_forgets(dialogue: Dialogue) -> None:
    """After a change of topic, place and person of the old one are not kept."""
    past = (Past("¿y el NIE?", ReplyStatus.ANSWERED, "es", "nie"), ABOUT_IMV)
    whole = asked(dialogue, "¿cuánto cuesta?", past=past)
    assert "NIE" in whole
    assert "Valencia" not in whole
    assert IMV not in whole


def test_thanks_leaves_the_subject(dialogue: Dialogue) -> None:
    """A greeting or thanks in between changes no subject."""
    past = (Past("gracias", ReplyStatus.COMMAND, "es"), ABOUT_IMV)
    assert "mínimo vital" in asked(dialogue, "¿y cuánto tarda?", past=past)


def test_unknown_subject_stays_unknown(dialogue: Dialogue) -> None:
    """What follows a question that found nothing is asked together with it, not about something older."""
    past = (Past("¿Cómo renuevo el DNI?", ReplyStatus.NOT_FOUND, "es"), ABOUT_IMV)
    assert asked(dialogue, "¿y cuánto cuesta?", past=past) == "¿Cómo renuevo el DNI? ¿y cuánto cuesta?"


def test_follow_up_without_answer_keeps_the_subject(dialogue: Dialogue) -> None:
    """A follow-up that found nothing did not change the subject."""
    past = (Past("¿y eso cómo va?", ReplyStatus.NOT_FOUND, "es"), ABOUT_IMV)
    assert "mínimo vital" in asked(dialogue, "¿y cuánto tarda?", past=past)


def test_old_conversation(dialogue: Dialogue) -> None:
    """After half an hour a message begins anew."""
    old = Past(ABOUT_IMV.question, ReplyStatus.ANSWERED, "es", "imv", age=MEMORY + 1)
    assert asked(dialogue, "¿y cuánto tarda?", past=(old,)) == "¿y cuánto tarda?"
    assert asked(dialogue, "¿y cuánto tarda?", past=()) == "¿y cuánto tarda?"


def test_single_questions_untouched(dialogue: Dialogue) -> None:
    """Of the evaluation's questions at least 97 % stay themselves after a turn about something else."""
    lines = [line for file in _files() for line in file.read_text("utf-8").splitlines()]
    cases = [json.loads(line) for line in lines]
    unrelated = {case["id"]: "tie" if "imv" in case["expected_procedures"] else "imv" for case in cases}
    kept = [
        case["query"] == asked(dialogue, case["query"], case["language"], (_about(unrelated[case["id"]], case["language"]),))
        for case in cases
    ]
    assert sum(kept) >= 0.97 * len(kept)
    assert len(kept) == 516


def _about(document: str, language: str) -> Past:
    return Past("¿Cuánto se cobra?", ReplyStatus.ANSWERED, language, document)


def _files() -> list[Path]:
    return [resources() / "eval" / "clara" / f"{name}.jsonl" for name in ("development", "queries")]
