"""What the tests of the knowledge share: a copy of a part of the real data, to be broken."""

import shutil
from pathlib import Path

import pytest

from clara.knowledge.places import Places, read_places


@pytest.fixture
def folder(tmp_path: Path, data: Path) -> Path:
    """A copy of the data with two procedures, without typical questions."""
    for part in ("languages", "schema"):
        shutil.copytree(data / part, tmp_path / part)
    shutil.copy(data / "places.json", tmp_path)
    (tmp_path / "questions").mkdir()
    (tmp_path / "tramites").mkdir()
    for name in ("nie", "tie"):
        shutil.copy(data / "tramites" / f"{name}.json", tmp_path / "tramites")
    return tmp_path


@pytest.fixture(scope="session")
def places(data: Path) -> Places:
    """The real places."""
    return read_places(data)
