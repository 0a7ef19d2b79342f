"""Tests of reading figures in ten languages. A figure is written as an editor sees it; the likeliest reading is shown."""

from pathlib import Path

import pytest

from clara.language.figures.agreement import HeldFigures
from clara.language.figures.figure import Figure, FigureKind
from clara.language.figures.lexicon import read_lexicons
from clara.language.figures.reader import Reader


@pytest.fixture(scope="module")
def reader(data: Path) -> Reader:
    """The reader with the real words."""
    return Reader(read_lexicons(data))


def shown(reader: Reader, text: str, language: str) -> list[str]:
    """Read a text and show the likeliest reading of each figure."""
    return [str(found.readings[0]) for found in reader.figures_in(text, language)]


CASES = [
    ("es", "1.234,56 € al mes", ["amount 1234.56 EUR/month", "period 1 month"]),
    ("es", "entre 23 y 64 años, medio año y treinta y un días hábiles",
     ["period 23 year", "period 64 year", "period 0.5 year", "period 31 working_day"]),
    ("es", "del 1 al 15 de mayo de 2026, el 30-J y el curso 2026/27",
     ["date 2026-05-01", "date 2026-05-15", "date --06-30", "date 2026", "date 2027"]),
    ("es", "un tercio, la mitad, el 33 por ciento", ["percentage 33.33", "percentage 50", "percentage 33"]),
    ("es", "modelo 790 código 012, EX-15, art. 31.3 de la Ley 39/2015",
     ["form 790-012", "form EX-15", "provision art. 31.3", "norm 39/2015 ley"]),
    ("es", "el 016, el 900 10 50 90 y el +34 600 000 016", ["phone 016", "phone 900105090", "phone 600000016"]),
    ("es", "te da 15 días, de 9:00 a 14:00", ["period 15 day", "time 09:00", "time 14:00"]),
    ("es", "el 33 %, el 50% y un 65 por ciento", ["percentage 33", "percentage 50", "percentage 65"]),
    ("en", "€733.60 a month or 1,234.56 euros", ["amount 733.6 EUR/month", "period 1 month", "amount 1234.56 EUR"]),
    ("en", "one hundred and twenty days, a 30-day limit, 23 years old", ["period 120 day", "period 30 day", "age 23"]),
    ("en", "May 15, 2026; you may ask 24 hours a day", ["date 2026-05-15", "period 24 hour"]),
    ("en", "Royal Decree 1155/2024, article 12, form 790 code 012",
     ["norm 1155/2024 decreto", "provision art. 12", "form 790-012"]),
    ("fr", "1 234,56 € par mois, quatre-vingt-dix jours ouvrables",
     ["amount 1234.56 EUR/month", "period 1 month", "period 90 working_day"]),
    ("fr", "le 1er mai 2026, trente et un jours, neuf dossiers", ["date 2026-05-01", "period 31 day"]),
    ("ar", "١٢٣ يورو شهريا، ثلاثة أشهر، شهران", ["amount 123 EUR/month", "period 1 month", "period 3 month", "period 2 month"]),
    ("ar", "من 3 إلى 6 أشهر، خمسة وعشرون يوما، المادة 12",
     ["period 3 month", "period 6 month", "period 25 day", "provision art. 12"]),
    ("ar", "١٬٢٣٤٫٥٦ يورو في ١٥ مايو ٢٠٢٦", ["amount 1234.56 EUR", "date 2026-05-15"]),
    ("ro", "trei luni, 20 de zile, douăzeci și trei de ani", ["period 3 month", "period 20 day", "period 23 year"]),
    ("ro", "733,60 euro pe lună din 15 mai 2026", ["amount 733.6 EUR/month", "period 1 month", "date 2026-05-15"]),
    ("pt", "três meses, 3 dias úteis, 15 de maio de 2026", ["period 3 month", "period 3 working_day", "date 2026-05-15"]),
    ("ca", "tres mesos, vint-i-tres anys, 15 d'abril de 2026", ["period 3 month", "period 23 year", "date 2026-04-15"]),
    ("zh", "三个月，每月733.60欧元，百分之三十",
     ["period 3 month", "period 1 month", "amount 733.6 EUR/month", "percentage 30"]),
    ("zh", "2026年5月1日至15日，十个工作日，半年",
     ["date 2026-05-01", "date 2026-05-15", "period 10 working_day", "period 6 month"]),
    ("zh", "第39/2015号法律第12条，拨打016，电话900105090。",
     ["norm 39/2015 ley", "provision art. 12", "phone 016", "phone 900105090"]),
    ("uk", "протягом трьох місяців, двадцять п'ять днів, 15 травня 2026 року",
     ["period 3 month", "period 25 day", "date 2026-05-15"]),
    ("uk", "733,60 євро на місяць, 10 робочих днів, вся сім'я",
     ["amount 733.6 EUR/month", "period 1 month", "period 10 working_day"]),
    ("ru", "с 1 по 15 мая, двадцати пяти лет, 30-дневный срок",
     ["date --05-01", "date --05-15", "period 25 year", "period 30 day"]),
    ("ru", "бланк ЕХ-15, ст. 31.3, 733,60 евро в месяц",
     ["form EX-15", "provision art. 31.3", "amount 733.6 EUR/month", "period 1 month"]),
    ("es", "３３ por ciento y ²⁄₃", ["percentage 33", "count 2", "count 3"]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("language", "text", "expected"), [pytest.param(*case, id=f"{case[0]}-{case[1][:24]}") for case in CASES]
)
def test_figures_are_read_in_ten_languages(reader: Reader, language: str, text: str, expected: list[str]) -> None:
    """Each language's ways to write a figure give the same value."""
    assert shown(reader, text, language) == expected


def test_an_ambiguous_number_has_every_reading(reader: Reader) -> None:
    """A point before three digits separates thousands or decimals: both are given."""
    found = reader.figures_in("cuesta 1.234 €", "es")[0]
    assert {reading.value for reading in found.readings} == {1234.0, 1.234}


@pytest.mark.parametrize(
    ("text", "language"),
    [
        pytest.param("un año", "es", id="same"),
        pytest.param("12 months", "en", id="a-year-in-months"),
        pytest.param("一年", "zh", id="chinese"),
    ],
)
def test_the_same_time_agrees(reader: Reader, text: str, language: str) -> None:
    """A year is twelve months in any language."""
    evidence = HeldFigures([Figure(FigureKind.PERIOD, 1.0, "year")])
    assert evidence.holds(reader.figures_in(text, language)[0])


@pytest.mark.parametrize(
    ("held", "stated", "agrees"),
    [
        pytest.param(Figure(FigureKind.PERIOD, 1.0, "month"), "30 días", False, id="a-month-is-not-30-days"),
        pytest.param(Figure(FigureKind.PERIOD, 30.0, "working_day"), "30 días", False, id="a-day-is-no-working-day"),
        pytest.param(Figure(FigureKind.AMOUNT, 600.0, "EUR/month"), "600 € al año", False, id="another-rhythm"),
        pytest.param(Figure(FigureKind.AMOUNT, 600.0, "EUR"), "600 € al mes", False, id="a-rhythm-nobody-told"),
        pytest.param(Figure(FigureKind.AMOUNT, 600.0, "EUR/month"), "600 €", True, id="no-rhythm-told"),
        pytest.param(Figure(FigureKind.AMOUNT, 600.0, "EUR"), "600 dólares", False, id="another-money"),
        pytest.param(Figure(FigureKind.DATE, "2026-06-30"), "30 de junio", True, id="less-of-a-date"),
        pytest.param(Figure(FigureKind.DATE, "--06-30"), "30 de junio de 2026", False, id="more-of-a-date"),
        pytest.param(Figure(FigureKind.PROVISION, "art. 31.3"), "art. 31", True, id="less-of-an-article"),
        pytest.param(Figure(FigureKind.PROVISION, "art. 31"), "art. 31.3", False, id="more-of-an-article"),
        pytest.param(Figure(FigureKind.NORM, "39/2015", "ley"), "Real Decreto 39/2015", False, id="another-kind-of-norm"),
        pytest.param(Figure(FigureKind.URL, "https://sede.sepe.gob.es/x"), "sede.sepe.gob.es", True, id="the-site-alone"),
        pytest.param(Figure(FigureKind.URL, "https://sepe.gob.es/x"), "https://sepe.gob.es/y", False, id="another-page"),
        pytest.param(Figure(FigureKind.URL, "https://sepe.gob.es"), "https://sepe.gob.es.evil.com", False, id="another-host"),
        pytest.param(Figure(FigureKind.FORM, "790-012"), "tasa 012", True, id="the-fee-by-its-code"),
        pytest.param(Figure(FigureKind.PHONE, "016"), "llama al 016", True, id="short-phone"),
        pytest.param(Figure(FigureKind.PHONE, "900105090"), "900 10 50 91", False, id="another-digit"),
    ],
)  # fmt: skip
def test_agreement_keeps_units_and_parts(reader: Reader, held: Figure, stated: str, agrees: bool) -> None:
    """A figure agrees with the same one in other words, and with nothing that says more or something else."""
    found = [figure for figure in reader.figures_in(stated, "es") if figure.text.lower() not in {"al mes", "al año"}]
    assert all(HeldFigures([held]).holds(figure) for figure in found) is agrees
