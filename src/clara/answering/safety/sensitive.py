"""What an answer may not say, and what it may say only of facts that speak of it, as data in ten languages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from clara.answering.texts import LANGUAGES
from clara.data_files import DataError, read_document, read_schema
from clara.language.patterns import WordPattern
from clara.language.tokens import words

# A telephone read out digit by digit has nine; a row of five number words is no ordinary sentence any more.
SPELT: Final = 5


@dataclass(frozen=True, slots=True)
class Topic:
    """A matter that needs evidence: what a sentence says of it, by language, and what a fact in Spanish says of it."""

    said: Mapping[str, WordPattern]
    evidence: WordPattern


@dataclass(frozen=True, slots=True)
class Sensitive:
    """What sentences are compared with. `never` is by kind."""

    never: Mapping[str, WordPattern]
    topics: Mapping[str, Topic]
    digits: frozenset[str]

    def faults(self, sentence: str, language: str, evidence: str) -> list[str]:
        """Name what a sentence may not say, given the Spanish text of the facts that it cites."""
        said, held = words(sentence), words(evidence)
        found = [kind for kind, pattern in self.never.items() if pattern.search(said)]
        found += [
            name
            for name, topic in self.topics.items()
            if any(topic.said[spoken].search(said) for spoken in {language, "es", "en"}) and not topic.evidence.search(held)
        ]
        return [*found, *(["number"] if self._spells_a_number(said) else [])]

    def _spells_a_number(self, said: Sequence[str]) -> bool:
        row = 0
        for word in said:
            row = row + 1 if word in self.digits else 0
            if row >= SPELT:
                return True
        return False


def read_sensitive(folder: Path) -> Sensitive:
    """Read `folder`/sensitive.json. Raises DataError naming every fault."""
    document, faults = read_document(
        folder / "sensitive.json", "sensitive.json", read_schema(folder / "schema" / "sensitive.schema.json")
    )
    if document is None:
        raise DataError(faults)
    return _sensitive(document)


def _sensitive(document: Mapping[str, Any]) -> Sensitive:
    def every(by_language: Mapping[str, Sequence[str]]) -> list[str]:
        return [phrase for language in LANGUAGES for phrase in by_language[language]]

    return Sensitive(
        {kind: WordPattern(every(by_language)) for kind, by_language in document["never"].items()},
        {
            name: Topic(
                {language: WordPattern(topic["said"][language]) for language in LANGUAGES}, WordPattern(topic["evidence"])
            )
            for name, topic in document["topics"].items()
        },
        frozenset(word for phrase in every(document["digits"]) for word in words(phrase)),
    )
