"""The norms that facts cite, and finding their names in a Spanish text."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Final

from clara.data_files import DataError, Fault, read_data, record
from clara.knowledge.procedure import Procedure
from clara.language.figures.lexicon import SPANISH
from clara.language.figures.reader import spanish
from clara.language.phrases import Phrases
from clara.language.tokens import words

FILE: Final = "norms.json"
# "Real Decreto-ley 7/2026, de 20 de marzo"; the longer ranks first, because "Real Decreto" begins three of them.
_RANKS: Final = (
    "Ley Orgánica",
    "Real Decreto Legislativo",
    "Real Decreto[- ]ley",
    "Real Decreto",
    "Ley",
    "Orden",
    "Resolución",
)
_NUMBER: Final = r"((?:[A-Z]{2,4}/)?\d{1,4}/\d{4})\b"
_NAMED: Final = re.compile(
    rf"\b(?<!Decreto[- ])({'|'.join(_RANKS)})\s+{_NUMBER}(?:,?\s+de\s+(\d{{1,2}})\s+de\s+([a-z]+))?", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class CitedNorm:
    """A norm by its id in the gazette. `number` is empty where it has none; `names` are other ways to call it."""

    id: str
    rank: str
    date: date
    title: str
    number: str = ""
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CitedFacts:
    """The facts that rest on a norm, and the procedures they belong to."""

    facts: tuple[str, ...] = ()
    procedures: tuple[str, ...] = ()


def read_norms(folder: Path) -> tuple[CitedNorm, ...]:
    """Read `folder`/norms.json. Raises DataError."""
    document = read_data(folder, FILE, "norms")
    norms = tuple(record(CitedNorm, norm, date=date.fromisoformat) for norm in document["norms"])
    known = [norm.id for norm in norms]
    if twice := sorted({name for name in known if known.count(name) > 1}):
        raise DataError([Fault(FILE, "$.norms", f"{', '.join(twice)} stands there twice; remove one")])
    return norms


def cited_by(procedures: Iterable[Procedure]) -> dict[str, CitedFacts]:
    """Give, by the id of each norm that any fact cites, those facts and their procedures, in the catalogue's order."""
    facts: dict[str, dict[str, str]] = {}
    for procedure in procedures:
        for fact in procedure.facts:
            for basis in fact.legal_basis:
                facts.setdefault(basis.norm, {})[fact.id] = procedure.id
    return {norm: CitedFacts(tuple(found), tuple(dict.fromkeys(found.values()))) for norm, found in facts.items()}


def unnamed(norms: Iterable[CitedNorm], cited: Mapping[str, CitedFacts]) -> list[Fault]:
    """Say which cited norms have no entry: titles that name them would not be noticed."""
    known = {norm.id for norm in norms}
    return [
        Fault(FILE, "$.norms", f"{norm} is cited by {cited[norm].facts[0]} and has no entry; add it")
        for norm in sorted(cited.keys() - known)
    ]


class NormNames:
    """Finds the known norms that a text names, by rank and number, or by other names."""

    def __init__(self, norms: Iterable[CitedNorm]) -> None:
        self._norms = {norm.id: norm for norm in norms}
        self._by_number: dict[tuple[str, str], list[CitedNorm]] = {}
        for norm in self._norms.values():
            if norm.number:
                self._by_number.setdefault(_key(norm.rank, norm.number), []).append(norm)
        self._phrases = Phrases((name, norm.id) for norm in self._norms.values() for name in norm.names)

    def find(self, text: str) -> tuple[str, ...]:
        """Give the ids of the norms named, in the order of the text, each once.

        What a norm's own title names is not meant: the Reglamento of a law is called after it.
        """
        found: list[tuple[int, str]] = []
        rest = text
        for start, end, norm in self._by_rank(text):
            found.append((start, norm))
            rest = rest[:start] + " " * (end - start) + rest[end:]
        spoken = words(rest)
        named = [norm for _, _, norm in self._phrases.longest_first(spoken)]
        return tuple(dict.fromkeys([norm for _, norm in sorted(found)] + named))

    def _by_rank(self, text: str) -> Iterator[tuple[int, int, str]]:
        read = 0
        for match in _NAMED.finditer(text):
            if match.start() < read:
                continue
            for norm in self._by_number.get(_key(match[1], match[2]), ()):
                if _dated(match, norm.date):
                    read = max(match.end(), match.start() + _shared(text[match.start() :], norm.title))
                    yield match.start(), read, norm.id


def _key(rank: str, number: str) -> tuple[str, str]:
    return rank.lower().replace("-", " "), number.upper()


def _dated(match: re.Match[str], day: date) -> bool:
    """Whether the date that follows the number, if one does, is the norm's: autonomous communities count from one as well."""
    month = spanish().lexicon(SPANISH).month(match[4]) if match[3] else None
    if month is None:
        return True
    return (int(match[3]), month) == (day.day, day.month)


def _shared(text: str, title: str) -> int:
    """Give how much of the text is the beginning of the title."""
    pairs = zip(text.lower(), title.lower(), strict=False)
    return next((place for place, (one, other) in enumerate(pairs) if one != other), min(len(text), len(title)))
