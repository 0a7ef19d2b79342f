"""The fixed texts, in every served language, as data."""

import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clara.data_files import DataError, Fault
from clara.knowledge.hotlines import read_hotlines
from clara.language.packs import pack_file, read_languages, read_packs


@dataclass(frozen=True, slots=True)
class LanguageTexts:
    """The texts of one language: phrases to say, commands to understand, words that reveal it.

    `transliterated` is said to who writes it in Latin letters; `called` are the language's names in every language,
    `requested` how people ask for it.
    """

    direction: str
    texts: Mapping[str, str]
    commands: Mapping[str, Sequence[str]]
    words: Sequence[str]
    transliterated: str = ""
    called: Sequence[str] = ()
    requested: Sequence[str] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Texts:
    """The texts of all languages, in the order in which languages are tried when nothing else decides."""

    by_language: Mapping[str, LanguageTexts]

    def say(self, language: str, name: str, **values: str) -> str:
        """Give a text with its placeholders filled."""
        return self.by_language[language].texts[name].format(**values)

    def direction(self, language: str) -> str:
        """Give "ltr" or "rtl"."""
        return self.by_language[language].direction


def read_texts(folder: Path) -> Texts:
    """Read the texts of every pack below `folder`. Raises DataError naming every fault of every file."""
    lines, languages = read_hotlines(folder), read_languages(folder)
    documents, faults = read_packs(folder, "texts")
    served = ", ".join(language.name for language in languages.values())
    for language, document in documents.items():
        document["texts"] = {name: text.replace("{served}", served) for name, text in document["texts"].items()}
        documents[language], lacking = lines.fill(document, pack_file(language, "texts"))
        faults += lacking
    faults += _placeholder_faults(documents)
    if faults:
        raise DataError(faults)
    return Texts(
        {
            language: LanguageTexts(
                languages[language].direction,
                document["texts"],
                document["commands"],
                document["words"],
                languages[language].transliterated,
                languages[language].called,
                languages[language].requested,
            )
            for language, document in documents.items()
        }
    )


def _placeholder_faults(documents: Mapping[str, dict[str, Any]]) -> list[Fault]:
    """Compare the placeholders of every text with the Spanish ones."""
    faults: list[Fault] = []
    used: dict[tuple[str, str], set[str]] = {}
    for language, document in documents.items():
        for name, text in document["texts"].items():
            try:
                used[language, name] = {field for _, field, _, _ in string.Formatter().parse(text) if field is not None}
            except ValueError as error:
                faults.append(Fault(pack_file(language, "texts"), f"text '{name}'", f"{error}; write a single brace as two"))
    for (language, name), placeholders in used.items():
        if placeholders != used.get(("es", name), placeholders):
            remedy = "must have the placeholders of the Spanish one"
            faults.append(Fault(pack_file(language, "texts"), f"text '{name}'", remedy))
    return faults
