"""Tests of the fixed texts."""

import json
import re
import shutil
import string
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.languages import LANGUAGES, TAUGHT

from clara.answering.journey import Tools
from clara.answering.message import MAX_REPLY, ReplyStatus
from clara.answering.texts import Texts, read_texts
from clara.data_files import DataError
from clara.language.packs import read_languages
from clara.settings import resources

# Whole replies; the others are parts of one, or have their own tests.
WHOLE = (
    "human_default", "human", "greeting", "help", "thanks", "goodbye", "voice_note", "media", "no_words", "not_found", "outage",
    "error", "limit_minute", "limit_day", "busy", "voice_not_heard", "voice_too_long", "out_of_scope", "out_of_scope_medical",
    "out_of_scope_abroad", "no_orders", "boundary", "calm", "rights_erased", "rights_doubt", "rights_stop",
)  # fmt: skip
VALUES = (
    {"human": "H", "contact": "C", "procedures": "P", "procedure": "p", "date": "D", "place": "L"}
    | dict.fromkeys(
        ("messages", "texts", "first", "last", "languages", "ratings", "memory", "hours", "days", "figure_days", "authority"),
        "V",
    )
    | dict.fromkeys(("marks", "options"), "V")
)


@pytest.fixture
def folder(tmp_path: Path, data: Path) -> Path:
    """A copy of the data folder with the texts and the schemas alone."""
    for part in ("languages", "schema"):
        shutil.copytree(data / part, tmp_path / part)
    shutil.copy(data / "hotlines.json", tmp_path)
    return tmp_path


def edit(folder: Path, language: str, change: Callable[[dict[str, Any]], object]) -> None:
    """Change one language's file in place."""
    path = folder / "languages" / language / "texts.json"
    document = json.loads(path.read_text("utf-8"))
    change(document)
    path.write_text(json.dumps(document, ensure_ascii=False), "utf-8")


def faults_of(folder: Path) -> list[str]:
    """Read broken texts and give the lines of the error."""
    with pytest.raises(DataError) as caught:
        read_texts(folder)
    return str(caught.value).splitlines()


def test_every_language(texts: Texts) -> None:
    """Every served language is there, in its order, and none of the taught ones got lost."""
    assert tuple(texts.by_language) == LANGUAGES
    assert set(TAUGHT) < set(LANGUAGES)


@pytest.mark.parametrize("language", LANGUAGES)
def test_help_names_every_language(texts: Texts, language: str) -> None:
    """Who asks how Clara is used is told all languages, each by its own name."""
    names = [known.name for known in read_languages(resources() / "data").values()]
    assert [name for name in names if name not in texts.by_language[language].texts["help"]] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_complete(texts: Texts, language: str) -> None:
    """Each language has every text, none blank but the note on Spanish quotes in Spanish, and every command."""
    spoken = texts.by_language[language]
    assert set(spoken.texts) == set(texts.by_language["es"].texts) >= set(WHOLE)
    blank = {name for name, text in spoken.texts.items() if not text.strip()}
    assert blank == ({"spanish_quotes"} if language == "es" else set())
    assert set(spoken.commands) == {"greeting", "help", "menu", "thanks", "goodbye", "human"}
    assert all(spoken.commands.values())


@pytest.mark.parametrize("language", LANGUAGES)
def test_placeholders(texts: Texts, language: str) -> None:
    """Each text can be said with the values there are, and none is left open."""
    for name in WHOLE:
        assert "{" not in texts.say(language, name, **VALUES), name
    asked = {name for _, name, _, _ in string.Formatter().parse(texts.by_language[language].texts["not_found"]) if name}
    assert asked == {"human"}


@pytest.mark.parametrize("language", LANGUAGES)
def test_direction(texts: Texts, language: str) -> None:
    """Arabic is written from right to left, the others from left to right."""
    assert texts.direction(language) == ("rtl" if language == "ar" else "ltr")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("contact", [pytest.param(None, id="no-contact"), pytest.param("x" * 200, id="longest-contact")])
def test_fits_one_message(tools_with: Callable[..., Tools], language: str, contact: str | None) -> None:
    """Each fixed text fits one message together with a notice of the first contact, all real names included."""
    tools = tools_with(human_contact=contact)
    listing = tools.dialogue.listing
    notice = tools.texts.say(language, "first_contact", human="").strip()
    for name in WHOLE:
        assert len(f"{notice}\n\n{tools.say(language, name)}") <= MAX_REPLY, name
    for options in (listing.menu.options, *listing.menu.topics.values()):
        menu = listing.reply("menu", options, language, ReplyStatus.COMMAND)
        assert len(f"{notice}\n\n{menu.text}") <= MAX_REPLY


@pytest.mark.parametrize("language", LANGUAGES)
def test_contact(tools_with: Callable[..., Tools], language: str) -> None:
    """The contact of the organisation is told where one is set, braces and all."""
    contact = "Ana {600 000 000}"
    assert contact in tools_with(human_contact=contact).say(language, "outage")
    assert contact not in tools_with().say(language, "outage")


@pytest.mark.parametrize("language", LANGUAGES)
def test_outage_is_not_a_miss(tools_with: Callable[..., Tools], language: str) -> None:
    """The text for an outage is another than the one for what is not known."""
    tools = tools_with()
    assert tools.say(language, "outage") != tools.say(language, "not_found")


def test_copy_reads_clean(folder: Path, texts: Texts) -> None:
    """The copy that the following tests break is right before they break it."""
    assert read_texts(folder).by_language == texts.by_language


@pytest.mark.parametrize(
    ("change", "said"),
    [
        pytest.param(lambda document: document["texts"].pop("help"), '$.texts: "help" is a required', id="text-missing"),
        pytest.param(lambda document: document["texts"].update(extra="x"), "$.texts: .*'extra' was unexp", id="text-too-many"),
        pytest.param(lambda document: document["commands"].pop("menu"), '$.commands: "menu" is a req', id="command-missing"),
        pytest.param(
            lambda document: document["commands"].update(dance=["x"]), "$.commands: .*'dance' was unexp", id="command-too-many"
        ),
        pytest.param(lambda document: document.update(extra=1), "$: .*'extra' was unexpected", id="field-too-many"),
        pytest.param(lambda document: document["texts"].update(help=3), "$.texts.help: 3 is not", id="text-is-a-number"),
        pytest.param(lambda document: document["texts"].update(help=None), "$.texts.help: null is not", id="text-is-null"),
        pytest.param(lambda document: document["texts"].update(help=["x"]), '$.texts.help: ["x"] is not', id="text-is-a-list"),
        pytest.param(lambda document: document["commands"].update(help="x"), '$.commands.help: "x"', id="command-is-a-text"),
        pytest.param(lambda document: document["commands"].update(help=[]), "$.commands.help: [] ", id="no-phrase"),
        pytest.param(lambda document: document["commands"]["help"].append(""), "$.commands.help[", id="blank-phrase"),
        pytest.param(lambda document: document["words"].insert(0, 7), "$.words[0]: 7 is not", id="word-is-a-number"),
        pytest.param(lambda document: document.update(words="le la"), '$.words: "le la" is not', id="words-in-one-text"),
        pytest.param(lambda document: document["texts"].update(help="a { b"), "text 'help': .*brace as two", id="brace-open"),
        pytest.param(lambda document: document["texts"].update(help="a } b"), "text 'help': .*brace as two", id="brace-close"),
        pytest.param(lambda document: document["texts"].update(thanks="{line.x}"), "thanks: {line.x} is not", id="no-line"),
        pytest.param(lambda document: document["texts"].update(help="{}"), "text 'help': must have", id="empty-placeholder"),
        pytest.param(
            lambda document: document["texts"].update(not_found="{procedures}"), "text 'not_found'", id="placeholder-missing"
        ),
        pytest.param(lambda document: document["texts"].update(thanks="{human}"), "text 'thanks'", id="placeholder-too-many"),
        pytest.param(lambda document: document.pop("words"), '"words"', id="no-words"),
        pytest.param(lambda document: document.pop("texts"), '"texts"', id="no-texts"),
        pytest.param(lambda document: document.update(commands=[]), "$.commands: [] is not", id="commands-of-another-kind"),
    ],
)
def test_fault(folder: Path, change: Callable[[dict[str, Any]], object], said: str) -> None:
    """A fault in one language is named with its file and place, and there is no other."""
    edit(folder, "fr", change)
    (fault,) = faults_of(folder)
    assert fault.startswith("languages/fr/texts.json: ")
    for part in said.split(".*"):
        assert part in fault


@pytest.mark.parametrize("content", ["[]", "null", "5", '"es"'], ids=["list", "null", "number", "text"])
def test_no_object(folder: Path, content: str) -> None:
    """A file that holds something else than an object is named with what it holds."""
    (folder / "languages" / "fr" / "texts.json").write_text(content, "utf-8")
    (fault,) = faults_of(folder)
    assert fault.startswith("languages/fr/texts.json: $: ")
    assert fault.endswith("; correct it")


def test_two_braces_are_one(folder: Path) -> None:
    """The remedy for a bare brace works: two braces are said as one."""
    edit(folder, "fr", lambda document: document["texts"].update(thanks="a {{ b }}"))
    assert read_texts(folder).say("fr", "thanks") == "a { b }"


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"{", id="broken-json"),
        pytest.param(b'{"a": "\xe9"}', id="not-utf-8"),
        pytest.param(b"", id="empty"),
        pytest.param(b"[" * 100_000, id="deep-nesting"),
        pytest.param(b'{"words": ' + b"1" * 5_000 + b"}", id="endless-number"),
    ],
)
def test_unreadable(folder: Path, content: bytes) -> None:
    """A file that cannot be read is named with what to do."""
    (folder / "languages" / "zh" / "texts.json").write_bytes(content)
    (fault,) = faults_of(folder)
    assert fault.startswith("languages/zh/texts.json: ")
    assert re.search("(mend it|mend it there|save the file as UTF-8|restore it from the repository)$", fault)


def test_folder_in_place_of_a_file(folder: Path) -> None:
    """A folder that stands where a file should be is named like a file that cannot be read."""
    (folder / "languages" / "zh" / "texts.json").unlink()
    (folder / "languages" / "zh" / "texts.json").mkdir()
    (fault,) = faults_of(folder)
    assert fault.startswith("languages/zh/texts.json: file: cannot be read")


def test_all_unreadable_files_at_once(folder: Path) -> None:
    """Every missing or broken file is named by one reading."""
    (folder / "languages" / "ro" / "texts.json").unlink()
    (folder / "languages" / "uk" / "texts.json").write_text("{", "utf-8")
    edit(folder, "fr", lambda document: document.pop("words"))
    edit(folder, "en", lambda document: document["texts"].update(help="a { b"))
    files = sorted(fault.split(": ")[0] for fault in faults_of(folder))
    assert files == ["languages/en/texts.json", "languages/fr/texts.json", "languages/ro/texts.json", "languages/uk/texts.json"]


def test_all_differences_at_once(folder: Path) -> None:
    """Every text, command and placeholder that is missing in any language is named by one reading."""
    edit(folder, "fr", lambda document: [document["texts"].pop("help"), document.update(words="x", extra=1)])
    edit(folder, "ar", lambda document: document["commands"].pop("menu"))
    edit(folder, "pt", lambda document: document["texts"].update(outage="nada", help="}"))
    faults = "\n".join(faults_of(folder))
    for expected in (
        'languages/fr/texts.json: $.texts: "help" is a required property',
        'languages/fr/texts.json: $.words: "x"',
        "languages/fr/texts.json: $: Additional properties",
        'languages/ar/texts.json: $.commands: "menu" is a required property',
        "languages/pt/texts.json: text 'outage': must have the placeholders",
        "languages/pt/texts.json: text 'help': ",
    ):
        assert expected in faults
    assert len(faults.splitlines()) == 6
