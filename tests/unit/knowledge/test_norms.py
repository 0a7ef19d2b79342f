"""The norms that facts cite are known by every name that titles of the gazette give them, and no other norm passes for one."""

import json
import shutil
from datetime import date
from pathlib import Path

import pytest

from clara.data_files import DataError
from clara.knowledge.catalogue import read_catalogue
from clara.knowledge.law.references import CitedFacts, CitedNorm, NormNames, cited_by, read_norms, unnamed
from clara.settings import resources

DATA = resources() / "data"
NORMS = read_norms(DATA)
NAMES = NormNames(NORMS)
DECREE, ALIENS, INCOME, COMMON = "BOE-A-2024-24099", "BOE-A-2000-544", "BOE-A-2021-21007", "BOE-A-2015-10565"


def test_every_norm_that_a_fact_cites_has_an_entry() -> None:
    """A title that names a norm without an entry would not be noticed."""
    cited = cited_by(read_catalogue(DATA).procedures.values())
    assert {norm.id for norm in NORMS} == set(cited)
    assert unnamed(NORMS, cited) == []
    assert [str(fault) for fault in unnamed(NORMS, {"BOE-A-1999-1": CitedFacts(("imv-plazos-01",), ("imv",))})] == [
        "norms.json: $.norms: BOE-A-1999-1 is cited by imv-plazos-01 and has no entry; add it"
    ]


def test_facts_are_known_by_the_norms_they_rest_on() -> None:
    """Each citing fact stands once under each norm it cites, with its procedure."""
    procedures = read_catalogue(DATA).procedures
    cited = cited_by(procedures.values())
    pairs = {(basis.norm, fact.id) for entry in procedures.values() for fact in entry.facts for basis in fact.legal_basis}
    assert {(norm, fact) for norm, found in cited.items() for fact in found.facts} == pairs
    assert sum(len(found.facts) for found in cited.values()) == len(pairs)
    assert "imv" in cited[INCOME].procedures


@pytest.mark.parametrize("norm", NORMS, ids=lambda norm: norm.id)
def test_a_title_names_its_own_norm_and_no_other(norm: CitedNorm) -> None:
    """A title quoted in another title names that norm alone, though many titles hold the names of others."""
    assert NAMES.find(f"Corrección de errores de: {norm.title}.") == (norm.id,)


@pytest.mark.parametrize(
    ("text", "norms"),
    [
        ("Orden por la que se modifica el Real Decreto 1155/2024", (DECREE,)),
        ("se modifica el real decreto 1155/2024, de 19 de noviembre, y la Ley 19/2021, de 20 de diciembre", (DECREE, INCOME)),
        ("Real Decreto-ley 3/2026", ("BOE-A-2026-2548",)),
        ("Real Decreto Ley 3/2026", ("BOE-A-2026-2548",)),
        ("el artículo 5 de la Orden PJC/617/2025, de 13 de junio", ("BOE-A-2025-12056",)),
        ("el Reglamento de Extranjería", (DECREE,)),
        ("texto refundido de la Ley General de la Seguridad Social", ("BOE-A-2015-11724",)),
        ("el Código Civil y la Ley 39/2015", (COMMON, "BOE-A-1889-4763")),
        ("la Ley 39/2015, la Ley 39/2015 y la Ley 39/2015, de 1 de octubre", (COMMON,)),
        pytest.param("Ley 39/2015, de 1 de marzo, de Presupuestos de Euskadi", (), id="another day"),
        pytest.param("Real Decreto 19/2021", (), id="another rank"),
        pytest.param("Decreto-ley 19/2021, de 20 de diciembre", (), id="a community's decree-law"),
        pytest.param("Decreto Ley 19/2021, de 20 de diciembre", (), id="a community's decree-law without hyphen"),
        pytest.param("Ley 119/2021", (), id="another number"),
        pytest.param("Ley 19/20210", (), id="a longer number"),
        pytest.param("Ley Foral 19/2021", (), id="a community's law"),
        pytest.param("Resolución de 16 de diciembre de 2021, de la Subsecretaría, por la que se convoca", (), id="same day"),
        pytest.param("", (), id="nothing"),
    ],
)
def test_norms_are_named_in_many_ways(text: str, norms: tuple[str, ...]) -> None:
    """By rank and number, with the date or not, or by a name; others that look alike are not taken for them."""
    assert NAMES.find(text) == norms


def test_two_norms_may_share_a_number() -> None:
    """The date tells them apart; without one, both may be meant."""
    norms = [CitedNorm(f"BOE-A-2026-{n}", "Ley", date(2026, n, 1), "Ley 1/2026, de una cosa", "1/2026") for n in (1, 2)]
    names = NormNames(norms)
    assert names.find("Ley 1/2026, de 1 de febrero") == ("BOE-A-2026-2",)
    assert names.find("Ley 1/2026") == ("BOE-A-2026-1", "BOE-A-2026-2")


def test_faults_of_the_file_are_named(tmp_path: Path) -> None:
    """A bad id and a norm that stands twice are refused with their place."""
    shutil.copytree(DATA / "schema", tmp_path / "schema")
    norm = {"id": "BOE-A-2026-1", "rank": "Ley", "date": "2026-01-01", "published": "2026-01-02", "title": "Ley de algo"}
    for norms, said in (([{**norm, "id": "1"}], r"\$\.norms\[0\]\.id"), ([norm, norm], "stands there twice"), ([], "norms")):
        (tmp_path / "norms.json").write_text(json.dumps({"norms": norms}))
        with pytest.raises(DataError, match=said):
            read_norms(tmp_path)
