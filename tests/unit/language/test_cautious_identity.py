"""Texts that may say who somebody is are told from ordinary questions."""

import json
from pathlib import Path

import pytest

from clara.language.identity_data import may_identify

DATA = Path(__file__).parents[2] / "data"


@pytest.mark.parametrize(
    "text",
    [
        "mi correo es ana.perez@example.org",
        "ana arroba example punto org",
        "escribe a ana @ example.org",
        "llámame al 612 34 56 78",
        "(+34) 612-345-678",
        "٦١٢٣٤٥٦٧٨",
        "６１２３４５６７８",
        "612\u200b345\u200b678",
        "mi DNI es 12345678Z",
        "DNI 12.345.678-Z",
        "mi NIE es X-1234567-L",
        "y1234567z",
        "pasaporte AAB123456",
        "passport C01X00T47",
        "passport K12A3456",
        "ES91 2100 0418 4502 0005 1332",
        "NL91ABNA0417164300",
        "nací el 03/05/1990",
        "nací el 3-5-90",
        "1990-05-03",
        "nací el 3 de mayo de 1990",
        "born on May 3, 1990",
        "born on 3rd May 1990",
        "née en 1990",
        "născută în 1990",
        "я родился в 1990 году",
        "народилась 1990",
        "ولدت سنة 1990",
        "1990年5月3日",
        "我1990年出生",
        "Hola, me llamo Ana",
        "mi nombre es ana",
        "my name is ana",
        "je m'appelle Ana",
        "Je m’appelle Ana",
        "em dic Ana",
        "me chamo Ana",
        "o meu nome é António Silva",
        "ma soeur s'appelle Fatou",
        "numele meu Ion Popescu",
        "живу на улицу Ленина 5",
        "chámome Xoán Pérez",
        "a miña filla chámase Uxía",
        "vivo na rúa do Hórreo 12",
        "nací el 3   5   90",
        "mă numesc Ana",
        "اسمي آنا",
        "меня зовут Анна",
        "мене звати Ганна",
        "我叫安娜",
        "soy Ana María Pérez",
        "I am Ana Perez",
        "vivo en la calle Mayor 12",
        "c/ Mayor, nº 12",
        "mi expediente 2023/1234",
    ],
)
def test_a_text_about_somebody_is_recognised(text):
    """Addresses, numbers, dates, names and streets in every served language, also written to look otherwise."""
    assert may_identify(text)


def test_ordinary_questions_are_not_taken_for_personal():
    """None of 768 questions with places, years, laws, forms and amounts."""
    lines = [line for file in DATA.glob("*_pairs.jsonl") for line in file.read_text("utf-8").splitlines()]
    texts = {json.loads(line)[side] for line in lines for side in "ab"}
    assert len(texts) > 600
    assert [text for text in texts if may_identify(text)] == []


@pytest.mark.parametrize(
    "text",
    [
        "ley 39/2015",
        "Real Decreto 557/2011",
        "tengo 28 años y 3 hijos",
        "gano 1.200 euros",
        "modelo 790 código 012",
        "soy Español",
    ],
)
def test_numbers_of_laws_and_amounts_are_not_personal(text):
    """They may be remembered."""
    assert not may_identify(text)
