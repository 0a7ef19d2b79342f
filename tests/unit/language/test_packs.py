"""Packs: which languages are served, and what is said when a pack is broken."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clara.data_files import DataError
from clara.language.packs import read_languages, read_packs


@pytest.fixture
def folder(tmp_path: Path, data: Path) -> Path:
    """A copy of the packs and the schemas."""
    for part in ("languages", "schema"):
        shutil.copytree(data / part, tmp_path / part)
    return tmp_path


def edit(folder: Path, language: str, change: Callable[[dict[str, Any]], object]) -> None:
    """Change the pack.json of one language in place."""
    file = folder / "languages" / language / "pack.json"
    document = json.loads(file.read_text("utf-8"))
    change(document)
    file.write_text(json.dumps(document, ensure_ascii=False), "utf-8")


def test_languages_in_their_order(data: Path) -> None:
    """Spanish is tried first, then English; no two languages have the same place."""
    languages = read_languages(data)
    assert list(languages)[:2] == ["es", "en"]
    assert len({language.order for language in languages.values()}) == len(languages)
    assert {code for code, language in languages.items() if language.direction == "rtl"} == {"ar"}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        pytest.param(lambda document: document.update(direction="up"), '$.direction: "up" is none of ltr, rtl', id="direction"),
        pytest.param(lambda document: document.update(script="runes"), '$.script: "runes" is none of', id="script"),
        pytest.param(lambda document: document.pop("name"), '"name" is a required property', id="no-name"),
        pytest.param(lambda document: document.update(language="fr"), "'language' was unexpected", id="field-too-many"),
        pytest.param(lambda document: document.update(order=1), "$.order: is that of 'es' as well", id="order"),
    ],
)
def test_fault(folder: Path, change: Callable[[dict[str, Any]], object], said: str) -> None:
    """A fault is told with its file and place."""
    edit(folder, "fr", change)
    with pytest.raises(DataError) as caught:
        read_languages(folder)
    (fault,) = caught.value.faults
    assert fault.file == "languages/fr/pack.json"
    assert said in str(fault)


def test_a_pack_without_a_file(folder: Path) -> None:
    """A language is served whole: the file that its pack lacks is named."""
    (folder / "languages" / "ro" / "texts.json").unlink()
    documents, faults = read_packs(folder, "texts")
    assert "ro" not in documents
    assert [fault.file for fault in faults] == ["languages/ro/texts.json"]


def test_no_packs(folder: Path) -> None:
    """Without a language there is nothing to say."""
    shutil.rmtree(folder / "languages")
    with pytest.raises(DataError, match="holds no language; restore data/"):
        read_languages(folder)
