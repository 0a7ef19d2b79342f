"""Messages that are commands, in people's own words: greeting, help, menu, thanks, goodbye, a person, another language."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from clara.answering.dialogue.phrasebook import Phrasebook, PhraseKind
from clara.answering.texts import Texts
from clara.language.phrases import Phrases, outside
from clara.language.spelling import Speller, squeezed
from clara.language.tokens import located, texts_of, words

# Where a message holds several commands the first of these is meant: "hola, gracias, quiero hablar con una persona".
_IMPORTANCE: Final = ("human", "menu", "help", "language", "goodbye", "thanks", "greeting")
LANGUAGE: Final = "language"
# Words with which somebody may say why she asks for a language: "respóndeme en rumano, es para mi suegra".
REASONS: Final = 3
# Before a question these are said out of courtesy.
_COURTESIES: Final = frozenset({"greeting", "thanks"})
# "hola buenas tardes señorita clara cómo está usted" has eight; what is longer than this is no bare command.
MOST_WORDS: Final = 14
# "quiero hablar con alguien" may stand beside what about; "agente" alone may not.
LEADING_WORDS: Final = 3
# A phrase of so many languages tells none.
INTERNATIONAL: Final = 3
# "me puedes enseñar la lista de temas": a longer message asks something.
MENU_WORDS: Final = 7
_BEFORE_REST: Final = " ,.;:!-–—)"


class Commands:
    """Recognises a command in any served language, whatever courtesies, emoji and misspellings come with it."""

    def __init__(self, texts: Texts, books: Mapping[str, Phrasebook] | None = None, known: Iterable[str] = ()) -> None:
        """`books` are what may stand around a command; `known` are words that are never misspelt commands."""
        self._by_language = {
            language: Phrases(
                (
                    *((phrase, name) for name, said in spoken.commands.items() for phrase in said),
                    *((phrase, LANGUAGE) for phrase in (*spoken.called, *spoken.requested)),
                ),
                _squeezed,
            )
            for language, spoken in texts.by_language.items()
        }
        asked = [(phrase, code) for code, spoken in texts.by_language.items() for phrase in spoken.requested]
        called = [(phrase, code) for code, spoken in texts.by_language.items() for phrase in spoken.called]
        self._languages, self._called = Phrases([*asked, *called], _squeezed), Phrases(called, _squeezed)
        self._speaking = frozenset(squeezed(word) for book in (books or {}).values() for word in book.speaking)
        given = dict(books or {})
        addressing = (key for book in given.values() for key in book.addressing.entries)
        self._around = Phrases((" ".join(map(squeezed, key)), True) for key in addressing)
        self._light = frozenset(
            squeezed(word)
            for book in given.values()
            for key, kinds in book.following.entries.items()
            for word in key
            if PhraseKind.LIGHT in kinds
        )
        spelt = {word for entries in self._by_language.values() for key in entries.entries for word in key}
        real = {word for spoken in texts.by_language.values() for entry in spoken.words for word in _squeezed(entry)}
        real |= {squeezed(word) for book in given.values() for key in book.following.entries for word in key}
        real |= {word for entry in known for word in _squeezed(entry)}
        self._speller = Speller(spelt, real)

    def recognise(self, text: str, preferred: str) -> tuple[str, str] | None:
        """Give (command, language) when the whole message is a command; the preferred language wins where several share it."""
        said = _squeezed(text)
        if not 0 < len(said) <= MOST_WORDS:
            return None
        found = self._whole(said, preferred) or self._whole([self._speller.mended(word) for word in said], preferred)
        if found:
            return min(found, key=lambda command: _IMPORTANCE.index(command[0]))
        plain = [word for word in said if word not in self._light]
        # "enséñame los temas" is the menu: of all commands its words alone are said with articles and verbs.
        if plain and len(said) <= MENU_WORDS and (menu := [one for one in self._whole(plain, preferred) if one[0] == "menu"]):
            return menu[0]
        language = self._language(said)
        return (LANGUAGE, language) if language else None

    def _language(self, said: Sequence[str]) -> str | None:
        """Give the language in which somebody asks to be answered who says little else; None for anybody else.

        Of several the last that is asked for is meant ("no entiendo español, ¿en francés?"), or the last named. Who names one
        as a thing asks nothing.
        """
        found = self._languages.found(said)
        rest = outside(said, [(start, end) for start, end, _ in found])
        rest = outside(rest, self._around.spans(rest))
        asked = [codes[0] for start, end, codes in found if said[start:end] not in self._called]
        strange = [word for word in rest if word not in self._light and word not in self._speaking]
        speaks = any(word in self._speaking and word not in self._light for word in rest)
        if len(strange) > (REASONS if asked and speaks else 0):
            return None
        return asked[-1] if asked else found[-1][2][0] if len(found) > 1 else None

    def leading(self, text: str, preferred: str) -> tuple[str, str, str] | None:
        """Give ("human", language, what about) when a message asks for a person and says for which matter."""
        written = located(text)
        said = [squeezed(word) for word in texts_of(written)]
        if not 0 < len(said) <= MOST_WORDS:
            return None
        for language in self._first(preferred):
            for start, end, commands in self._by_language[language].found(said):
                if end - start >= LEADING_WORDS and "human" in commands:
                    return "human", language, f"{text[: written[start].start]} {text[written[end - 1].end :]}".strip()
        return None

    def uncourteous(self, text: str, preferred: str) -> str:
        """Take greetings, thanks and forms of address off the front of a message; a message of nothing else stays whole."""
        written = located(text)
        said = [squeezed(word) for word in texts_of(written)]
        start, greeted = 0, False
        while start < len(said):
            end, courteous = self._courtesy(said, start, preferred, greeted=greeted)
            if end is None:
                break
            start, greeted = end, greeted or courteous
        return text[written[start - 1].end :].lstrip(_BEFORE_REST) if greeted and start < len(said) else text

    def _courtesy(self, said: Sequence[str], start: int, preferred: str, *, greeted: bool) -> tuple[int | None, bool]:
        """Give where the courtesy at `start` ends, and whether it is one by itself; forms of address only follow one."""
        for language in self._first(preferred):
            spoken = self._by_language[language].at(said, start)
            if spoken is not None and _COURTESIES & set(spoken[1]):
                return spoken[0], True
        around = self._around.at(said, start) if greeted else None
        return (None if around is None else around[0]), False

    def _whole(self, said: Sequence[str], preferred: str) -> list[tuple[str, str]]:
        """Give every command of a message that consists of commands and what may stand around them; else none."""
        found: list[tuple[str, str]] = []
        start = 0
        while start < len(said):
            ends: dict[int, tuple[str, str]] = {}
            for language in self._first(preferred):
                if (spoken := self._by_language[language].one_at(said, start)) is not None:
                    ends.setdefault(spoken[1], (spoken[0], language))
            around = (self._around.at(said, start) or (0,))[0]
            best = max(ends, default=0)
            if not best and not around:
                return []
            if best and best >= around:
                found.append(self._spoken(ends[best], said[start:best], preferred))
            start = max(best, around)
        return found

    def _first(self, preferred: str) -> Iterable[str]:
        return dict.fromkeys((preferred, *self._by_language))

    def _spoken(self, command: tuple[str, str], phrase: Sequence[str], preferred: str) -> tuple[str, str]:
        """Answer a word that half the world shares ("menu", "ok") in the language of the conversation."""
        sharing = [language for language, entries in self._by_language.items() if phrase in entries]
        return (command[0], preferred) if len(sharing) >= INTERNATIONAL else command


def _squeezed(text: str) -> list[str]:
    return [squeezed(word) for word in words(text)]
