"""Choosing by number, by word or by name what the last reply offered: "2", "la segunda", "第二个", "٢", "👍", "ninguna"."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final, TypeAlias

from clara.answering.dialogue.follow_ups import recent
from clara.answering.dialogue.phrasebook import Phrasebook, PhraseKind, joined
from clara.answering.message import Past, ReplyStatus
from clara.knowledge.keyword_tier import NamedProcedures
from clara.language.figures.lexicon import chinese
from clara.language.phrases import Phrases, outside
from clara.language.spelling import Speller
from clara.language.tokens import length, words

# A longer message says more than what it chooses. Of 145 replies that choose or decline, written blind, 2 have more words than
# this, and 28 more than 7.
LONGEST: Final = 12
# Words of their own that may stand beside two or more that decline: "wtf no, none of these".
STRANGE: Final = 2
# A message that only names an option: "el ingreso mínimo vital", "la de desempleo por favor".
LONGEST_NAME: Final = 6
_ORDINAL: Final = re.compile(r"^(\d{1,2})(?:o|a|er|ero|era|e|eme|ere|st|nd|rd|th|n|r|t|й|я|ая|е|ий|ый|а|га|ша)?$")
# Ideographs that are numbers; they join to tens ("二十三").
_IDEOGRAPHS: Final = "一二三四五六七八九十"
# More digits than this are no place in any list.
DIGITS: Final = 4
# A number up to here may be meant for a list; longer ones are years, telephones, amounts.
LARGEST_PLACE: Final = 99
_THUMBS_UP: Final = "👍"
# What an option is called in a language, "" for what is in no list.
Called: TypeAlias = Callable[[str, str], str]


@dataclass(frozen=True, slots=True)
class Choice:
    """What was chosen of the options that a turn offered, in the order said: nothing when the number is none of the list's.

    `declined` says that none of them is meant.
    """

    chosen: tuple[str, ...]
    offered: Past
    declined: bool = False


class Choosing:
    """Understands a message as a choice among the options of the newest turn that has any."""

    def __init__(
        self, books: Mapping[str, Phrasebook], named: NamedProcedures, called: Called, courtesies: Phrases[bool] | None = None
    ) -> None:
        """`courtesies` are said besides: greetings, thanks, forms of address."""
        self._books = books
        self._called = called
        self._named = named
        self._courtesies = courtesies or Phrases([])
        spoken = books.values()
        wanted = {word for book in spoken for phrases in (book.declines, book.every) for key in phrases.entries for word in key}
        known = {word for book in spoken for key in book.following.entries for word in key}
        self._speller = Speller(wanted | {word for book in spoken for word in book.numbers}, known)

    def choose(self, question: str, past: Sequence[Past], language: str) -> Choice | None:
        """Give the choice, or None when the message is none or nothing was offered lately."""
        offered = next((earlier for earlier in recent(past) if earlier.options), None)
        if offered is None:
            return None
        options = offered.options
        newest = offered is recent(past)[0]  # in words one chooses what was offered just now
        asked = offered.status is not ReplyStatus.ANSWERED  # what stands below an answer asks nothing that "ok" agrees to
        if newest and asked and len(options) == 1 and self.agrees(question, language):
            return Choice(options, offered)
        whole, said = words(joined(question)), self._plain(question)
        mended = [self._speller.mended(word) for word in said]
        for one in [whole, said, mended] if 0 < len(said) <= LONGEST else []:
            for book in self._by_language(language):
                if (choice := _said(one, book, offered, newest=newest)) is not None:
                    return choice
        return self._by_name(question, said, offered, language) if newest else None

    def unlisted(self, question: str, past: Sequence[Past], language: str) -> bool:
        """Whether a message is nothing but the number of a list, and no list was given lately."""
        if any(earlier.options for earlier in recent(past)):
            return False
        return all(0 <= place <= LARGEST_PLACE for place in self.places(question, language) or (-1,))

    def places(self, text: str, language: str) -> tuple[int, ...]:
        """Give the places that a message says, from 1, or -1 for the last; none when it says anything else."""
        said = self._plain(text)
        if not 0 < len(said) <= LONGEST:
            return ()
        return next(filter(None, (_places(said, book) for book in self._by_language(language))), ())

    def agrees(self, text: str, language: str) -> bool:
        """Whether a message takes the only option there is."""
        said = tuple(words(text))
        if not said:
            return _THUMBS_UP in text
        return any(said in book.agreement for book in self._by_language(language))

    def _by_name(self, question: str, said: Sequence[str], offered: Past, language: str) -> Choice | None:
        """Take options by their names, where the message says little else; or one by words that stand in its title alone."""
        options = offered.options
        spans = [span for span in self._named.spans(said) if span[2] in options]
        named = tuple(dict.fromkeys(name for _, _, name in spans))
        if len(named) == 1 and length(question) <= LONGEST_NAME:
            return Choice(named, offered)
        if named and any(_beside(said, [span[:2] for span in spans], book) == 0 for book in self._by_language(language)):
            return Choice(named, offered)
        # "vivienda", "la de vivienda": a title, or words that stand in the title of one option alone
        titles = {option: words(self._called(option, language)) for option in options}
        rest = set(said) - self._books[language].choosing
        titled = [option for option, title in titles.items() if title == words(question)]
        titled = titled or [option for option, title in titles.items() if rest and rest <= set(title)]
        return Choice(tuple(titled), offered) if len(titled) == 1 else None

    def _plain(self, text: str) -> list[str]:
        """Give the words of a message without what is only polite; of one that is nothing else, all of them."""
        said = words(joined(text))
        return outside(said, self._courtesies.spans(said)) or said

    def _by_language(self, language: str) -> list[Phrasebook]:
        """Give the phrasebooks, that of a language first: people choose in any."""
        return [self._books[language], *(book for name, book in self._books.items() if name != language)]


def _said(said: Sequence[str], book: Phrasebook, offered: Past, *, newest: bool) -> Choice | None:
    """Read words of one language as a choice by numbers, of all, or of nothing; None when they say anything else."""
    options = offered.options
    if newest and (choice := _all_or_none(said, book, offered)) is not None:
        return choice
    places = _places(said, book) or (_places_in_words(said, book) if newest else ())
    if not places:
        return None
    listed = dict(enumerate(options, 1)) | {-1: options[-1]}
    known = all(place in listed for place in places)
    return Choice(tuple(dict.fromkeys(map(listed.__getitem__, places))) if known else (), offered)


def _all_or_none(said: Sequence[str], book: Phrasebook, offered: Past) -> Choice | None:
    spans = book.declines.spans(said)
    if spans:
        phrase = max(end - start for start, end in spans)
        if _beside(said, spans, book) <= (STRANGE if phrase > 1 else 0):
            return Choice((), offered, declined=True)
    spans = book.every.spans(said)
    rest = outside(said, spans)
    if not spans or _beside(said, spans, book) or any(_place(word, book) is not None for word in rest):
        return None
    counted = {_place(word, book) for start, end in spans for word in said[start:end]} - {None, 1}  # "cada uno"
    return Choice(offered.options if counted <= {len(offered.options)} else (), offered)


def _beside(said: Sequence[str], spans: Sequence[tuple[int, int]], book: Phrasebook) -> int:
    """Count the words beside these spans that say something of their own; what is asked says so in every word."""
    rest = outside(said, spans)
    asks = any(PhraseKind.ASK in kinds and PhraseKind.LIGHT not in kinds for _, _, kinds in book.following.found(rest))
    own = [word for word in rest if word not in book.small and word not in book.choosing and word not in book.numbers]
    return len(rest) if asks else len(own)


def _places(said: Sequence[str], book: Phrasebook) -> tuple[int, ...]:
    """Give the numbers of a message that says nothing else; a word like "one" counts where no other number stands."""
    places: dict[int, None] = {}
    weak: dict[int, None] = {}
    for word in _joined_numerals(said):
        place = _place(word, book)
        if place is None and word not in book.choosing:
            return ()
        if place is not None:
            (weak if word in book.choosing else places)[place] = None
    return tuple(places or weak)


def _places_in_words(said: Sequence[str], book: Phrasebook) -> tuple[int, ...]:
    """Give the numbers among small words ("creo que sería el primero"), unless one of them is counted ("2 años")."""
    pieces = _joined_numerals(said)
    places: dict[int, None] = {}
    for word, following in zip(pieces, [*pieces[1:], ""], strict=True):
        place = _place(word, book) if word not in book.choosing else None
        if place is None and word not in book.small and word not in book.choosing:
            return ()
        if place is not None and following in book.small and following not in book.choosing:
            return ()
        if place is not None:
            places[place] = None
    return tuple(places)


def _joined_numerals(said: Sequence[str]) -> list[str]:
    """Give the words, ideographs that make one number joined."""
    runs = [(numeral, list(run)) for numeral, run in groupby(said, _IDEOGRAPHS.__contains__)]
    return [word for numeral, run in runs for word in (["".join(run)] if numeral else run)]


def _place(word: str, book: Phrasebook) -> int | None:
    if word.isdecimal():
        return int(word[:DIGITS])
    if match := _ORDINAL.match(word):
        return int(match[1])
    if all(character in _IDEOGRAPHS for character in word):
        return int(chinese(word))
    return book.numbers.get(word)
