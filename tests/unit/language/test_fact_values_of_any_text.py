"""What holds for the reading of any text at all: no digit lost, no error, no long time."""

import json
import unicodedata
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clara.language.figures.figure import as_json, figure_from
from clara.language.figures.reader import spanish

values_in = spanish().values_in

# Pieces of figures: what a hostile or unlucky text is made of.
PIECES = st.sampled_from(
    [
        *"0123456789.,-–/:;%€@ªº+()\n\0",
        *(
            "12",
            "016",
            "112",
            "2026",
            "1.234",
            "600 000 016",
            "790",
            "+34",
            "9:30",
            "EX",
            "TA.",
            "A2",
            "art. ",
            "arts. ",
            "DA ",
        ),
        *(
            " ",
            " a ",
            " al ",
            " y ",
            " o ",
            " de ",
            " del ",
            " la ",
            " en vez de ",
            " por ciento",
            " al mes",
            " euros",
            " mil ",
        ),
        *(
            "treinta",
            "uno",
            "cien",
            "ſeis",
            "veİnte",
            " millones",
            "enero",
            "ſeptiembre",
            "mayor de ",
            "edad ",
            "años",
            "meſes",
        ),
        *(
            "tasa ",
            "modelo ",
            "código ",
            "disposición adicional ",
            "Ley ",
            "Reglamento (UE) ",
            "BOE-A-",
            "días hábiles",
            "veces",
        ),
        *("www.", ".es", "http://", "٣", "\u00a0", "\u202f", "\u2011"),
    ]
)
TEXTS = st.text() | st.lists(PIECES).map("".join)


@given(TEXTS)
def test_no_digit_is_lost(text: str) -> None:
    """Every digit of any text ends in some figure; only the zeros around a number and the country's 34 may go."""
    kept = "".join(repr(figure.value) for figure in values_in(text))
    spared = "034" if "34" in text else "0"
    digits = {str(unicodedata.decimal(character)) for character in text if character.isdecimal()}
    assert digits - set(spared) <= set(kept)


@given(TEXTS)
def test_figures_of_anything_can_be_stored(text: str) -> None:
    """Any text is read, and every figure of it is written and read back as it was."""
    for figure in values_in(text):
        assert figure_from(json.loads(as_json(figure))) == figure


@given(TEXTS)
def test_unbreakable_blanks(text: str) -> None:
    """Blanks that do not break a line make no difference."""
    assert values_in(text.replace(" ", "\u00a0")) == values_in(text.replace(" ", "\u202f")) == values_in(text)


BEGINNINGS = (
    *(
        "1",
        "1,",
        "1,1,1,",
        "1.",
        "1.111",
        "1 a ",
        "1 y ",
        "1 frente a ",
        "treinta y uno y ",
        "mil y ",
        "un ",
        "de ",
        " ",
        "\n",
        "\0",
    ),
    *(
        "1 de ",
        "1 y el ",
        "1º y ",
        "1o",
        "1 de enero ",
        "enero de ",
        "2020-",
        "1/",
        "1:1",
        "1 € al ",
        "1 millones de ",
        "1 mil ",
    ),
    *("art. 1, ", "art. 1.1", "1.1.1.", "DA 1, ", "DA 1.ª y ", "tasa 100 o ", "790 código ", "EX-", "A1", "RD 1/", "Ley (UE) "),
    *(
        "a",
        "a.",
        "a-",
        "a--",
        "a@",
        "a.a@",
        "@a",
        "a.es/",
        "www.",
        "http://",
        "http://)",
        ")",
        "+34 ",
        "600 ",
        "6",
        "116 ",
        "BOE-A-",
    ),
    *(
        "mayor de ",
        "mayores de 18 o ",
        "mayor con ",
        "5 años ",
        "edad ",
        "hijos de ",
        "cumplí los ",
        "personas a de ",
        "a\u0301\u0327",
    ),
)


@pytest.mark.parametrize("piece", BEGINNINGS)
def test_hostile_texts(piece: str) -> None:
    """A text of 10,000 characters that repeats the beginning of a figure takes no noticeable time."""
    for end in ("", "!", "x"):
        text = (piece * 10_000)[:10_000] + end
        begun = process_time()
        values_in(text)
        assert process_time() - begun < 8  # a tenth of a second alone; what looks back again and again takes minutes
