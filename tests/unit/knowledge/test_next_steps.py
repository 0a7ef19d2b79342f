"""Tests of where a person goes next."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from clara.data_files import DataError
from clara.knowledge.next_steps import read_next_steps, step_facts


@pytest.fixture
def folder(tmp_path: Path, data: Path) -> Path:
    """A data folder with the schema alone."""
    shutil.copytree(data / "schema", tmp_path / "schema")
    (tmp_path / "next_steps").mkdir()
    return tmp_path


def write(folder: Path, steps: dict[str, list[str]], procedure: str = "imv") -> None:
    """Write the steps of imv."""
    (folder / "next_steps" / "imv.json").write_text(json.dumps({"procedure": procedure, "steps": steps}))


def test_order(folder: Path, real: Any) -> None:
    """The telephone comes first, then the office, whatever the file says; a fact of two channels stands once."""
    write(folder, {"online": ["imv-como_solicitar-01"], "office": ["imv-identidad-03", "imv-como_solicitar-01"]})
    steps = read_next_steps(folder, real.catalogue)
    assert steps.keys() == {"imv"}
    assert step_facts(steps["imv"]) == ("imv-identidad-03", "imv-como_solicitar-01")


def test_every_fault_at_once(folder: Path, real: Any) -> None:
    """An unknown fact, a telephone that is none and another procedure's file are named with place and remedy."""
    write(folder, {"office": ["imv-como_solicitar-99"], "phone": ["imv-identidad-03"]}, "nie")
    with pytest.raises(DataError) as caught:
        read_next_steps(folder, real.catalogue)
    assert str(caught.value).splitlines() == [
        "next_steps/imv.json: $.procedure: 'nie' is not the file's name; correct one of the two",
        "next_steps/imv.json: $.steps.office: there is no fact 'imv-como_solicitar-99'; correct the id or remove it",
        "next_steps/imv.json: $.steps.phone: imv-identidad-03 tells no telephone; name it under another channel",
    ]


def test_every_procedure_has_a_step(real: Any) -> None:
    """For each procedure that is shipped a fact that may be told says where to go."""
    told = {passage.id for passage in real.passages}
    assert [name for name in real.names if not told.intersection(step_facts(real.next_steps.get(name, {})))] == []
