"""Reading every figure of a text in any served language.

First what is written alike everywhere (codes.py), then numbers with their units, word by word, from left to right. Reading
is total over digits: what nothing explains is a count, so no digit of a text can stay unread.
"""

import re
from collections.abc import Mapping

from clara.language.figures.codes import RULES, addresses, read_chinese_dates
from clara.language.figures.figure import Figure, FigureKind
from clara.language.figures.lexicon import SPANISH, Lexicon
from clara.language.figures.measures import Scan
from clara.language.figures.page import Found, Page

_DIGITS = re.compile(r"\d+")


class Reader:
    """Reads figures with the words of each language; an unknown language is read with the Spanish ones."""

    def __init__(self, lexicons: Mapping[str, Lexicon]) -> None:
        self._lexicons = lexicons

    def lexicon(self, language: str) -> Lexicon:
        """Give the words of a language."""
        return self._lexicons.get(language, self._lexicons[SPANISH])

    def figures_in(self, text: str, language: str) -> list[Found]:
        """Give every figure of a text, in its order. The time is about linear in the length of the text."""
        page, lexicon = Page(text), self.lexicon(language)
        addresses(page, lexicon)
        for rule in RULES if _DIGITS.search(page.rest) else ():
            rule(page, lexicon)
        if language == "zh":
            read_chinese_dates(page)
        Scan(page, lexicon).read()
        for match in list(_DIGITS.finditer(page.rest)):
            page.add(*match.span(), [Figure(FigureKind.COUNT, match[0])])
        return sorted(page.found, key=lambda found: found.start)
