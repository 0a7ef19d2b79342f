"""Messages that are commands, in people's own words: greeting, help, menu, thanks, goodbye, a person."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from clara.answering.dialogue.phrasebook import Kind, Phrasebook, cut
from clara.answering.texts import LANGUAGES, Texts
from clara.retrieval.vocabulary import Lexicon, lexicon, words

# Where a message holds several commands the first of these is meant: "hola, gracias, quiero hablar con una persona".
_IMPORTANCE: Final = ("human", "menu", "help", "goodbye", "thanks", "greeting")
# Before a question these are said out of courtesy.
_COURTESIES: Final = frozenset({"greeting", "thanks"})
# "hola buenas tardes señorita clara cómo está usted" has eight; what is longer than this is no bare command.
MOST_WORDS: Final = 14
# Two letters changed make other words of short ones ("hola", "bola"); from here on one wrong letter is a typing error.
TYPO_FROM: Final = 5
# "quiero hablar con alguien" may stand beside what about; "agente" alone may not.
LEADING_WORDS: Final = 3
# A phrase of so many languages tells none.
INTERNATIONAL: Final = 3
# "me puedes enseñar la lista de temas": a longer message asks something.
MENU_WORDS: Final = 7
# Short words differ by a double letter ("me", "mme"), so that only a letter written three times counts there.
SHORT: Final = 3
_RUNS: Final = re.compile(r"([^\W\d_])\1+")
_LONG_RUNS: Final = re.compile(r"([^\W\d_])\1{2,}")
_BEFORE_REST: Final = " ,.;:!-–—)"


def squeezed(word: str) -> str:
    """Write repeated letters once: "hellooo" and "hello" become "helo"."""
    short = _LONG_RUNS.sub(r"\1", word)
    return short if len(short) <= SHORT else _RUNS.sub(r"\1", short)


class Commands:
    """Recognises a command in any served language, whatever courtesies, emoji and misspellings come with it."""

    def __init__(self, texts: Texts, books: Mapping[str, Phrasebook] | None = None, known: Iterable[str] = ()) -> None:
        """`books` are what may stand around a command; `known` are words that are never misspelt commands."""
        self._by_language: Mapping[str, Lexicon] = {
            language: lexicon((_key(phrase), (command,)) for command, phrases in spoken.commands.items() for phrase in phrases)
            for language, spoken in texts.by_language.items()
        }
        given = dict(books or {})
        self._around = lexicon((" ".join(map(squeezed, key)), ()) for book in given.values() for key in book.addressing.entries)
        self._light = frozenset(
            squeezed(word)
            for book in given.values()
            for key, kinds in book.following.entries.items()
            for word in key
            if Kind.LIGHT in kinds
        )
        spelt = {word for entries in self._by_language.values() for key in entries.entries for word in key}
        real = {squeezed(word) for spoken in texts.by_language.values() for entry in spoken.words for word in words(entry)}
        real |= {squeezed(word) for book in given.values() for key in book.following.entries for word in key}
        self._spelt = frozenset(spelt)
        self._real = frozenset(real | {squeezed(word) for entry in known for word in words(entry)})

    def recognise(self, text: str, preferred: str) -> tuple[str, str] | None:
        """Give (command, language) when the whole message is a command; the preferred language wins where several share it."""
        said = [squeezed(word) for word in words(text)]
        if not 0 < len(said) <= MOST_WORDS:
            return None
        found = self._whole(said, preferred) or self._whole([self._mended(word) for word in said], preferred)
        if found:
            return min(found, key=lambda command: _IMPORTANCE.index(command[0]))
        plain = [word for word in said if word not in self._light]
        return self._menu(plain, preferred) if plain and len(said) <= MENU_WORDS else None

    def leading(self, text: str, preferred: str) -> tuple[str, str, str] | None:
        """Give ("human", language, what about) when a message asks for a person and says for which matter."""
        written = cut(text)
        said = [squeezed(word.text) for word in written]
        if not 0 < len(said) <= MOST_WORDS:
            return None
        for language in _first(preferred):
            entries = self._by_language[language]
            for start, end in entries.spans(said):
                if end - start >= LEADING_WORDS and "human" in entries.entries[tuple(said[start:end])]:
                    return "human", language, f"{text[: written[start].start]} {text[written[end - 1].end :]}".strip()
        return None

    def uncourteous(self, text: str, preferred: str) -> str:
        """Take greetings, thanks and forms of address off the front of a message; a message of nothing else stays whole."""
        written = cut(text)
        said = [squeezed(word.text) for word in written]
        start, greeted = 0, False
        while start < len(said):
            end, courteous = self._courtesy(said, start, preferred, greeted=greeted)
            if end is None:
                break
            start, greeted = end, greeted or courteous
        return text[written[start - 1].end :].lstrip(_BEFORE_REST) if greeted and start < len(said) else text

    def _courtesy(self, said: Sequence[str], start: int, preferred: str, *, greeted: bool) -> tuple[int | None, bool]:
        """Give where the courtesy at `start` ends, and whether it is one by itself; forms of address only follow one."""
        for language in _first(preferred):
            entries = self._by_language[language]
            end = _longest(entries, said, start)
            if end is not None and _COURTESIES & set(entries.entries[tuple(said[start:end])]):
                return end, True
        return (_longest(self._around, said, start) if greeted else None), False

    def _whole(self, said: Sequence[str], preferred: str) -> list[tuple[str, str]]:
        """Give every command of a message that consists of commands and what may stand around them; else none."""
        found: list[tuple[str, str]] = []
        start = 0
        while start < len(said):
            ends: dict[int, tuple[str, str]] = {}
            for language in _first(preferred):
                entries = self._by_language[language]
                end = _longest(entries, said, start)
                if end is not None:
                    ends.setdefault(end, (entries.entries[tuple(said[start:end])][0], language))
            around = _longest(self._around, said, start) or 0
            best = max(ends, default=0)
            if not best and not around:
                return []
            if best and best >= around:
                found.append(self._spoken(ends[best], said[start:best], preferred))
            start = max(best, around)
        return found

    def _menu(self, plain: Sequence[str], preferred: str) -> tuple[str, str] | None:
        """Take "enséñame los temas" for the menu: of all commands its words alone are said with articles and verbs."""
        return next((command for command in self._whole(plain, preferred) if command[0] == "menu"), None)

    def _spoken(self, command: tuple[str, str], phrase: Sequence[str], preferred: str) -> tuple[str, str]:
        """Answer a word that half the world shares ("menu", "ok") in the language of the conversation."""
        sharing = [language for language, entries in self._by_language.items() if tuple(phrase) in entries.entries]
        return (command[0], preferred) if len(sharing) >= INTERNATIONAL else command

    def _mended(self, word: str) -> str:
        """Give the word of a command that a misspelt word must be; words that exist are never misspelt."""
        if len(word) < TYPO_FROM or word in self._spelt or word in self._real:
            return word
        return next((spelt for spelt in sorted(self._spelt) if len(spelt) >= TYPO_FROM and _near(word, spelt)), word)


def _key(phrase: str) -> str:
    return " ".join(squeezed(word) for word in words(phrase))


def _first(preferred: str) -> Iterable[str]:
    return dict.fromkeys((preferred, *LANGUAGES))


def _longest(entries: Lexicon, said: Sequence[str], start: int) -> int | None:
    """Give the end of the longest phrase that begins at `start`."""
    ends = range(min(start + entries.longest, len(said)), start, -1)
    return next((end for end in ends if tuple(said[start:end]) in entries.entries), None)


def _near(word: str, other: str) -> bool:
    """Whether two words are one letter apart: wrong, missing, added, or two of them exchanged."""
    if abs(len(word) - len(other)) > 1:
        return False
    same = 0
    while same < min(len(word), len(other)) and word[same] == other[same]:
        same += 1
    rest, others = word[same:], other[same:]
    if rest[1:] == others[1:] or rest[1:] == others or rest == others[1:]:
        return True
    return rest[:2] == others[1::-1] and rest[2:] == others[2:]
