"""Tests of what must hold in data/ beyond its schemas: figures, conditions, and what several files share."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from unit_builders import Document, edit, faults_of

from clara.knowledge.catalogue import read_catalogue

FIRST = "$.sections[0].facts[0]"


def changed(**fields: object) -> Callable[[Document], None]:
    """Make a change of the first fact, which begins without values and conditions; None takes a field away."""

    def change(document: Document) -> None:
        fact = document["sections"][0]["facts"][0]
        fact.update(fields)
        for name in [name for name, value in fields.items() if value is None]:
            fact.pop(name, None)

    return change


@pytest.mark.parametrize(
    ("fields", "place", "remedy"),
    [
        pytest.param(
            {"text": "La tasa es de 9,84 €."},
            "values",
            """the text says 'amount 9.84 EUR' and the values do not; add {"kind": "amount", "value": 9.84, "unit": "EUR"}""",
            id="figure-of-the-text-missing",
        ),
        pytest.param(
            {"text": "La cita dura diez minutos."},
            "values",
            """the text says 'period 10 minute' and the values do not; add {"kind": "period", "value": 10, "unit": "minute"}""",
            id="spelt-figure-of-the-text-missing",
        ),
        pytest.param(
            {"values": [{"kind": "amount", "value": 12, "unit": "EUR"}]},
            "values",
            "'amount 12 EUR' is not in the text; correct the text or remove the value",
            id="value-not-in-the-text",
        ),
        pytest.param(
            {
                "text": "En 2025 eran 10 €.",
                "values": [{"kind": "amount", "value": 10, "unit": "EUR"}, {"kind": "date", "value": "2025"}],
                "valid": {"from": "2026-01-01", "until": "2026-12-31"},
            },
            "conditions",
            "names only years before its first day and would pass for today's; give it the fact of today as a condition",
            id="earlier-year-alone",
        ),
        pytest.param(
            {"text": "Se paga cada mes una ayuda.", "kind": "amount"},
            "kind",
            "a fact of kind 'amount' needs a value of kind amount; correct kind or text",
            id="amount-without-one",
        ),
        pytest.param({"kind": "fee"}, "kind", "kind 'fee' needs a value of kind amount", id="fee-without-amount"),
        pytest.param({"kind": "date"}, "kind", "kind 'date' needs a value of kind date", id="date-without-one"),
        pytest.param(
            {"kind": "deadline"}, "kind", "needs a value of kind count or date or period or time", id="deadline-without-period"
        ),
        pytest.param({"kind": "phone"}, "kind", "needs a value of kind phone", id="phone-without-one"),
        pytest.param({"kind": "url"}, "kind", "needs a value of kind email or url", id="url-without-one"),
        pytest.param({"kind": "form"}, "kind", "needs a value of kind form", id="form-without-one"),
        pytest.param({"kind": "age"}, "kind", "needs a value of kind age", id="age-without-one"),
        pytest.param({"kind": "percentage"}, "kind", "needs a value of kind percentage", id="percentage-without-one"),
        pytest.param(
            {"conditions": ["nie-plazos-77"]},
            "conditions[0]",
            "no fact 'nie-plazos-77' in this procedure; correct the id or remove it",
            id="dangling-condition",
        ),
        pytest.param(
            {"conditions": ["nie-identidad-02", "tie-identidad-01"]},
            "conditions[1]",
            "no fact 'tie-identidad-01' in this procedure",
            id="condition-in-another-procedure",
        ),
        pytest.param(
            {"conditions": ["nie-identidad-01"]}, "conditions[0]", "cannot be its own condition; remove it", id="own-condition"
        ),
    ],
)
def test_fault(folder: Path, fields: Mapping[str, object], place: str, remedy: str) -> None:
    """A single fault of a fact is named with its file, its place and what to do, and there is no other."""
    edit(folder / "tramites" / "nie.json", changed(**fields))
    (fault,) = faults_of(folder)
    assert (fault.file, fault.place) == ("nie.json", f"{FIRST}.{place}")
    assert remedy in fault.remedy


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param(
            {
                "text": "La tasa es de 9,84 €.",
                "kind": "fee",
                "values": [{"kind": "amount", "value": 9.84, "unit": "EUR"}],
            },
            id="figure-and-value",
        ),
        pytest.param({"kind": "statement"}, id="statement-without-figure"),
        pytest.param({"kind": "condition"}, id="condition-without-figure"),
        pytest.param({"conditions": ["nie-identidad-02"]}, id="condition"),
        pytest.param({"territory": "ES-M/28079"}, id="municipality"),
    ],
)
def test_no_fault(folder: Path, fields: Mapping[str, object]) -> None:
    """Figures that agree with the text, facts that need none, and conditions of the same procedure are right."""
    edit(folder / "tramites" / "nie.json", changed(**fields))
    assert read_catalogue(folder).procedures["nie"].facts[0].id == "nie-identidad-01"


def test_figure_and_value_disagree(folder: Path) -> None:
    """A figure that was changed in the text alone is named on both sides."""
    fields = {"text": "La tasa es de 9,94 €.", "values": [{"kind": "amount", "value": 9.84, "unit": "EUR"}]}
    edit(folder / "tramites" / "nie.json", changed(**fields))
    missing, spare = faults_of(folder)
    assert "the text says 'amount 9.94 EUR'" in missing.remedy
    assert "'amount 9.84 EUR' is not in the text" in spare.remedy


@pytest.mark.parametrize(("certainty", "faults"), [("official", 1), ("unverified", 0)])
def test_unverified_condition(folder: Path, certainty: str, faults: int) -> None:
    """A fact that may be told cannot need one that is never told; one that is itself never told may."""

    def change(document: Document) -> None:
        fact, other = document["sections"][0]["facts"][:2]
        fact.update(conditions=[other["id"]], certainty=certainty)
        other["certainty"] = "unverified"

    edit(folder / "tramites" / "nie.json", change)
    if not faults:
        assert read_catalogue(folder).procedures["nie"].facts[0].conditions == ("nie-identidad-02",)
        return
    (fault,) = faults_of(folder)
    assert (fault.file, fault.place) == ("nie.json", f"{FIRST}.conditions[0]")
    assert fault.remedy == ("fact 'nie-identidad-02' is unverified and is never said; find its source or remove the condition")


@pytest.mark.parametrize("code", ["ES-XX", "ES-M/99999", "ES-M/Madrid"])
def test_unknown_territory(folder: Path, code: str) -> None:
    """A fact that holds in a place nobody knows is named, and where places are listed."""
    edit(folder / "tramites" / "nie.json", changed(territory=code))
    (fault,) = faults_of(folder)
    assert (fault.file, fault.place) == ("nie.json", "nie-identidad-01")
    assert fault.remedy == f"unknown territory '{code}'; use a code of data/places.json or add the place there"


def test_fact_id_twice_in_one_file(folder: Path) -> None:
    """A fact id that stands twice in one file is named."""
    edit(folder / "tramites" / "nie.json", lambda document: document["sections"][0]["facts"].append(
        dict(document["sections"][0]["facts"][0])
    ))  # fmt: skip
    (fault,) = faults_of(folder)
    assert (fault.file, fault.place) == ("nie.json", "nie-identidad-01")
    assert fault.remedy == "this fact id is already used in nie.json; give it its own"


def test_wrong_id_blames_no_fact(folder: Path) -> None:
    """A procedure under a wrong id is one fault, not one for each fact."""
    edit(folder / "tramites" / "nie.json", lambda document: document.update(id="nia"))
    (fault,) = faults_of(folder)
    assert fault.place == "$.id"


def add_phrase(language: str, phrase: str) -> Callable[[Document], None]:
    """Make a change that adds words for a procedure."""

    def change(document: Document) -> None:
        document["vocabulary"][language] = [phrase]

    return change


@pytest.mark.parametrize(
    ("language", "phrase"),
    [
        pytest.param("es", "la cita azul", id="same-language"),
        pytest.param("en", "la cita azul", id="another-language"),
        pytest.param("es", "LA CITÁ, azul", id="other-capitals-accents-and-signs"),
    ],
)
def test_phrase_of_two_procedures(folder: Path, language: str, phrase: str) -> None:
    """Words that stand for two procedures, however they are written, are named in the second."""
    edit(folder / "tramites" / "nie.json", add_phrase("es", "la cita azul"))
    edit(folder / "tramites" / "tie.json", add_phrase(language, phrase))
    (fault,) = faults_of(folder)
    assert (fault.file, fault.place) == ("tie.json", f"$.vocabulary.{language}[0]")
    assert fault.remedy == f"'{phrase}' also stands in nie.json; keep it in one of them"


def test_name_of_another_procedure(folder: Path) -> None:
    """The name of one procedure cannot be a word for another."""
    name = read_catalogue(folder).procedures["nie"].name["fr"]
    edit(folder / "tramites" / "tie.json", add_phrase("fr", name))
    (fault,) = faults_of(folder)
    assert (fault.file, fault.place) == ("tie.json", "$.vocabulary.fr[0]")


def test_phrase_of_one_procedure_in_two_languages(folder: Path) -> None:
    """Languages may share a procedure's words: "IMV" is IMV everywhere."""

    def change(document: Document) -> None:
        document["vocabulary"].update(es=["la cita azul"], en=["la cita azul"])

    edit(folder / "tramites" / "nie.json", change)
    assert read_catalogue(folder).procedures["nie"].vocabulary["en"] == ("la cita azul",)
