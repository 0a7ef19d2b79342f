"""The gates of a written sentence: nothing in it may lead elsewhere, hide, pass for evidence, or ask a person for anything.

A language model is not trusted, whatever it was told: its sentences are compared with these rules and with the facts they
cite, by code alone. What a fact itself says passes only where that fact is cited.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Final

from clara.answering.writing.prompt import TOKEN
from clara.language.fold import caseless, compatible
from clara.language.packs import read_with_packs
from clara.language.phrases import WordPattern
from clara.language.tokens import letters, words
from clara.retrieval.passage import Passage
from clara.retrieval.quotation import visible

MARK: Final = re.compile(r"\[C([1-9]\d?)\]")
# Addresses however they are disguised. A model writes tokens, so whatever looks like an address is none of ours. Dots may be
# of any script or spelt out; behind a full stop without a blank a sentence would begin with a capital letter.
_DOTS: Final = "[.․。｡．‧·•∙]"
_ENDINGS: Final = (
    "com|net|org|info|es|eu|cat|io|ru|cn|top|xyz|shop|site|online|app|link|click|live|biz|me|ly|co|tk|ml|ga|cf|gq|to|cc|pw"
    "|gob|club"
)
_ADDRESS: Final = re.compile(
    r"[a-z][a-z0-9+.-]{1,9}\s*:\s*//|\bhxxp|\bwww\b|\bhttps?\b|xn--|\bjavascript:|\bmailto:|\btel:|\bdata:\w+/"
    rf"|(?<!\w)@\w{{3,}}|[\w.+-]+@[\w-]+{_DOTS}\w|\w@(?:gmail|hotmail|outlook|yahoo|proton)\b|\barroba\b|\(at\)|\[at\]"
    rf"|(?<![\w.])[a-z0-9-]{{2,}}{_DOTS}[a-z]{{2,}}(?!\.\w\b)"
    rf"|[^\W\d_]{{3,}}[.․｡．][^\W\d_A-Z]{{2,}}(?!\.)"
    rf"|[a-z0-9-]{{2,}}\s*[\[({{<]\s*(?:{_DOTS}|dot|punto|point|punct|ponto|punt|точка|крапка|نقطة|点)\s*[\])}}>]"
    rf"|[a-z0-9-]{{2,}}\s{{0,2}}{_DOTS}\s{{0,2}}(?:{_ENDINGS})\b"
    rf"|\b[a-z0-9-]{{2,}}\s+(?:dot|punto|point|punct|ponto|punt|точка|крапка|نقطة|点)\s+(?:{_ENDINGS}|ком|كوم)\b"
    r"|\b\d{1,3}(?:\.\d{1,3}){3}\b|\b(?:bit|tinyurl|goo|cutt|is|t|wa)\s*[./]\s*(?:ly|com|gl|gd|me)\b"
)
# A token with something on it would be another address: a longer path, a longer host.
_EXTENDED: Final = re.compile(r"\}\}[\w/?#@%=&+-]|\}\}[.:]\w|[\w/@.+-]\{\{")
_MARKUP: Final = re.compile(
    r"</?[a-z!][^>]*>?|\]\s*\(|!\[|```|^\s*#{1,6}\s|\|\s*-{2,}|&#?\w+;|\\u[0-9a-f]{4}", re.IGNORECASE | re.MULTILINE
)
_BRACKETS: Final = re.compile(r"[\[\]［］【】〔〕⟦⟧{}]|[(（]\s*[CСс]\s*\d+\s*[)）]")
# A telephone has nine digits, an account twenty and more: such a number stands in the evidence, or nowhere.
LONG_NUMBER: Final = 8
_DATE: Final = re.compile(r"(?<!\d)(?:\d{1,2}[-/.]\d{1,2}[-/.](?:\d{4}|\d{2})|\d{4}[-/.]\d{1,2}[-/.]\d{1,2})(?!\d)")
_AMOUNT: Final = re.compile(r"\d[\d.,\u00a0 ]*\s?(?:€|eur\b|euros?\b)", re.IGNORECASE)
_NUMBER: Final = re.compile(r"\+?\d(?:[\s().\-–/·_,*]{0,3}\d)+")
_CODE: Final = re.compile(
    r"\b(?=[a-z0-9]*\d)(?=[a-z0-9]*[a-z])[a-z0-9]{9,}\b|\b[a-z]{2}\d{2}(?:[ -]?[a-z0-9]{4}){3,}", re.IGNORECASE
)
_SPACED: Final = re.compile(r"(?<!\w)(?:[^\W\d_] ){4,}[^\W\d_](?!\w)")
# A sentence of an answer is short; what is longer than this hides its end.
LONGEST: Final = 600
# So many words in a row of the orders are a quotation of them.
QUOTED_WORDS: Final = 6


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
        rows = (list(row) for spelt, row in groupby(said, self.digits.__contains__) if spelt)
        return any(len(row) >= SPELT for row in rows)


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


class Gates:
    """Finds what is wrong with a written sentence. `orders` is what the model was told, which it must not repeat."""

    def __init__(self, sensitive: Sensitive, orders: str) -> None:
        self._sensitive = sensitive
        self._orders = _runs(orders)

    def faults(self, sentence: str, language: str, cited: Sequence[Passage], tokens: Sequence[str]) -> list[str]:
        """Name the kinds of fault. `cited` are the facts of its marks, `tokens` the links it may hold."""
        # Tokens that may not be there stay, and are found by their brackets.
        bare = TOKEN.sub(lambda match: " " if match[0] in tokens else match[0], MARK.sub(" ", sentence))
        plain = compatible(visible(bare))
        lower = caseless(plain)
        evidence = "\n".join(passage.text for passage in cited)
        wrong = {
            "hidden": visible(sentence) != sentence or _mixes_scripts(plain) or bool(_SPACED.search(plain)),
            "length": len(sentence) > LONGEST,
            "address": bool(_EXTENDED.search(sentence) or _ADDRESS.search(lower) or _ADDRESS.search(visible(bare).lower())),
            "markup": bool(_MARKUP.search(plain)),
            "mark": bool(_BRACKETS.search(plain)),
            "number": _foreign_number(plain, evidence),
            "leaks": bool(self._orders & _runs(plain)),
        }
        found = [kind for kind, held in wrong.items() if held]
        return list(dict.fromkeys([*found, *self._sensitive.faults(bare, language, evidence)]))


def _foreign_number(plain: str, evidence: str) -> bool:
    """Whether a long number or a code is not in the evidence. Dates and amounts have many ways, and are left to the proof."""
    numbers = [_digits(match[0]) for match in _NUMBER.finditer(_AMOUNT.sub("; ", _DATE.sub("; ", plain)))]
    codes = [_signs(match[0]) for match in _CODE.finditer(plain)]
    held, signs = _digits(evidence), _signs(evidence)
    foreign = [digits for digits in numbers if len(digits) >= LONG_NUMBER and digits.removeprefix("34") not in held]
    return bool(foreign) or any(code not in signs for code in codes)


def _signs(text: str) -> str:
    return "".join(character for character in caseless(text) if character.isalnum())


def _digits(text: str) -> str:
    return "".join(str(unicodedata.decimal(character)) for character in text if character.isdecimal())


def _mixes_scripts(plain: str) -> bool:
    """Whether letters of two scripts stand in one word, one passing for the other."""
    for word in letters(plain):
        names = {unicodedata.name(character, "").split(" ")[0] for character in word.text}
        if len(names & {"LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE"}) > 1:
            return True
    return False


def _runs(text: str) -> set[tuple[str, ...]]:
    said = words(text)
    return {tuple(said[start : start + QUOTED_WORDS]) for start in range(len(said) - QUOTED_WORDS + 1)}
