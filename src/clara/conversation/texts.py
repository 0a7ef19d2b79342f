"""The fixed texts, in every served language, as data."""

import json
import string
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

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
    """Read data/texts. Raises TextsError when a language, a text or a placeholder is missing from any file."""
    faults: list[str] = []
    read: dict[str, LanguageTexts] = {}
    for language in LANGUAGES:
        path = folder / "texts" / f"{language}.json"
        try:
            document = json.loads(path.read_text("utf-8"))
            read[language] = LanguageTexts(
                direction=document["direction"],
                texts=document["texts"],
                commands={name: tuple(phrases) for name, phrases in document["commands"].items()},
                words=tuple(document["words"]),
            )
        except (OSError, ValueError, KeyError, AttributeError) as error:
            faults.append(f"texts/{language}.json: {type(error).__name__}: {error}; restore or complete the file")
    if not faults:
        faults = _differences(read)
    if faults:
        raise TextsError("\n".join(faults))
    return Texts(read)


def _differences(read: Mapping[str, LanguageTexts]) -> list[str]:
    model = read["es"]
    faults: list[str] = []
    for language, texts in read.items():
        file = f"texts/{language}.json"
        for kind, ours, theirs in (("text", model.texts, texts.texts), ("command", model.commands, texts.commands)):
            lone = sorted(set(ours) ^ set(theirs))
            faults += [f"{file}: {kind} '{name}' is in one of es and {language} only; add or remove it" for name in lone]
        different = [
            name
            for name in sorted(set(model.texts) & set(texts.texts))
            if _placeholders(model.texts[name]) != _placeholders(texts.texts[name])
        ]
        faults += [f"{file}: text '{name}' must have the placeholders of the Spanish one" for name in different]
    return faults


def _placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}
