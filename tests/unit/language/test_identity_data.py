"""Tests of hiding identity data."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clara.data_files import DataError
from clara.language.identity_data import holds_numbers, identity_in, identity_rules, masked
from clara.settings import resources

PEOPLE = [
    ("mi dni es 12345678Z", "mi dni es [DNI]"),
    ("DNI 12.345.678-Z y nada más", "DNI [DNI] y nada más"),
    ("mi nie x1234567l caduca", "mi nie [NIE] caduca"),
    ("NAF 28/12345678/40", "NAF [NAF]"),
    ("cuenta ES91 2100 0418 4502 0005 1332.", "cuenta [IBAN]."),
    ("my iban GB82 WEST 1234 5698 7654 32 ok", "my iban [IBAN] ok"),
    ("tarjeta 4111 1111 1111 1111", "tarjeta [TARJETA]"),
    ("llámame al +34 612 34 56 78", "llámame al [TELEFONO]"),
    ("numero ٦١٢٣٤٥٦٧٨", "numero [TELEFONO]"),
    ("tel 6\u200b12\u200b345678", "tel [TELEFONO]"),
    ("ana.p+x@mail.example.org gracias", "[CORREO] gracias"),
    ("nací el 3 de mayo de 1985 en Lima", "nací el [NACIMIENTO] en Lima"),
    ("我叫李明，护照E12345678", "我叫[NOMBRE]，护照[PASAPORTE]"),
    ("me llamo Ana María y tengo 3 hijos", "me llamo [NOMBRE] y tengo 3 hijos"),
    ("请打+34 612345678，谢谢", "请打[TELEFONO]，谢谢"),
    ("vivo en c/Mayor 15 de Lugo", "vivo en [DIRECCION] de Lugo"),
    ("vivo en calle Mayor 15, 3º B", "vivo en [DIRECCION]"),
    ("o meu nome é António Silva", "o meu nome é [NOMBRE]"),
    ("ma soeur s'appelle Fatou Diop", "ma soeur s'appelle [NOMBRE]"),
    ("chámome Xoán Pérez", "chámome [NOMBRE]"),
    ("vivo na rúa do Hórreo 12", "vivo na [DIRECCION]"),
    ("nacín o 3 de maio de 1990", "nacín o [NACIMIENTO]"),
    ("expediente 2024/123456 parado", "expediente [EXPEDIENTE] parado"),
]
KEPT = [
    "llama al 016, al 112, al 024 o al 900 20 22 22",
    "cobro 733,60 € al mes y pago 1.250 euros",
    "Ley 39/2015, RD 1155/2024, BOE-A-2026-8284, modelo 790 código 012, EX-17",
    "duermo en la calle desde hace 3 años",
    "unha praza na escola para o meu fillo de 3 anos",
    "está em meu nome e da minha mulher",
    "una plaza en el colegio para mi hijo de 3 años",
    "llegué el 12/03/2023 y llevo 2 años",
    "¿cómo se llama la ayuda de la luz?",
    "no tengo cuenta a mi nombre, uso la de mi hermana",
    "I called 112 and 024 yesterday",
    "escribe a 016-online@igualdad.gob.es",
]


@pytest.mark.parametrize(("text", "shown"), PEOPLE, ids=[text[:20] for text, _ in PEOPLE])
def test_identity_data_gives_way_to_its_mark(text: str, shown: str) -> None:
    """What says who somebody is becomes the mark of its kind; the rest stays; a second time changes nothing."""
    assert masked(text) == shown == masked(shown)
    assert identity_in(text)


@pytest.mark.parametrize("text", KEPT, ids=[text[:20] for text in KEPT])
def test_what_a_question_needs_stays(text: str) -> None:
    """Offices' telephones, amounts, norms, forms, ages and dates are nobody's identity."""
    assert masked(text) == text
    assert not identity_in(text)


def test_only_numbers_of_documents_call_for_a_word() -> None:
    """Who sends a document or an account is told not to; who gives a name or a telephone is not lectured."""
    assert holds_numbers("mi nie es X1234567L")
    assert holds_numbers("cuenta ES91 2100 0418 4502 0005 1332")
    assert not holds_numbers("me llamo Ana, vivo en calle Mayor 15, mi tel 612345678")


def test_every_fact_stays_as_it_is() -> None:
    """No telephone, address, amount or norm of a fact that may be told is taken for a person's."""
    changed = [
        fact["id"]
        for file in sorted((resources() / "data" / "tramites").glob("*.json"))
        for section in json.loads(file.read_text("utf-8"))["sections"]
        for fact in section["facts"]
        if fact["certainty"] != "unverified" and identity_in(fact["text"])
    ]
    assert changed == []


def test_the_telephones_of_offices_stay() -> None:
    """No number that a fact tells people to call is taken for a person's."""
    phones = {
        value["value"]
        for file in (resources() / "data" / "tramites").glob("*.json")
        for section in json.loads(file.read_text("utf-8"))["sections"]
        for fact in section["facts"]
        for value in fact.get("values", ())
        if fact["certainty"] != "unverified" and value["kind"] == "phone" and len(value["value"]) == 9
    }
    assert len(phones) >= 5
    assert [phone for phone in sorted(phones) if masked(f"llama al {phone}") != f"llama al {phone}"] == []


def test_the_evaluations_questions_stay_as_they_are() -> None:
    """Of the questions of eval/clara, which hold no identity data, none is changed."""
    folder = resources() / "eval" / "clara"
    questions = [
        json.loads(line)["query"]
        for name in ("queries.jsonl", "development.jsonl")
        for line in (folder / name).read_text("utf-8").splitlines()
    ]
    assert [question for question in questions if masked(question) != question] == []


@pytest.mark.parametrize(
    "piece", ["calle a ", "1 ", "me llamo ", "a@", "ES12 ", "nací ", "x1", "de la ", "\u200b1", "年1", "-"]
)
def test_no_text_takes_long(piece: str) -> None:
    """The longest message that is read, made of what patterns begin with, is finished; nothing loops."""
    text = (piece * 2_000)[:2_000]
    assert re.sub(r"\[[A-Z]+\]", "", masked(text)) is not None


def test_kinds_are_looked_for_in_their_order() -> None:
    """What one kind takes, the next does not see: an IBAN holds what looks like a card, a NIE what looks like a DNI."""
    assert " ".join(identity_rules().kinds) == (
        "CORREO IBAN CUENTA TARJETA NIE DNI NAF NACIMIENTO TELEFONO PASAPORTE DOCUMENTO EXPEDIENTE DIRECCION NOMBRE"
    )


@pytest.mark.parametrize(
    ("breaking", "place"),
    [
        pytest.param(lambda rules: rules["kinds"].pop("DNI"), "DNI", id="a kind is missing"),
        pytest.param(lambda rules: rules["kinds"].update(OTHER=["x"]), "OTHER", id="a kind that nobody knows"),
        pytest.param(lambda rules: rules["kinds"]["DNI"].append("(a"), r"\(a", id="no pattern"),
        pytest.param(lambda rules: rules["said"].append("{nobody}"), r"\$\.words\.nobody", id="a name that stands for nothing"),
    ],
)
def test_broken_rules_are_told(tmp_path: Path, breaking: Callable[[dict[str, Any]], object], place: str) -> None:
    """Rules that would hide less are refused with file, place and remedy."""
    data = resources() / "data"
    rules = json.loads((data / "identity.json").read_text("utf-8"))
    breaking(rules)
    (tmp_path / "schema").mkdir()
    (tmp_path / "schema" / "identity.schema.json").write_bytes((data / "schema" / "identity.schema.json").read_bytes())
    (tmp_path / "identity.json").write_text(json.dumps(rules), "utf-8")
    with pytest.raises(DataError, match=f"identity.json: .*{place}"):
        identity_rules(tmp_path)
