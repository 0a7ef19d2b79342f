"""Figures that derive from others: formulas are worked out exactly, hold nothing but arithmetic, and agree with the facts."""

import json
from decimal import Decimal
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from clara.data_files import DataError
from clara.knowledge.derivations import FormulaError, derivation_faults, names_in, read_derivations, worked_out
from clara.knowledge.knowledge_base import read_knowledge
from clara.settings import resources

DATA = resources() / "data"
VALUES = {"iprem": Decimal(600), "pnc": Decimal("8803.2")}


@pytest.mark.parametrize(
    ("formula", "given"),
    [
        ("iprem", "600"),
        ("1.5 * 14 * iprem", "12600"),
        ("(1.5 + 0.3 + 2 * 0.5) * 14 * iprem", "23520"),
        ("0.22 * pnc / 12", "161.39"),
        ("iprem - 0.1 - 0.2", "599.7"),
        ("iprem / 1000 * 0.175 / 7", "0.02"),
        ("0.005 + iprem - 600", "0.01"),
    ],
)
def test_a_formula_is_worked_out_to_the_cent(formula: str, given: str) -> None:
    """Exactly, as numbers are written, and rounded once: half a cent goes up."""
    assert worked_out(formula, VALUES) == Decimal(given)


@pytest.mark.parametrize(
    "formula",
    ["", "iprem *", "smi", "iprem ** 2", "iprem // 2", "-iprem", "abs(iprem)", "iprem.real", "'a'", "True * iprem",
     "iprem if 1 else 2",
     "iprem / (1 - 1)", "1e999 * iprem", "iprem * 1e40", "__import__('os')", "[iprem][0]", "(" * 99 + "iprem", "iprem == 600"],
)  # fmt: skip
def test_a_formula_holds_nothing_but_arithmetic(formula: str) -> None:
    """No call, no attribute, no power, no number without end: whatever else it holds is an error in words."""
    with pytest.raises(FormulaError):
        worked_out(formula, VALUES)


def test_the_bases_of_a_formula_are_known() -> None:
    """Names are bases, each once."""
    assert names_in("pnc + iprem * iprem") == {"iprem", "pnc"}


def test_every_formula_of_the_release_gives_the_figure_of_its_fact() -> None:
    """data/derivations.json agrees with the facts."""
    assert list(derivation_faults(read_derivations(DATA), read_knowledge(DATA).catalogue)) == []


def changed(folder: Path, change: Any) -> Path:
    """data/ as far as derivations go, with a change in them."""
    copytree(DATA / "schema", folder / "schema")
    document = json.loads((DATA / "derivations.json").read_text("utf-8"))
    change(document)
    (folder / "derivations.json").write_text(json.dumps(document), "utf-8")
    return folder


LIGHT, NOBODY = "bono_social_electrico-requisitos-02", "bono_social_electrico-requisitos-99"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda d: d["derived"].update({NOBODY: {"600": "iprem"}}), f"derived.{NOBODY}: there is no such fact"),
        (lambda d: d["derived"].update({LIGHT: {"12601": "1.5 * 14 * iprem"}}), "states no amount of 12601"),
        (lambda d: d["derived"].update({LIGHT: {"12600": "15 * iprem"}}), "15 * iprem is 9000, not 12600"),
        (lambda d: d["bases"]["iprem"].update({"value": 620}), "bases.iprem: 620 EUR/month is 600 there"),
        (lambda d: d["bases"]["iprem"].update({"unit": "EUR/day"}), "is not the only amount of its unit there"),
        (lambda d: d["bases"]["iprem"].update({"fact": NOBODY}), f"there is no fact '{NOBODY}'"),
        (lambda d: d["derived"]["subsidio_desempleo-requisitos-03"].update({"1221": "smi"}), "1221 is the base smi itself"),
    ],
)
def test_what_disagrees_with_the_facts_is_named(tmp_path: Path, change: Any, said: str) -> None:
    """Each fault says where it is, what is there, and what to correct."""
    derivations = read_derivations(changed(tmp_path, change))
    faults = [str(fault) for fault in derivation_faults(derivations, read_knowledge(DATA).catalogue)]
    assert any(said in fault for fault in faults)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda d: d["derived"].update({LIGHT: {"12600": "1.5 * 14 * ipren"}}), "there is no base 'ipren'; there are iprem"),
        (lambda d: d["derived"].update({LIGHT: {"12600": "12600"}}), "names no base"),
        (lambda d: d["derived"].update({LIGHT: {"12600": "iprem ** 2"}}), "holds something else than numbers"),
        (lambda d: d["derived"].update({LIGHT: {"12.600": "iprem"}}), "12.600"),
        (lambda d: d.pop("bases"), "bases"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_meant_is_refused(tmp_path: Path, change: Any, said: str) -> None:
    """Nothing of it is used."""
    with pytest.raises(DataError) as raised:
        read_derivations(changed(tmp_path, change))
    assert said in str(raised.value)
