"""Deciding the language of a message: script first, then telling words, then a statistical guess; sticky when in doubt."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from clara.conversation.ports import LanguageIdentifier
from clara.conversation.texts import LANGUAGES
from clara.retrieval.vocabulary import words

DEFAULT: Final = "es"
# With so few words a statistical guess is noise ("si" looks Romanian, "ok" and "da" look like anything).
FEW_WORDS: Final = 2
# Up to so many words may be a name and nothing else ("regularización extraordinaria 2026"), said in any language.
SHORT: Final = 4
# So large a part of the letters in another script tells the language, whatever Latin names stand between them.
TELLING_SHARE: Final = 0.2
# Links and initials are the same in every language.
_ALIKE: Final = re.compile(r"https?://\S+|\S+@\S+|\b[A-ZÑÇ]{2,6}(?:-\d+)?\b|\b\d\S*")
# Unicode blocks of the scripts that decide.
_BLOCKS: Final = (
    ("\u0400", "\u052f", "cyrillic"),
    ("\u0600", "\u08ff", "ar"),
    ("\ufb50", "\ufefc", "ar"),
    ("\u3400", "\u9fff", "zh"),
    ("\uf900", "\ufaff", "zh"),
)
_UKRAINIAN: Final = frozenset("іїєґ")
_RUSSIAN: Final = frozenset("ыэъё")


class LanguageDetector:
    """Names the served language of a message."""

    def __init__(
        self,
        telling: Mapping[str, Sequence[str]],
        identifier: LanguageIdentifier,
        neutral: Iterable[str] = (),
        phrases: Mapping[str, Iterable[str]] | None = None,
    ) -> None:
        """`neutral` are texts whose words tell nothing, such as names that everybody says in Spanish.

        `phrases` are what people say in short messages, by language: there a word that only one language has tells it.
        """
        self._telling = {
            language: {word for entry in entries for word in words(entry)} for language, entries in telling.items()
        }
        self._identifier = identifier
        self._neutral = frozenset(word for text in neutral for word in words(text))
        self._short = _only_in_one(phrases or {})

    def detect(self, text: str, previous: str | None = None) -> str:
        """Give a served language. Falls back to the conversation's previous language, then to Spanish."""
        script = _by_script(text)
        if script in LANGUAGES:
            return script
        candidates = (
            ("uk", "ru") if script == "cyrillic" else tuple(language for language in LANGUAGES if language not in {"uk", "ru"})
        )
        told = self._by_words(text, candidates, self._telling)
        if told:
            return told
        saying = words(_ALIKE.sub(" ", text))
        if len(saying) <= SHORT:
            saying = [word for word in saying if word not in self._neutral]
        if script == "none" or (previous and len(saying) <= FEW_WORDS):
            return self._by_words(" ".join(saying), candidates, self._short) or previous or DEFAULT
        guess = self._identifier.identify(text)
        if guess in candidates and (len(words(text)) > FEW_WORDS or script == "cyrillic"):
            return guess
        return previous or ("ru" if script == "cyrillic" else DEFAULT)

    def _by_words(self, text: str, candidates: Sequence[str], telling: Mapping[str, Collection[str]]) -> str | None:
        votes: Counter[str] = Counter()
        for word in words(text):
            votes.update(language for language in candidates if word in telling.get(language, ()))
        ranked = votes.most_common(2)
        if not ranked or (len(ranked) > 1 and ranked[0][1] == ranked[1][1]):
            return None
        return ranked[0][0]


def _only_in_one(phrases: Mapping[str, Iterable[str]]) -> dict[str, set[str]]:
    """Keep of each language the words that no other one has."""
    by_language = {language: {word for text in texts for word in words(text)} for language, texts in phrases.items()}
    shared = Counter(word for said in by_language.values() for word in said)
    return {language: {word for word in said if shared[word] == 1} for language, said in by_language.items()}


def _by_script(text: str) -> str:
    """Give "ar", "zh", "uk" or "ru" where the script decides, else "cyrillic", "latin" or "none"."""
    scripts = Counter(_script_of(character) for character in text.casefold())
    del scripts[""]
    if not scripts:
        return "none"
    # Spanish names stay in Latin letters inside other scripts ("какие льготы даёт certificado de discapacidad").
    foreign = [
        script for script, count in scripts.most_common() if script != "latin" and count >= TELLING_SHARE * scripts.total()
    ]
    main = foreign[0] if foreign else "latin"
    if main == "cyrillic":
        letters = set(text.casefold())
        if letters & _UKRAINIAN:
            return "uk"
        if letters & _RUSSIAN:
            return "ru"
    return main


def _script_of(character: str) -> str:
    if not character.isalpha():
        return ""
    return next((script for first, last, script in _BLOCKS if first <= character <= last), "latin")
