"""Tests of finding what is asked in a message: the sentence that asks, and each of several questions."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clara.answering.dialogue.message_parts import MOST_PARTS, Asking
from clara.answering.dialogue.phrasebook import read_phrasebooks

# One long sentence.
LIFE = (
    "Vine de Lima con mis dos hijos y desde entonces trabajo por las mañanas en una casa y por las tardes en un bar del centro."
)


@pytest.fixture(scope="module")
def asking(data: Path) -> Asking:
    """What finds questions, with the real phrases."""
    return Asking(read_phrasebooks(data))


@pytest.mark.parametrize(
    ("language", "text", "focus"),
    [
        pytest.param("es", "¿Cuánto tarda el NIE?", (), id="one-sentence"),
        pytest.param("es", f"{LIFE} Vine en mayo. Vivo en casa de mi prima. Estoy cansada.", (), id="no-question"),
        pytest.param("es", "Vine en mayo. ¿Cómo me empadrono yo?", (), id="short"),
        pytest.param(
            "es",
            f"{LIFE} Mi prima cobra el IMV. ¿Cómo me empadrono yo? Gracias por todo.",
            ("¿Cómo me empadrono yo?", "Mi prima cobra el IMV. ¿Cómo me empadrono yo?"),
            id="question-mark",
        ),
        pytest.param(
            "es",
            f"{LIFE} Quisiera saber qué papeles piden para el padrón.",
            ("Quisiera saber qué papeles piden para el padrón.",),
            id="words-that-ask",
        ),
        pytest.param(
            "zh",
            f"{'我们来自中国住在马德里' * 6}。我女儿出生了。怎么给她办登记？",
            ("怎么给她办登记？", "我女儿出生了。 怎么给她办登记？"),
            id="zh",
        ),
    ],
)
def test_focus(asking: Asking, language: str, text: str, focus: tuple[str, ...]) -> None:
    """In a story the last sentence that asks is found, and again with the one before it unless that is the whole message."""
    assert asking.focus(text, language) == focus


@pytest.mark.parametrize(
    ("language", "text", "parts"),
    [
        pytest.param("es", "¿Cuánto tarda el NIE?", 0, id="one"),
        pytest.param("es", "¿Cuánto se cobra de IMV? ¿Y cómo me empadrono?", 2, id="two-question-marks"),
        pytest.param("es", "quiero bajarme la vida laboral y también necesito saber cómo me empadrono", 2, id="also"),
        pytest.param("en", "I want to renew my card, and how do I get the bus pass", 2, id="en"),
        pytest.param("es", "1) cuando renuevo la tarjeta 2) como traigo a mi esposa", 2, id="a-list"),
        pytest.param("es", "mi marido cobra el paro y yo estoy de baja, ¿puedo pedir el IMV?", 0, id="a-story-and-a-question"),
        pytest.param("es", " ".join(f"¿Qué es la cosa número {n}?" for n in range(9)), MOST_PARTS, id="many"),
    ],
)
def test_parts(asking: Asking, language: str, text: str, parts: int) -> None:
    """A message is cut where one thing asked ends and another begins; a story around one question is one."""
    assert len(asking.parts(text, language)) == parts


@given(st.text(max_size=400), st.sampled_from(["es", "zh", "ar", "ru"]))
def test_any_text(asking: Asking, text: str, language: str) -> None:
    """Any text is taken, and every part stands in it."""
    for part in asking.parts(text, language):
        assert "".join(part.split()) in "".join(text.split())
