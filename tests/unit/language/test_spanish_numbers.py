"""Tests of Spanish numbers in digits and words."""

import pytest

from clara.language.figures.figure import Figure, FigureKind
from clara.language.figures.reader import spanish


@pytest.mark.parametrize(
    ("written", "number"),
    [
        pytest.param("7", 7, id="digit"),
        pytest.param("0,5", 0.5, id="decimal"),
        pytest.param("1.234,56", 1234.56, id="thousands"),
        pytest.param("1.234.567", 1234567, id="millions-with-dots"),
        pytest.param("un", 1, id="un"),
        pytest.param("una", 1, id="una"),
        pytest.param("cero", 0, id="zero"),
        pytest.param("veintiún", 21, id="accent"),
        pytest.param("veintidos", 22, id="accent-forgotten"),
        pytest.param("Dieciséis", 16, id="capital"),
        pytest.param("VEINTITRÉS", 23, id="capitals"),
        pytest.param("treinta y una", 31, id="tens-and-one"),
        pytest.param("noventa y nueve", 99, id="tens-and-nine"),
        pytest.param("cien", 100, id="hundred"),
        pytest.param("ciento ochenta", 180, id="hundred-and-more"),
        pytest.param("trescientos sesenta y cinco", 365, id="hundreds"),
        pytest.param("quinientas", 500, id="five-hundred"),
        pytest.param("setecientos dos", 702, id="seven-hundred"),
        pytest.param("novecientas", 900, id="nine-hundred"),
        pytest.param("mil", 1000, id="thousand"),
        pytest.param("mil ochenta", 1080, id="thousand-and-more"),
        pytest.param("dos mil ciento sesenta", 2160, id="thousands-in-words"),
        pytest.param("treinta y un mil", 31000, id="tens-of-thousands"),
        pytest.param("cien mil", 100000, id="hundred-thousand"),
    ],
)
def test_one_number(written: str, number: float) -> None:
    """A number is one number however many words it has."""
    assert spanish().numbers_in(f"en {written} casos") == [(3, 3 + len(written), number)]


@pytest.mark.parametrize(
    ("series", "numbers"),
    [
        pytest.param("100, 70 y 50", [100, 70, 50], id="list"),
        pytest.param("de 3 a 6", [3, 6], id="range"),
        pytest.param("5-10", [5, 10], id="hyphen"),
        pytest.param("1.080–1.259", [1080, 1259], id="dash"),
        pytest.param("1,4 / 1,8 / 2,2", [1.4, 1.8, 2.2], id="decimals-with-slashes"),
        pytest.param("siete u ocho", [7, 8], id="u"),
        pytest.param("treinta y uno y treinta y dos", [31, 32], id="y-inside-and-between"),
        pytest.param("tres hasta doce", [3, 12], id="hasta"),
    ],
)
def test_series(series: str, numbers: list[float]) -> None:
    """Numbers with nothing but joining words between them are one series: the unit behind the last is that of all."""
    assert [number for _, _, number in spanish().numbers_in(series)] == numbers
    assert spanish().values_in(f"{series} puntos") == {Figure(FigureKind.COUNT, float(number), "points") for number in numbers}


@pytest.mark.parametrize(
    ("scale", "numbers"),
    [
        pytest.param("", [1.1, 3], id="none"),
        pytest.param("mil ", [1100, 3000], id="thousand"),
        pytest.param("Millones de ", [1100000, 3000000], id="million"),
    ],
)
def test_scale(scale: str, numbers: list[float]) -> None:
    """A scale behind a series holds for each of its numbers, without crumbs of the multiplication."""
    read = spanish().values_in(f"1,1 o 3 {scale}euros")
    assert read == {Figure(FigureKind.AMOUNT, float(number), "EUR") for number in numbers}


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("por ciento", id="end-of-percent"),
        pytest.param("cienes, milla, dosis, unidad", id="beginning-of-a-word"),
        pytest.param("algunos, ninguna", id="end-of-a-word"),
        pytest.param("A2, 5x", id="glued-to-a-letter"),
        pytest.param("5.12", id="numbering"),
    ],
)
def test_no_number(text: str) -> None:
    """What is part of another word or of a numbering is no number that a unit could follow."""
    assert spanish().numbers_in(text) == []
