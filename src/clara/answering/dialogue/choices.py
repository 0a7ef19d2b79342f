"""Choosing by number, by word or by name what the last reply offered: "2", "la segunda", "第二个", "٢", "👍"."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final, TypeAlias

from clara.answering.dialogue.follow_ups import recent
from clara.answering.dialogue.phrasebook import Phrasebook, joined
from clara.answering.message import Past, ReplyStatus
from clara.knowledge.keyword_tier import NamedProcedures
from clara.language.figures.lexicon import chinese
from clara.language.tokens import length, words

# "quiero la opción número 2 por favor" has six words; a longer message says more than a number.
LONGEST: Final = 7
# A message that only names an option: "el ingreso mínimo vital", "la de desempleo por favor".
LONGEST_NAME: Final = 6
_ORDINAL: Final = re.compile(r"^(\d{1,2})(?:o|a|er|ero|era|e|eme|ere|st|nd|rd|th|n|r|t|й|я|ая|е|ий|ый|а|га|ша)?$")
# Ideographs that are numbers; they join to tens ("二十三").
_IDEOGRAPHS: Final = "一二三四五六七八九十"
# More digits than this are no place in any list.
DIGITS: Final = 4
_THUMBS_UP: Final = "👍"
# What an option is called in a language, "" for what is in no list.
Called: TypeAlias = Callable[[str, str], str]


@dataclass(frozen=True, slots=True)
class Choice:
    """What was chosen of the options that a turn offered: one of them, None when the number is none of the list's."""

    option: str | None
    offered: Past


class Choosing:
    """Understands a message as a choice among the options of the newest turn that has any."""

    def __init__(self, books: Mapping[str, Phrasebook], named: NamedProcedures, called: Called) -> None:
        self._books = books
        self._called = called
        self._named = named

    def choose(self, question: str, past: Sequence[Past], language: str) -> Choice | None:
        """Give the choice, or None when the message is none or nothing was offered lately."""
        offered = next((earlier for earlier in recent(past) if earlier.options), None)
        if offered is None:
            return None
        options = offered.options
        if (place := self.number(question, language)) is not None:
            listed = dict(enumerate(options, 1)) | {-1: options[-1]}
            return Choice(listed.get(place), offered)
        if offered is not recent(past)[0]:
            return None  # in words one chooses what was offered just now
        asked = offered.status is not ReplyStatus.ANSWERED  # what stands below an answer asks nothing that "ok" agrees to
        if asked and len(options) == 1 and self.agrees(question, language):
            return Choice(options[0], offered)
        named = [name for name in self._named.find(question) if name in options]
        if len(named) == 1 and length(question) <= LONGEST_NAME:
            return Choice(named[0], offered)
        # "vivienda", "la de vivienda": words that stand in the title of one option alone
        said = set(words(question)) - self._books[language].choosing
        titled = [option for option in options if said and said <= set(words(self._called(option, language)))]
        return Choice(titled[0], offered) if len(titled) == 1 else None

    def number(self, text: str, language: str) -> int | None:
        """Give the place that a message says, from 1, or -1 for the last; None when it says anything else."""
        said = words(joined(text))
        if not 0 < len(said) <= LONGEST:
            return None
        others = [book for name, book in self._books.items() if name != language]
        found = (_number(said, book) for book in (self._books[language], *others))
        return next((place for place in found if place is not None), None)

    def agrees(self, text: str, language: str) -> bool:
        """Whether a message takes the only option there is."""
        said = tuple(words(text))
        if not said:
            return _THUMBS_UP in text
        return any(said in book.agreement for book in (self._books[language], *self._books.values()))


def _number(said: Sequence[str], book: Phrasebook) -> int | None:
    """Give the only number of a message that says nothing else; a word like "one" counts where no other number stands."""
    places: set[int] = set()
    weak: set[int] = set()
    # Ideographs that make one number belong together.
    runs = [(numeral, list(run)) for numeral, run in groupby(said, _IDEOGRAPHS.__contains__)]
    for word in (word for numeral, run in runs for word in (["".join(run)] if numeral else run)):
        place = _place(word, book)
        if place is None and word not in book.choosing:
            return None
        if place is not None:
            (weak if word in book.choosing else places).add(place)
    told = places or weak
    return told.pop() if len(told) == 1 else None


def _place(word: str, book: Phrasebook) -> int | None:
    if word.isdecimal():
        return int(word[:DIGITS])
    if match := _ORDINAL.match(word):
        return int(match[1])
    if all(character in _IDEOGRAPHS for character in word):
        return int(chinese(word))
    return book.numbers.get(word)
