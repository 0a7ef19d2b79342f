"""Tests of where a text may be cut."""

from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clara.language.sentences import sentence_ends


def sentences(text: str) -> list[str]:
    ends = sentence_ends(text)
    return [text[start:end].strip() for start, end in zip([0, *ends], ends, strict=False)]


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        pytest.param("Dura un mes. Es gratis.", ["Dura un mes.", "Es gratis."], id="two sentences"),
        pytest.param("¿Cuánto? ¡Nada! Sí… No.", ["¿Cuánto?", "¡Nada!", "Sí…", "No."], id="every mark"),
        pytest.param("Dijo «ya.» Luego (fin.) Otra", ["Dijo «ya.»", "Luego (fin.)", "Otra"], id="closing quotes and brackets"),
        pytest.param("Son 1.234,56 €. Y 9.84.", ["Son 1.234,56 €.", "Y 9.84."], id="stops in numbers"),
        pytest.param("Según el art. 21 rige. Otro", ["Según el art. 21 rige.", "Otro"], id="abbreviation and number"),
        pytest.param(
            "El art. Veintiuno y el núm. Cinco.", ["El art. Veintiuno y el núm. Cinco."], id="abbreviation and capital"
        ),
        pytest.param("El Sr. García y la Dra. Ruiz.", ["El Sr. García y la Dra. Ruiz."], id="titles"),
        pytest.param("D. José vive en EE. UU. desde 2010.", ["D. José vive en EE. UU. desde 2010."], id="initials"),
        pytest.param("Traiga fotos, p.ej. Dos. Bien.", ["Traiga fotos, p.ej. Dos.", "Bien."], id="letters with stops"),
        pytest.param("Ver pág. 3. Fin.", ["Ver pág. 3.", "Fin."], id="a number may end a sentence"),
        pytest.param("Vale 12. 30 días", ["Vale 12. 30 días"], id="no cut before a number"),
        pytest.param("El BOPV. de ayer", ["El BOPV. de ayer"], id="no cut before a small letter"),
        pytest.param("Pasos:\n1. Uno\n2. Dos\n\nFin", ["Pasos:", "1. Uno", "2. Dos", "Fin"], id="numbered items"),
        pytest.param("Traiga:\n- fotos\n• copia", ["Traiga:", "- fotos", "• copia"], id="bullets"),
        pytest.param(
            "según el art.\n21) vale\n\nFin", ["según el art.\n21) vale", "Fin"], id="abbreviation at the end of a line"
        ),
        pytest.param("sin punto\ny sigue", ["sin punto\ny sigue"], id="a broken line is no end"),
        pytest.param("你好。再见！“好。”", ["你好。", "再见！", "“好。”"], id="Chinese"),
        pytest.param("ما هذا؟ هذا نموذج.", ["ما هذا؟", "هذا نموذج."], id="Arabic"),
        pytest.param("  \n ", [], id="blanks"),
    ],
)
def test_a_text_is_cut_between_sentences(text: str, cut: list[str]) -> None:
    """Never inside a number, behind an abbreviation or in the middle of a broken line."""
    assert sentences(text) == cut


def test_the_abbreviations_are_the_callers() -> None:
    """Another domain brings its own, in lower case and without stop."""
    assert len(sentence_ends("Ver Apdx. Tres.")) == 2
    assert len(sentence_ends("Ver Apdx. Tres.", frozenset({"apdx"}))) == 1


@given(st.text(st.sampled_from("aA.1 \n-!。)…")))
def test_ends_are_places_of_the_text(text: str) -> None:
    """They ascend, each ends something visible, and the last is the end of the text without blanks."""
    ends = sentence_ends(text)
    assert ends == sorted(set(ends))
    assert all(text[:end].strip() for end in ends)
    assert ends[-1:] == ([len(text.rstrip())] if text.strip() else [])
    assert not any(text[end - 1 : end + 1].isalnum() and len(text[end - 1 : end + 1]) == 2 for end in ends)


@pytest.mark.parametrize("unit", [".", '."', "\n", "\n ", "a.", "。", "[", "1."], ids=ascii)
def test_long_runs_cost_their_length(unit: str) -> None:
    """A hundred thousand marks take a moment; the square of that would take hours."""
    started = perf_counter()
    sentence_ends(unit * 100_000)
    assert perf_counter() - started < 10
