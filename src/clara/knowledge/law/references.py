"""From a legal basis to the provisions it points to: "arts. 65, 68.2 y 40", "DA 20.ª.3 y 21.ª.4", "anexo 2.3.1 y art. 1.3"."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from clara.knowledge.law.labels import SUFFIX, annex_key, article_key, disposition_key, ordinal
from clara.knowledge.law.norm import Norm
from clara.knowledge.procedure import Fact, LegalBasis
from clara.language.tokens import LETTER

_KINDS: Final = {
    "art": r"arts?\.|art[ií]culos?",
    "adicional": r"DDAA|DA|disp(?:osici[oó]n(?:es)?|\.) adic(?:ional(?:es)?|\.)",
    "transitoria": r"DDTT|DT|disp(?:osici[oó]n(?:es)?|\.) trans(?:itorias?|\.)",
    "final": r"DDFF|DF|disp(?:osici[oó]n(?:es)?|\.) fin(?:al(?:es)?|\.)",
    "derogatoria": r"DD|disp(?:osici[oó]n|\.) derog(?:atoria|\.)",
    "annex": r"anexos?|anejos?",
    "section": r"aps?\.|apartados?",
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
