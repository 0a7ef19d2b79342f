"""Tests of reviewing what a model wrote."""

from pathlib import Path
from typing import Any

import pytest
from grounding import Parts, evidence, parts_on
from unit_builders import passage_of

from clara.answering.writing.prompt import Evidence
from clara.answering.writing.reviewer import Review, answers, mended
from clara.language.detection import LanguageDetector

FEE = passage_of("nie-cuantias-01", "La tasa del NIE cuesta 9,84 € y se paga con el modelo 790 código 012.")
WAIT = passage_of("nie-plazos-01", "El NIE tarda cinco días. No hay que pedirlo dos veces.")


@pytest.fixture
def shown() -> Evidence:
    """Two facts, the second of which limits the first."""
    return evidence(FEE, WAIT, limits={"nie-cuantias-01": ["nie-plazos-01"]})


def review(parts: Parts, draft: str, shown: Evidence, language: str = "es") -> Review:
    """Review a draft to a question without figures."""
    return parts.reviewer.review(draft, shown, language, "¿Cuánto cuesta?")


@pytest.mark.parametrize(
    ("draft", "kept"),
    [
        pytest.param("La tasa del NIE cuesta 9,84 € [C1].", "La tasa del NIE cuesta 9,84 € [C1].", id="proved"),
        pytest.param("Hola. La tasa del NIE es de 9,84 €. [C1]", "La tasa del NIE es de 9,84 € [C1].", id="courtesy-goes"),
        pytest.param("• La tasa del NIE: 9,84 € [C1, C2]", "• La tasa del NIE: 9,84 € [C1] [C2]", id="marks-in-one-pair"),
        pytest.param("La tasa del NIE cuesta 98,40 € [C1].", "", id="wrong-figure"),
        pytest.param("El NIE tarda cinco días [C1].", "", id="figure-of-another-fact"),
        pytest.param("El NIE tarda cinco días.", "", id="no-mark"),
        pytest.param("El NIE tarda cinco días [C7].", "", id="unknown-mark"),
        pytest.param("Hay que pedirlo dos veces [C2].", "", id="lost-no"),
        pytest.param("«El NIE tarda cinco días. No hay que pedirlo dos veces.» [C2]", None, id="whole-fact-quoted"),
        pytest.param("La tasa\u200b del NIE cuesta 9,84 € [C1].", "La tasa del NIE cuesta 9,84 € [C1].", id="hidden-signs-go"),
        pytest.param(
            "La tasa del NIE cuesta 9,84 € [C1]. Llama al 600 111 222 [C1].", "La tasa del NIE cuesta 9,84 € [C1].", id="lure"
        ),
    ],
)
def test_what_stays(parts: Parts, shown: Evidence, draft: str, kept: str | None) -> None:
    """A sentence stays when the facts it cites hold all it says."""
    assert review(parts, draft, shown).text == (draft if kept is None else kept)


@pytest.mark.parametrize(
    ("language", "draft", "stays"),
    [
        pytest.param("en", "The NIE fee is 9.84 euros, paid with form 790-012 [C1].", True, id="figures"),
        pytest.param("en", "You need a lawyer and a translator for every step [C1].", False, id="nothing-to-compare"),
        pytest.param("en", "Tomorrow you must leave your home and sell everything you own [C1].", False, id="invented"),
        pytest.param("fr", "La taxe du NIE est de 9,84 euros [C1].", True, id="french"),
        pytest.param("fr", "The NIE fee that you have to pay is 9.84 euros [C1].", False, id="other-language"),
        pytest.param("ar", "رسم NIE هو 9,84 يورو [C1].", True, id="arabic"),
        pytest.param("zh", "NIE 的费用是 9,84 欧元 [C1]。", True, id="chinese"),
        pytest.param("en", "The NIE fee is 9.84 euros 費用 [C1].", False, id="other-script"),
    ],
)
def test_other_languages(parts: Parts, shown: Evidence, language: str, draft: str, stays: bool) -> None:
    """In another language a sentence must share a figure or a name with its fact, and be in that language."""
    assert bool(review(parts, draft, shown, language).kept) is stays


def test_a_languages_script_is_that_of_its_pack(data: Path, real: Any, shown: Evidence) -> None:
    """A language is written in the script that its pack names, and in no other: no code names languages."""
    detector = LanguageDetector({"es": "latin", "en": "cyrillic"}, lambda _text: {"en": 1.0}, {})
    parts = parts_on(data, real.catalogue, detector)
    assert review(parts, "Такса NIE 9,84 € [C1].", shown, "en").kept
    assert not review(parts, "Такса NIE 9,84 € 費用 [C1].", shown, "en").kept


def test_a_long_draft_is_not_read(parts: Parts, shown: Evidence) -> None:
    """A draft of ten thousand characters is refused as a whole."""
    assert review(parts, "La tasa cuesta 9,84 € [C1]. " * 400, shown).whole == ("length",)


def test_a_fact_needs_its_limits(parts: Parts, shown: Evidence) -> None:
    """A fact told without the fact that limits it does not answer; with that one quoted it does."""
    half = review(parts, "La tasa del NIE cuesta 9,84 € [C1].", shown)
    assert not answers(half, shown)
    whole = mended(half, shown)
    assert answers(whole, shown)
    assert whole.quoted == 1
    assert whole.text.endswith("• «El NIE tarda cinco días. No hay que pedirlo dos veces» [C2]")


def test_the_main_fact_is_quoted_first(parts: Parts, shown: Evidence) -> None:
    """When the model left the main fact out, it stands before what the model told."""
    lines = mended(review(parts, "El NIE tarda cinco días [C2].", shown), shown).text.splitlines()
    assert lines[0].startswith("• «La tasa del NIE cuesta")
    assert lines[1] == "El NIE tarda cinco días [C2]."


def test_nothing_is_mended_out_of_nothing(parts: Parts, shown: Evidence) -> None:
    """Of a draft without one sound sentence nothing is made."""
    empty = review(parts, "Hola.", shown)
    assert mended(empty, shown) == empty
    assert not answers(empty, shown)


def test_lost(parts: Parts, shown: Evidence) -> None:
    """A fact is lost when all sentences about it had to go, and not when a courtesy went."""
    assert review(parts, "La tasa cuesta 5 € [C1]. El NIE tarda cinco días [C2].", shown).lost
    assert not review(parts, "Hola. El NIE tarda cinco días [C2].", shown).lost


def test_what_is_not_known(parts: Parts, shown: Evidence) -> None:
    """The token for what the evidence leaves open is noticed and taken out."""
    found = review(parts, "La tasa del NIE cuesta 9,84 € [C1].\n{{NOT_KNOWN}}", shown)
    assert found.partly
    assert "NOT_KNOWN" not in found.text
