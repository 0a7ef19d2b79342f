"""The fixed texts, in every served language, as data."""

import json
import string
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

# The order in which languages are tried when nothing else decides.
LANGUAGES = ("es", "en", "fr", "ar", "ro", "pt", "ca", "zh", "uk", "ru")


class TextsError(Exception):
    """The fixed texts in data/texts are incomplete. The message lists every fault with its file."""


@dataclass(frozen=True, slots=True)
class LanguageTexts:
    """The texts of one language: phrases to say, commands to understand, words that reveal it."""

    direction: str
    texts: Mapping[str, str]
    commands: Mapping[str, tuple[str, ...]]
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Texts:
    """The texts of all languages."""

    by_language: Mapping[str, LanguageTexts]

    def say(self, language: str, name: str, **values: str) -> str:
        """Give a text with its placeholders filled."""
        return self.by_language[language].texts[name].format(**values)

    def direction(self, language: str) -> str:
        """Give "ltr" or "rtl"."""
        return self.by_language[language].direction


def read_texts(folder: Path) -> Texts:
    """Read data/texts. Raises TextsError naming every fault of every file."""
    schema = folder / "schema" / "texts.schema.json"
    if not schema.is_file():
        raise TextsError(f"{schema}: is missing; restore data/ from the repository")
    validator = Draft202012Validator(json.loads(schema.read_text("utf-8")))
    faults: list[str] = []
    documents: dict[str, dict[str, Any]] = {}
    for language in LANGUAGES:
        file = f"texts/{language}.json"
        try:
            document = json.loads((folder / file).read_text("utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            faults.append(f"{file}: {type(error).__name__}: {error}; restore or mend the file")
            continue
        wrong = [f"{file}: {error.json_path}: {error.message}; correct it" for error in validator.iter_errors(document)]
        if not wrong and document["language"] != language:
            wrong.append(f"{file}: $.language: must be '{language}'; correct it")
        faults += wrong
        if not wrong:
            documents[language] = document
    faults += _placeholder_faults(documents)
    if faults:
        raise TextsError("\n".join(faults))
    return Texts({language: _texts(document) for language, document in documents.items()})


def _texts(document: dict[str, Any]) -> LanguageTexts:
    commands = {name: tuple(phrases) for name, phrases in document["commands"].items()}
    return LanguageTexts(document["direction"], document["texts"], commands, tuple(document["words"]))


def _placeholder_faults(documents: Mapping[str, dict[str, Any]]) -> list[str]:
    """Compare the placeholders of every text with the Spanish ones."""
    faults: list[str] = []
    used: dict[tuple[str, str], set[str]] = {}
    for language, document in documents.items():
        for name, text in document["texts"].items():
            try:
                used[language, name] = _placeholders(text)
            except ValueError as error:
                faults.append(f"texts/{language}.json: text '{name}': {error}; write a single brace as two")
    for (language, name), placeholders in used.items():
        if placeholders != used.get(("es", name), placeholders):
            faults.append(f"texts/{language}.json: text '{name}' must have the placeholders of the Spanish one")
    return faults


def _placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}
