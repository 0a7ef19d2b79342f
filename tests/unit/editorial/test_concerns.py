"""What in the gazette concerns us: by what it does to norms we cite, by what its title names, and by words in sum."""

import json
import shutil
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from clara.adapters.boe.item import read_item
from clara.adapters.boe.summary import read_summary
from clara.data_files import DataError
from clara.editorial.gazette.concerns import Concern, ReasonKind, Watched, concerns, read_rules, spanish_names, worth_reading
from clara.editorial.gazette.issues import Day, Item, ItemDocument, Reference
from clara.knowledge.catalogue import read_catalogue
from clara.knowledge.law.references import CitedFacts, NormNames, cited_by, read_norms
from clara.settings import resources
from clara_lab.stand_ins.boe_server import recorded, recordings

DATA = resources() / "data"
FOLDER = Path(__file__).parents[2] / "data" / "boe_wire"
CATALOGUE = read_catalogue(DATA)
NORMS = read_norms(DATA)
WATCHED = Watched(
    read_rules(DATA, CATALOGUE.procedures),
    cited_by(CATALOGUE.procedures.values()),
    NormNames(NORMS),
    spanish_names(CATALOGUE),
)
DECREE, COMMON = "BOE-A-2024-24099", "BOE-A-2015-10565"
DAYS: list[Day] = [read_summary(content) for _, content in sorted(recordings(FOLDER).days.items())]
PLAIN = "Orden ISM/1/2026, de 2 de enero, por la que se regula otra cosa"


def item(title: str = PLAIN, section: str = "1", heading: str = "") -> Item:
    return Item("BOE-A-2026-1", section, "MINISTERIO", heading, title, "https://www.boe.es/1", "", "")


def document(*references: Reference, headings: tuple[str, ...] = ()) -> ItemDocument:
    return ItemDocument("BOE-A-2026-1", PLAIN, "Orden", "M", date(2026, 1, 2), None, references, (), (), headings, "")


def does(words: str, norm: str = DECREE) -> ItemDocument:
    return document(Reference(norm, "", words, "el art. 5"))


def told(found: Concern | None) -> Concern:
    assert found is not None
    return found


@pytest.mark.parametrize(
    "words",
    ["MODIFICA", "DEROGA", "AÑADE", "SUPRIME", "CORRIGE errores", "CORRECCIÓN de errores", "DESARROLLA", "SUSPENDE", "PRORROGA",
     "SE MODIFICA", "MODIFICA determinados preceptos", "DECLARA", "DEJA SIN EFECTO", "ACTUALIZA", "modifica"],
)  # fmt: skip
def test_what_changes_a_cited_norm_concerns_us(words: str) -> None:
    """Whatever its title says: the facts that rest on the norm are touched, with their procedures."""
    found = told(concerns(item(), does(words), WATCHED))
    assert found.score >= 3
    assert found.norms == (DECREE,)
    assert found.facts == WATCHED.cited[DECREE].facts
    assert set(WATCHED.cited[DECREE].procedures) <= set(found.procedures)
    reason = found.reasons[0]
    assert (reason.kind, reason.norm, reason.relation, reason.text) == (ReasonKind.REFERENCE, DECREE, words, "el art. 5")


@pytest.mark.parametrize("words", ["DE CONFORMIDAD con", "EN RELACIÓN con", "CITA", "SE DICTA EN RELACIÓN con"])
def test_what_only_rests_on_a_cited_norm_does_not(words: str) -> None:
    """Most dispositions rest on a few laws; alone that is nothing, and it touches no fact."""
    assert concerns(item(), does(words, COMMON), WATCHED) is None
    title = "Orden por la que se regula el ingreso mínimo vital"
    found = told(concerns(item(title), document(*(Reference(norm, "", words, "") for norm in WATCHED.cited)), WATCHED))
    assert found.facts == ()
    assert "imv" in found.procedures
    assert [reason.kind for reason in found.reasons].count(ReasonKind.REFERENCE) == 1


@pytest.mark.parametrize("words", ["TRASTOCA", "", "SE"])
def test_a_relation_that_no_list_names_is_told(words: str) -> None:
    """What is not understood is shown to a person, not left out."""
    assert told(concerns(item(), does(words), WATCHED)).norms == (DECREE,)


def test_other_norms_do_not_concern_us() -> None:
    """A change of a norm that no fact cites is nothing to us."""
    assert concerns(item(), does("DEROGA", "BOE-A-2003-6247"), WATCHED) is None
    assert concerns(item(), read_item(recorded(FOLDER, "justicio_BOE-A-2023-16215.xml")), WATCHED) is None


@pytest.mark.parametrize("section", ["2A", "2B", "4", "5A", "5B", "5C"])
def test_a_change_is_told_from_any_section(section: str) -> None:
    """Words and titles count in the sections of dispositions only, what an item does counts everywhere."""
    assert told(concerns(item(section=section), does("MODIFICA"), WATCHED)).norms == (DECREE,)
    loud = "Anuncio sobre extranjería, ingreso mínimo vital y bono social: se modifica el Real Decreto 1155/2024"
    assert concerns(item(loud, section), None, WATCHED) is None
    assert worth_reading(item(loud, section), WATCHED)
    assert not worth_reading(item("Anuncio sobre extranjería e ingreso mínimo vital", section), WATCHED)


def test_a_title_that_changes_a_cited_norm_is_told_without_a_document() -> None:
    """Corrections and amendments name the norm in their title; that is enough when the document cannot be had."""
    found = told(concerns(item("Corrección de errores del Real Decreto 1155/2024, de 19 de noviembre"), None, WATCHED))
    assert (found.norms, found.reasons[0].relation) == ((DECREE,), "corrección de errores")
    assert concerns(item("Orden por la que se publica lo que dice el Real Decreto 1155/2024"), None, WATCHED) is None


def test_headings_stand_in_for_an_analysis_that_is_not_there_yet() -> None:
    """A final provision that modifies a cited norm tells it as long as the gazette has not analysed the item."""
    headings = (
        "Artículo 1. Objeto.",
        "Disposición final segunda. Modificación del Real Decreto 1155/2024, de 19 de noviembre.",
    )
    found = told(concerns(item(), document(headings=headings), WATCHED))
    assert (found.norms, found.reasons[0].kind) == ((DECREE,), ReasonKind.HEADING)
    analysed = document(Reference("BOE-A-1999-1", "", "MODIFICA", ""), headings=headings)
    assert concerns(item(), analysed, WATCHED) is None


@pytest.mark.parametrize(
    ("title", "section", "expected"),
    [
        ("Ley 1/2027, de 2 de enero, por la que se establece el ingreso mínimo vital", "1", ["imv"]),
        (
            "Orden por la que se establece el importe de las tasas en materia de inmigración y extranjería",
            "3",
            ["tie", "arraigo"],
        ),
        ("Resolución por la que se convocan becas de carácter general para el curso 2026-2027", "3", ["becas_educacion"]),
    ],
)
def test_words_of_our_matters_are_told_in_sum(title: str, section: str, expected: list[str]) -> None:
    """Norms that no fact cites yet are found by their words, with the procedures that they may be about."""
    found = told(concerns(item(title, section), None, WATCHED))
    assert set(expected) <= set(found.procedures)
    assert {reason.kind for reason in found.reasons} == {ReasonKind.WORDS}
    assert (found.norms, found.facts) == ((), ())


@pytest.mark.parametrize(
    ("title", "section", "heading"),
    [
        ("Real Decreto 1/2026 por el que se concede la nacionalidad española por carta de naturaleza a doña X", "3", ""),
        ("Resolución por la que se publica el Convenio en materia de extranjería y violencia de género", "3", "Convenios"),
        ("Resolución por la que se certifican dos captadores solares", "3", "Homologaciones"),
        ("Real Decreto por el que se declaran oficiales las cifras de población de la revisión del Padrón municipal", "3", ""),
        ("Orden por la que se nombra Director General de Migraciones y protección internacional", "1", "Nombramientos"),
    ],
)  # fmt: skip
def test_what_only_sounds_like_our_matters_is_not(title: str, section: str, heading: str) -> None:
    """Agreements, appointments and the like are kept out; a change of a cited norm in one of them is told all the same."""
    assert concerns(item(title, section, heading), None, WATCHED) is None
    assert told(concerns(item(title, section, heading), does("MODIFICA"), WATCHED)).norms == (DECREE,)


@pytest.mark.parametrize("day", DAYS, ids=lambda day: str(day.day))
def test_no_recorded_day_alarms_falsely(day: Day) -> None:
    """None of the 1,142 recorded items alarms; the titles of all in sections 1 and 3 were looked at, and none concerns us."""
    assert [found.item.id for entry in day.items if (found := concerns(entry, None, WATCHED))] == []


def test_few_documents_are_asked_for() -> None:
    """Of the recorded days' 114 items in sections 1 and 3 the documents of 33 are worth a request, at most 17 a day."""
    asked = [sum(worth_reading(entry, WATCHED) for entry in day.items) for day in DAYS]
    assert (sum(asked), max(asked)) == (33, 17)
    assert sum(entry.section in {"1", "3"} for day in DAYS for entry in day.items) == 114


def test_norms_we_came_to_cite_would_have_been_noticed() -> None:
    """Had we not known them, the words of their titles alone would have told 50 of the 62 norms that facts cite."""
    noticed = 0
    for norm in NORMS:
        others = {name: facts for name, facts in WATCHED.cited.items() if name != norm.id}
        before = replace(WATCHED, cited=others, names=NormNames(known for known in NORMS if known is not norm))
        noticed += concerns(item(norm.title), None, before) is not None
    assert noticed >= 50


def test_an_item_does_not_concern_us_for_itself() -> None:
    """The day on which a norm that we cite is published again in the list is no change of it."""
    own = replace(does("DEROGA"), id=DECREE)
    assert concerns(replace(item(), id=DECREE), own, WATCHED) is None


def test_norms_nobody_cites_touch_nothing() -> None:
    """Without facts nothing is watched."""
    nobody = replace(WATCHED, cited={"BOE-A-1999-1": CitedFacts()})
    assert concerns(item(), does("MODIFICA"), nobody) is None


def test_faults_of_the_rules_are_named(tmp_path: Path) -> None:
    """A weight that is none and a procedure that does not exist are refused with their place."""
    shutil.copytree(DATA / "schema", tmp_path / "schema")
    rules = json.loads((DATA / "gazette.json").read_text())
    for wrong, said in (
        ({"threshold": 0}, "threshold"),
        ({"sections": {"9": 1}}, "sections"),
        ({"more": 1}, "remove or rename"),
    ):
        (tmp_path / "gazette.json").write_text(json.dumps({**rules, **wrong}))
        with pytest.raises(DataError, match=said):
            read_rules(tmp_path, CATALOGUE.procedures)
    (tmp_path / "gazette.json").write_text(json.dumps(rules))
    with pytest.raises(DataError, match="imv is no procedure"):
        read_rules(tmp_path, [name for name in CATALOGUE.procedures if name != "imv"])
