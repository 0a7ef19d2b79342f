"""Tests of the menu's data."""

import json
import shutil
from pathlib import Path

import pytest

from clara.answering.dialogue.menu import MENU_FILE, read_menu
from clara.data_files import DataError


@pytest.fixture
def folder(tmp_path: Path, data: Path) -> Path:
    """A data folder with a menu of two topics."""
    shutil.copytree(data / "schema", tmp_path / "schema")
    (tmp_path / MENU_FILE).write_text(json.dumps({"topics": {"papers": ["nie", "tie"], "work": ["despido"]}}))
    return tmp_path


def test_held_procedures_alone(folder: Path) -> None:
    """A topic offers what is held; a topic of nothing is no topic; what stands in none is offered beside them."""
    menu = read_menu(folder, ["tie", "imv"])
    assert menu.topics == {"menu_papers": ("tie",)}
    assert menu.options == ("menu_papers", "imv")


def test_procedure_of_two_topics(folder: Path) -> None:
    """A procedure that stands twice is refused with both places."""
    (folder / MENU_FILE).write_text(json.dumps({"topics": {"papers": ["nie"], "work": ["nie"]}}))
    with pytest.raises(DataError, match=r"\$\.topics\.work: 'nie' stands in papers too"):
        read_menu(folder, ["nie"])


def test_every_procedure_has_a_topic(data: Path) -> None:
    """Of what is shipped none stands beside the topics."""
    held = [path.stem for path in (data / "tramites").glob("*.json")]
    assert read_menu(data, held).others == ()
