"""A language is a folder of data: a twelfth one is served from a scratch copy, and no code is touched for it."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clara.answering.dialogue.clarification import read_ambiguous
from clara.answering.dialogue.commands import Commands
from clara.answering.dialogue.phrasebook import read_phrasebooks
from clara.answering.privacy.wishes import Wish, read_wishes
from clara.answering.safety.danger import DangerKind, read_said
from clara.answering.texts import Texts, read_texts
from clara.answering.writing.prompt import read_prompts
from clara.knowledge.catalogue import read_catalogue
from clara.language.detection import LanguageDetector
from clara.language.figures.lexicon import read_lexicons
from clara.language.packs import read_languages
from clara.settings import resources

NEW = "xx"
PARTS = ("languages", "rights", "schema", "tramites", "ambiguous.json", "hotlines.json", "places.json", "prompts.json")
# What stays as it is in a made-up text: placeholders, choices of a wish, and names of lines.
_KEPT = re.compile(r"(\{[^}]*\})")
_WORD = re.compile(r"[^\W\d_]+")


def made_up(text: str) -> str:
    """Say a text in a language that nobody speaks: every word has another beginning."""
    pieces = _KEPT.split(text)
    return "".join(piece if place % 2 else _WORD.sub(lambda word: f"x{word[0]}", piece) for place, piece in enumerate(pieces))


def translated(value: object) -> object:
    """Say every text of a document in the made-up language; names of fields stay."""
    if isinstance(value, dict):
        return {name: held if name == "$schema" else translated(held) for name, held in value.items()}
    if isinstance(value, list):
        return [translated(held) for held in value]
    return made_up(value) if isinstance(value, str) else value


def change(file: Path, how: Callable[[dict[str, Any]], object], to: Path | None = None) -> None:
    """Write a document anew, changed."""
    (to or file).write_text(json.dumps(how(json.loads(file.read_text("utf-8"))), ensure_ascii=False), "utf-8")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of data/ with a pack made from the English one."""
    scratch = tmp_path_factory.mktemp("data")
    for part in PARTS:
        source = resources() / "data" / part
        (shutil.copytree if source.is_dir() else shutil.copy)(source, scratch / part)
    packs = scratch / "languages"
    order = max(language.order for language in read_languages(scratch).values()) + 1
    (packs / NEW).mkdir()
    for file in sorted((packs / "en").glob("*.json")):
        if file.stem not in {"pack", "reading"}:
            change(file, translated, packs / NEW / file.name)
    shutil.copy(packs / "en" / "reading.json", packs / NEW)
    change(packs / "en" / "pack.json", lambda pack: pack | {"name": "Xenglish", "order": order}, packs / NEW / "pack.json")
    for file in (scratch / "tramites").glob("*.json"):
        change(
            file,
            lambda document: (
                document | {part: {**document[part], NEW: made_up(document[part]["en"])} for part in ("name", "purpose")}
            ),
        )
    return scratch


@pytest.fixture(scope="module")
def texts(folder: Path) -> Texts:
    """The fixed texts, the new language's among them."""
    return read_texts(folder)


def test_it_is_served_last(folder: Path) -> None:
    """The folder is the registration: nothing lists the languages beside it."""
    assert list(read_languages(folder))[-1] == NEW
    assert NEW not in read_languages(resources() / "data")


def test_texts_answer_in_it(folder: Path, texts: Texts) -> None:
    """Fixed texts are said in it, and every language's help names it."""
    assert texts.say(NEW, "thanks") == made_up(texts.say("en", "thanks"))
    assert all("Xenglish" in texts.say(language, "help", human="") for language in texts.by_language)
    assert read_prompts(folder).languages[NEW]


def test_commands_are_obeyed_in_it(folder: Path, texts: Texts) -> None:
    """Its commands are understood whatever the conversation's language, and answered in it."""
    commands = Commands(texts, read_phrasebooks(folder))
    for name, phrases in texts.by_language[NEW].commands.items():
        assert commands.recognise(phrases[0], "es") == (name, NEW)


def test_danger_is_heard_in_it(folder: Path) -> None:
    """Phrases that leave no doubt are heard, and whom to call is said in it, with the numbers of the table."""
    sure, _, helps = read_said(folder)
    document = json.loads((folder / "languages" / NEW / "danger.json").read_text("utf-8"))
    for kind, phrases in document["phrases"]["sure"].items():
        assert kind in sure.meanings([word.casefold() for word in _WORD.findall(phrases[0])])
    assert "112" in helps[NEW].whole[DangerKind.EMERGENCY]


def test_wishes_are_respected_in_it(folder: Path) -> None:
    """Who wants to be forgotten says so in it."""
    assert read_wishes(folder).recognise(made_up("forget me"), "es", (Wish.ERASE,)) == (Wish.ERASE, NEW)


def test_the_rest_of_the_pack_is_read(folder: Path) -> None:
    """Procedures have names in it, nouns are asked back about, figures are read, and its script decides where it can."""
    catalogue = read_catalogue(folder)
    assert all(procedure.name[NEW] for procedure in catalogue.procedures.values())
    assert read_ambiguous(folder).options(made_up("card"), NEW)
    assert read_lexicons(folder)[NEW].language == NEW
    scripts = {code: language.script for code, language in read_languages(folder).items()}
    assert LanguageDetector(scripts, lambda _text: {NEW: 1.0}, {}).detect("xthree xwords xhere") == NEW
