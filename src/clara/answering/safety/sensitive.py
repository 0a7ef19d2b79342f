"""What an answer may not say, and what it may say only of facts that speak of it, as data in every served language."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from clara.language.packs import read_with_packs
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
    """Read `folder`/sensitive.json and what every language says of its topics. Raises DataError naming every fault."""
    document, packs = read_with_packs(folder, "sensitive.json", "evidence", "sensitive")
    kinds = next(iter(packs.values()))["never"]
    return Sensitive(
        {kind: WordPattern([phrase for pack in packs.values() for phrase in pack["never"][kind]]) for kind in kinds},
        {
            name: Topic(
                {language: WordPattern(pack["topics"][name]) for language, pack in packs.items()}, WordPattern(evidence)
            )
            for name, evidence in document["evidence"].items()
        },
        frozenset(word for pack in packs.values() for phrase in pack["digits"] for word in words(phrase)),
    )
