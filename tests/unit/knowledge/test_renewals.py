"""What ends, and the rule that sets what comes after it."""

import json
import shutil
from datetime import date
from pathlib import Path

import pytest

from clara.data_files import DataError, package_folder
from clara.editorial.gazette.concerns import ReasonKind, concerns
from clara.editorial.gazette.issues import Item
from clara.editorial.gazette.watch import watched_by
from clara.knowledge.catalogue import read_catalogue
from clara.knowledge.derivations import read_derivations
from clara.knowledge.renewals import RenewalRule, ending, read_renewals, rule_of
from clara.quality.renewal_pages import ends_as_json, page_of_ends

DATA = package_folder() / "data"
CATALOGUE = read_catalogue(DATA)
DERIVATIONS = read_derivations(DATA)
RULES = {rule.id: rule for rule in read_renewals(DATA, CATALOGUE, DERIVATIONS)}
TODAY, BY = date(2026, 11, 26), date(2027, 1, 31)
ENDS = ending(CATALOGUE, tuple(RULES.values()), DERIVATIONS, TODAY, BY)
WATCHED = watched_by(CATALOGUE, DATA, lambda _: None)

# Titles of 2022 to 2024, from memory and two cut short; and their rule.
TITLES = [
    ("Real Decreto 145/2024, de 6 de febrero, por el que se fija el salario mínimo interprofesional para 2024", "minimum_wage"),
    ("Real Decreto 99/2023, de 14 de febrero, por el que se fija el salario mínimo interprofesional para 2023", "minimum_wage"),
    ("Ley 31/2022, de 23 de diciembre, de Presupuestos Generales del Estado para el año 2023.", "iprem"),
    ("Real Decreto 1058/2022, de 27 de diciembre, sobre revalorización de las pensiones del sistema", "pensions"),
    ("Real Decreto 117/2023, de 21 de febrero, por el que se establecen los umbrales de renta y patrimonio familiar", "grants"),
]  # fmt: skip


def item(title: str, section: str = "1") -> Item:
    return Item("BOE-A-2027-1", section, "MINISTERIO", "", title, "https://www.boe.es/1", "", "")


@pytest.mark.parametrize(("title", "rule"), TITLES)
def test_what_sets_new_figures_is_told_with_the_facts_that_wait_for_it(title: str, rule: str) -> None:
    """By its title alone, years before and after: an alert that names the rule and what ends until then."""
    found = concerns(item(title), None, WATCHED)
    assert found is not None
    assert RULES[rule].title in [reason.text for reason in found.reasons if reason.kind is ReasonKind.RENEWAL]
    assert set(WATCHED.renewed[rule].facts) <= set(found.facts)


@pytest.mark.parametrize(
    "title",
    [
        "Resolución por la que se publica el convenio colectivo de la empresa X, que cita el salario mínimo.",
        "Orden por la que se dictan normas para la elaboración de los Presupuestos Generales del Estado de 2028.",
        "Acuerdo por el que se nombra a los vocales de la Comisión del Plan de Vivienda.",
    ],
)
def test_what_only_mentions_such_a_matter_renews_nothing(title: str) -> None:
    """The words of a rule are those of the norm that sets the figures."""
    found = concerns(item(title), None, WATCHED)
    assert found is None or ReasonKind.RENEWAL not in [reason.kind for reason in found.reasons]


def test_what_ends_this_year_has_a_rule() -> None:
    """Every fact that is told now and ends until the end of January is renewed by a rule, or is named for having none."""
    assert len(ENDS) > 30
    without = [one.fact.id for one in ENDS if one.rule is None]
    assert len(without) <= 3, without


def test_a_figure_follows_the_base_it_derives_from() -> None:
    """The rule of the base comes before that of the norm that is cited beside it."""
    subsidy = next(
        fact for fact in CATALOGUE.procedures["subsidio_desempleo"].facts if fact.id == "subsidio_desempleo-requisitos-03"
    )
    found = rule_of(subsidy, "subsidio_desempleo", tuple(RULES.values()), DERIVATIONS)
    assert found is not None
    assert found.id == "minimum_wage"


@pytest.mark.parametrize(
    ("opens", "closes", "ends", "window"),
    [
        ("12-20", "02-15", date(2026, 12, 31), (date(2026, 12, 20), date(2027, 2, 15))),
        ("01-15", "04-30", date(2026, 12, 31), (date(2027, 1, 15), date(2027, 4, 30))),
        ("12-20", "02-29", date(2027, 12, 31), (date(2027, 12, 20), date(2028, 2, 29))),
        ("01-15", "04-30", date(2027, 8, 31), (date(2028, 1, 15), date(2028, 4, 30))),
        ("01-15", "04-30", date(2027, 3, 31), (date(2027, 1, 15), date(2027, 4, 30))),
    ],
)
def test_the_days_of_publication_are_those_around_the_end(
    opens: str, closes: str, ends: date, window: tuple[date, date]
) -> None:
    """They may begin before what ends is over, and reach into the next year."""
    rule = RenewalRule("x", "A rule", ("said",), opens, closes, "What holds until then.")
    assert rule.window(ends) == window


def test_the_page_names_rule_days_and_answers() -> None:
    """The most asked first; without a database it says that nobody could count."""
    page = "\n".join(page_of_ends(ENDS, BY, {ENDS[-1].fact.id: 7}))
    assert RULES["pensions"].title in page
    assert "7 answers in 30 days" in page
    assert "clara up" in "\n".join(page_of_ends(ENDS, BY, None))
    assert list(page_of_ends([], BY, {})) == [f"Nothing that is told ends until {BY}."]
    told = ends_as_json(ENDS, None)[0]
    assert told["recent_answers"] is None
    assert told["ends"] == "2026-12-31"


def test_a_rule_about_nothing_is_refused(tmp_path: Path) -> None:
    """Unknown facts, procedures and bases, and a name given twice, are named all at once with their place."""
    shutil.copytree(DATA / "schema", tmp_path / "schema")
    document = json.loads((DATA / "renewals.json").read_text("utf-8"))
    document["rules"][0] |= {"facts": ["imv-cuantias-99"], "procedures": ["nada"], "bases": ["euribor"]}
    document["rules"].append(document["rules"][1])
    (tmp_path / "renewals.json").write_text(json.dumps(document), "utf-8")
    with pytest.raises(DataError) as refused:
        read_renewals(tmp_path, CATALOGUE, DERIVATIONS)
    for said in ("imv-cuantias-99", "nada", "euribor", "twice", "$.rules[0].facts"):
        assert said in str(refused.value)
