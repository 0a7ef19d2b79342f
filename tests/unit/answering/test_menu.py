"""Tests of the menu's data."""

import json
import shutil
from pathlib import Path

import pytest

from clara.answering.dialogue.menu import MENU_FILE, read_menu
from clara.answering.texts import Texts
from clara.data_files import DataError

TITLES = ("menu_papers", "menu_work")


@pytest.fixture
def folder(tmp_path: Path, data: Path) -> Path:
    """A data folder with a menu of two topics."""
    shutil.copytree(data / "schema", tmp_path / "schema")
    (tmp_path / MENU_FILE).write_text(json.dumps({"topics": {"papers": ["nie", "tie"], "work": ["despido"]}}))
    return tmp_path


def test_held_procedures_alone(folder: Path) -> None:
    """A topic offers what is held; a topic of nothing is no topic; what stands in none is offered beside them."""
    menu = read_menu(folder, ["tie", "imv"], TITLES)
    assert menu.topics == {"menu_papers": ("tie",)}
    assert menu.options == ("menu_papers", "imv")


def test_procedure_of_two_topics(folder: Path) -> None:
    """A procedure that stands twice is refused with both places."""
    (folder / MENU_FILE).write_text(json.dumps({"topics": {"papers": ["nie"], "work": ["nie"]}}))
    with pytest.raises(DataError, match=r"\$\.topics\.work: 'nie' stands in papers too"):
        read_menu(folder, ["nie"], TITLES)


def test_topic_without_a_title(folder: Path) -> None:
    """A topic that no language can name is refused before anybody opens the menu."""
    with pytest.raises(DataError, match=r"\$\.topics\.work: has no title; add the text menu_work"):
        read_menu(folder, ["nie"], ["menu_papers"])


def test_every_procedure_has_a_topic(data: Path, texts: Texts) -> None:
    """Of what is shipped none stands beside the topics."""
    held = [path.stem for path in (data / "tramites").glob("*.json")]
    assert read_menu(data, held, texts.by_language["es"].texts).others == ()
