"""Tests of figures beside the provisions that facts cite."""

import json
from pathlib import Path

import pytest
from unit_builders import edit

from clara.data_files import DataError, package_folder
from clara.knowledge.catalogue import read_catalogue
from clara.knowledge.derivations import NONE, read_derivations
from clara.knowledge.provisions import Unsupported, read_provisions, unsupported

DATA = package_folder() / "data"
NORM = "BOE-A-2025-12056"


def hold(folder: Path, text: str) -> None:
    """Hold one provision that the fact about the fee cites."""
    (folder / "provisions").mkdir(exist_ok=True)
    held = {"norm": NORM, "updated": "2025-06-14", "source": "https://www.boe.es/", "texts": {"anexo": text}}
    (folder / "provisions" / f"{NORM}.json").write_text(json.dumps(held), "utf-8")


def astray(folder: Path) -> list[Unsupported]:
    return [one for one in unsupported(read_catalogue(folder), read_provisions(folder), NONE) if one.fact == "nie-cuantias-01"]


@pytest.fixture
def priced(folder: Path) -> Path:
    """The copy of the data, in which the fee of the NIE rests on one annex."""

    def rest(document: dict) -> None:  # type: ignore[type-arg]
        fee = next(fact for section in document["sections"] for fact in section["facts"] if fact["id"] == "nie-cuantias-01")
        fee["legal_basis"] = [{"norm": NORM, "provision": "anexo"}]

    edit(folder / "tramites" / "nie.json", rest)
    return folder


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("5.12 Asignación de número de identidad de extranjero: 9,84 euros", True),
        ("| 5.12 | NIE | 9,84 |", True),
        ("nueve euros con ochenta y cuatro céntimos", False),
        ("5.12 Asignación de número: 10,84 euros", False),
    ],
)
def test_a_figure_stands_in_its_provision_or_is_named(priced: Path, text: str, found: bool) -> None:
    """In digits, with its unit or in a table; another figure there does not bear it out."""
    hold(priced, text)
    named = [str(one) for one in astray(priced)]
    assert named == ([] if found else ["nie-cuantias-01 (amount 9.84 EUR)"])


def test_what_is_not_held_says_nothing(priced: Path) -> None:
    """Where the provision is not held, the figure is neither right nor wrong."""
    assert astray(priced) == []


@pytest.mark.parametrize(
    "content", ["{", '{"norm": "x"}', '{"norm": "BOE-A-2025-1", "updated": null, "source": "https://x", "texts": {}}']
)
def test_a_broken_file_is_named(folder: Path, content: str) -> None:
    """File and place are told."""
    (folder / "provisions").mkdir()
    (folder / "provisions" / "BOE-A-2025-1.json").write_text(content, "utf-8")
    with pytest.raises(DataError, match=r"provisions/BOE-A-2025-1\.json"):
        read_provisions(folder)


def test_the_real_provisions_bear_most_figures_out() -> None:
    """Of the figures that the law sets for published facts, few are left to look for; each is listed for an editor."""
    catalogue, provisions = read_catalogue(DATA), read_provisions(DATA)
    left = list(unsupported(catalogue, provisions, read_derivations(DATA)))
    assert len(provisions) > 50
    assert len(left) < 90  # of 1,707 that are looked up
