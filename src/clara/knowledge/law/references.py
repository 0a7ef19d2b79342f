"""What points at law: a legal basis at provisions ("arts. 65, 68.2 y 40", "DA 20.ª.3"), and a text at norms by their names."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Final

from clara.data_files import DataError, Fault, read_data, record
from clara.knowledge.law.labels import SUFFIX, annex_key, article_key, disposition_key, ordinal
from clara.knowledge.law.norm import Norm
from clara.knowledge.procedure import Fact, LegalBasis, Procedure
from clara.language.figures.lexicon import SPANISH
from clara.language.figures.reader import spanish
from clara.language.phrases import Phrases
from clara.language.tokens import LETTER, words

_KINDS: Final = {
    "art": r"arts?\.|art[ií]culos?",
    "adicional": r"DDAA|DA|disp(?:osici[oó]n(?:es)?|\.) adic(?:ional(?:es)?|\.)",
    "transitoria": r"DDTT|DT|disp(?:osici[oó]n(?:es)?|\.) trans(?:itorias?|\.)",
    "final": r"DDFF|DF|disp(?:osici[oó]n(?:es)?|\.) fin(?:al(?:es)?|\.)",
    "derogatoria": r"DD|disp(?:osici[oó]n|\.) derog(?:atoria|\.)",
    "annex": r"anexos?|anejos?",
    "preamble": r"pre[aá]mbulo",
    "section": r"aps?\.|apdos?\.|apartados?|reglas?",
}
_KIND: Final = re.compile(
    "|".join(rf"(?P<{name}>(?<!\w)(?:{pattern})(?!\w))" for name, pattern in _KINDS.items()), re.IGNORECASE
)
# A number, what it is a part of ("1.a.5.º", "f", "seis"), and where a range ends. Behind a part, a range is one of parts.
_POINTED: Final = re.compile(
    rf"(?<![\w.])(?P<number>\d{{1,4}}(?: {SUFFIX}\b)?)(?:\.?[ªº])?"
    r"(?P<part>(?:\.(?:\d{1,3}|[a-zñ]{1,6}))(?:\.?º)?(?:\.\w{1,3}\.?º?)*)?"
    r"(?:-(?P<last>\w{1,4}))?",
    re.IGNORECASE,
)
# What comes before the first article: it explains, and no provision of a norm has this key.
PREAMBLE: Final = "preamble"
_ROMAN: Final = re.compile(r"(?<![\w.])[IVXLC]+(?![\w.])")
_WORDS: Final = re.compile(rf"{LETTER}{{4,}}(?: {LETTER}{{5,}}){{0,3}}")
_LONGEST_RANGE: Final = 200


def provisions_of(basis: LegalBasis) -> frozenset[str]:
    """Give the keys of the provisions that a legal basis points to; empty: the norm as a whole.

    What cannot be read also points to the whole norm, so that no change of it is passed over.
    """
    return frozenset(_keys(basis.provision)) if basis.provision else frozenset()


def _keys(provision: str) -> Iterator[str]:
    text = " ".join(re.sub(r"\([^()]*\)", "", provision).split())
    kinds = list(_KIND.finditer(text))
    for place, match in enumerate(kinds):
        end = kinds[place + 1].start() if place + 1 < len(kinds) else len(text)
        kind = str(match.lastgroup)
        yield from _keys_of(kind, text[match.end() : end], several=match[0].rstrip(".").endswith("s"))


def _keys_of(kind: str, text: str, *, several: bool) -> Iterator[str]:
    if kind == "annex":
        numbers = _ROMAN.findall(text)
        yield from map(annex_key, numbers) if numbers else (annex_key(None),)
        return
    if kind == "preamble":
        yield PREAMBLE
        return
    found = list(_POINTED.finditer(text))
    if not found:
        yield from _key_in_words(kind, text)
        return
    parted = False
    for match in found:
        # "art. 9.1 y 2" goes on with parts of the same article; "arts. 9.1 y 10" names another one.
        if not (parted and kind == "art" and not several and match["part"] is None):
            yield from _numbered(kind, match)
        parted = match["part"] is not None


def _numbered(kind: str, match: re.Match[str]) -> Iterator[str]:
    last = match["last"] or ""
    if kind == "art" and last.isdecimal() and match["part"] is None and match["number"].isdecimal():
        first, final = int(match["number"]), int(last)
        if 0 < final - first < _LONGEST_RANGE:
            yield from (f"a{number}" for number in range(first, final + 1))
            return
    if kind == "art":
        yield str(article_key(match["number"]))
    elif kind == "section":
        number = re.sub(r"\D", "", match["number"])
        yield f"ap{int(number)}"
    else:
        yield disposition_key(kind, match["number"])


def _key_in_words(kind: str, text: str) -> Iterator[str]:
    words = next((match[0] for match in _WORDS.finditer(text) if ordinal(match[0])), None)
    if kind == "art":
        if words and (key := article_key(words)):
            yield key
    elif kind == "section":
        if words:
            yield f"ap{ordinal(words)}"
    else:
        yield disposition_key(kind, words or "")


@dataclass(frozen=True, slots=True)
class Absent:
    """A fact's legal basis that points to a provision which the norm does not have, or to one that is repealed."""

    fact: str
    norm: str
    provision: str
    key: str
    repealed: bool


def absent(facts: Iterable[Fact], norms: Mapping[str, Norm]) -> Iterator[Absent]:
    """Give what facts point to in vain, in the norms that are there."""
    for fact in facts:
        for basis in fact.legal_basis:
            norm = norms.get(basis.norm)
            there = norm.by_key if norm else {}
            for key in sorted(provisions_of(basis)) if norm else ():
                if key not in there or there[key].repealed:
                    yield Absent(fact.id, basis.norm, basis.provision or "", key, repealed=key in there)


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
        self._unnumbered = [
            (norm, name.lower())
            for norm in self._norms.values()
            for name in norm.names
            if not norm.number and norm.title.startswith(name)
        ]
        self._phrases = Phrases((name, norm.id) for norm in self._norms.values() for name in norm.names)

    def find(self, text: str) -> tuple[str, ...]:
        """Give the ids of the norms named, in the order of the text, each once.

        What a norm's own title names is not meant: the Reglamento of a law is called after it.
        """
        spans = [*self._by_title(text), *self._by_rank(text)]
        found = [span for span in spans if not any(start < span[0] < end for start, end, _ in spans)]
        rest = text
        for start, end, _ in found:
            rest = rest[:start] + " " * (end - start) + rest[end:]
        spoken = words(rest)
        named = [norm for _, _, norm in self._phrases.longest_first(spoken)]
        return tuple(dict.fromkeys([norm for _, _, norm in sorted(found)] + named))

    def _by_title(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Find the norms without a number, which are called by how their title begins."""
        for norm, begins in self._unnumbered:
            if (start := text.lower().find(begins)) >= 0:
                yield start, start + _shared(text[start:], norm.title), norm.id

    def _by_rank(self, text: str) -> Iterator[tuple[int, int, str]]:
        read = 0
        for match in _NAMED.finditer(text):
            if match.start() < read:
                continue
            for norm in self._by_number.get(_key(match[1], match[2]), ()):
                if _dated(match) in {None, (norm.date.day, norm.date.month)}:
                    read = max(match.end(), match.start() + _shared(text[match.start() :], norm.title))
                    yield match.start(), read, norm.id


def _key(rank: str, number: str) -> tuple[str, str]:
    return rank.lower().replace("-", " "), number.upper()


def _dated(match: re.Match[str]) -> tuple[int, int] | None:
    """Give day and month that follow the number, if they do: autonomous communities count from one as well."""
    month = spanish().lexicon(SPANISH).month(match[4]) if match[3] else None
    return (int(match[3]), month) if month else None


def _shared(text: str, title: str) -> int:
    """Give how much of the text is the beginning of the title."""
    pairs = zip(text.lower(), title.lower(), strict=False)
    return next((place for place, (one, other) in enumerate(pairs) if one != other), min(len(text), len(title)))
