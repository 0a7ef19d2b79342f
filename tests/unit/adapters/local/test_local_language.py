"""Tests of the bundled language identification."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clara.adapters.local.language import LocalLanguageIdentifier
from clara.conversation.texts import LANGUAGES


@pytest.fixture(scope="module")
def identifier() -> LocalLanguageIdentifier:
    """The real identifier for the served languages."""
    return LocalLanguageIdentifier(LANGUAGES)


@pytest.mark.parametrize(
    ("expected", "text"),
    [
        pytest.param("es", "quiero saber cuánto tiempo tarda la solicitud", id="es"),
        pytest.param("en", "I would like to know how long the application takes", id="en"),
        pytest.param("fr", "je voudrais savoir combien de temps prend la demande", id="fr"),
        pytest.param("ar", "أريد أن أعرف كم من الوقت يستغرق الطلب", id="ar"),
        pytest.param("ro", "aș vrea să știu cât durează cererea", id="ro"),
        pytest.param("pt", "gostaria de saber quanto tempo demora o pedido", id="pt"),
        pytest.param("ca", "m'agradaria saber quant de temps triga la sol·licitud", id="ca"),
        pytest.param("zh", "我想知道申请需要多长时间", id="zh"),
        pytest.param("uk", "я хотів би знати, скільки часу займає заява", id="uk"),
        pytest.param("ru", "я хотел бы знать, сколько времени занимает заявление", id="ru"),
    ],
)
def test_sentences(identifier: LocalLanguageIdentifier, expected: str, text: str) -> None:
    """A whole sentence is identified in each of the ten languages."""
    assert identifier.identify(text) == expected


@pytest.mark.parametrize("text", ["", "   ", "1234", "👍", "\x00"])
def test_nothing_to_judge_by(identifier: LocalLanguageIdentifier, text: str) -> None:
    """A text without letters has no language."""
    assert identifier.identify(text) is None


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("\ud800", id="alone"),
        pytest.param("\udc00\ud800", id="the-wrong-way-round"),
        pytest.param("quiero saber cuánto tiempo \udfff tarda la solicitud", id="in-a-sentence"),
    ],
)
def test_lone_surrogate(identifier: LocalLanguageIdentifier, text: str) -> None:
    """A lone surrogate neither raises nor hides the language of the words around it."""
    assert identifier.identify(text) == ("es" if "quiero" in text else None)


@given(st.text(st.characters(exclude_categories=[])))
def test_anything(identifier: LocalLanguageIdentifier, text: str) -> None:
    """Any text has a served language or none."""
    assert identifier.identify(text) in {None, *LANGUAGES}
