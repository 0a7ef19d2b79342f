"""Reading every figure of a text in any served language.

First what is written alike everywhere (codes.py), then numbers with their units, word by word, from left to right. Reading
is total over digits: what nothing explains is a count, so no digit of a text can stay unread.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache

from clara.data_files import package_folder
from clara.language.figures.codes import RULES, addresses, read_chinese_dates
from clara.language.figures.figure import Figure, FigureKind, FigureText, FoundFigure
from clara.language.figures.lexicon import SPANISH, Lexicon, read_lexicons
from clara.language.figures.measures import Scan
from clara.language.fold import fold
from clara.language.tokens import texts_of, tokens_of

_DIGITS = re.compile(r"\d+")
# As Spanish writes numbers. A float holds whole numbers of this length exactly.
_SPANISH_NUMBER = re.compile(r"(?<![\w.,])(?:\d{1,3}(?:\.\d{3}){1,3}(?!\d)|\d{1,12})(?:,\d{1,6})?(?!\w|[.,]\d)")


def is_spanish_number(written: str) -> bool:
    """Whether digits are one number as Spanish writes it: 1.234,50."""
    return _SPANISH_NUMBER.fullmatch(written) is not None


class Reader:
    """Reads figures with the words of each language; an unknown language is read with the Spanish ones."""

    def __init__(self, lexicons: Mapping[str, Lexicon]) -> None:
        self._lexicons = lexicons

    def lexicon(self, language: str) -> Lexicon:
        """Give the words of a language."""
        return self._lexicons.get(language, self._lexicons[SPANISH])

    def figures_in(self, text: str, language: str) -> list[FoundFigure]:
        """Give every figure of a text, in its order. The time is about linear in the length of the text."""
        return sorted(self._read(text, language).found, key=lambda found: found.start)

    def values_in(self, text: str) -> frozenset[Figure]:
        """Give what a Spanish fact states: of each figure its likeliest reading, nothing of words that only hint at one."""
        page = self._read(" ".join(text.split()), SPANISH)
        stated = (found.readings[:1] if found.values is None else found.values for found in page.found)
        return frozenset(figure for values in stated for figure in values).union(page.idioms)

    def numbers_in(self, text: str) -> list[tuple[int, int, float]]:
        """Give (start, end, value) of each number of a Spanish text, in digits or words, whatever it measures."""
        plain = fold(text)
        digits = ((match.span(), match[0].replace(".", "").replace(",", ".")) for match in _SPANISH_NUMBER.finditer(plain.text))
        found = [(*span, float(number)) for span, number in digits]
        found += self._spelt_numbers(plain.text)
        return [(*plain.span(start, end), value) for start, end, value in sorted(found)]

    def _spelt_numbers(self, text: str) -> Iterator[tuple[int, int, float]]:
        tokens = tokens_of(text)
        said, words, place = texts_of(tokens), self.lexicon(SPANISH).numbers, 0
        while place < len(tokens):
            spelt = words.at(said, place)
            if spelt is not None and said[place : spelt[1]] != ["ciento"]:  # the end of "por ciento"
                yield tokens[place].start, tokens[spelt[1] - 1].end, spelt[0]
            place = place + 1 if spelt is None else spelt[1]

    def _read(self, text: str, language: str) -> FigureText:
        page, lexicon = FigureText(text), self.lexicon(language)
        addresses(page, lexicon)
        for rule in RULES if _DIGITS.search(page.rest) else ():
            rule(page, lexicon)
        if language == "zh":
            read_chinese_dates(page)
        Scan(page, lexicon).read()
        for match in list(_DIGITS.finditer(page.rest)):
            page.add(*match.span(), [Figure(FigureKind.COUNT, match[0])])
        return page


@cache
def spanish() -> Reader:
    """Give the reader of facts, whose words the release carries. Raises DataError."""
    return Reader(read_lexicons(package_folder() / "data"))
