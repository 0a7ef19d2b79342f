"""Deciding the language of a message: script first, then a trained model; sticky when in doubt.

The model (data/detection/model.npz, made by clara_lab.training.language) knows the served languages, Arabic in Latin letters
among them, and others that people write. Each of these is answered in a served language that its speakers may read.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Final

from clara.language.fold import caseless
from clara.language.tokens import words

# The probability (0..1) of each language for what a message says.
Guess = Callable[[str], Mapping[str, float]]

DEFAULT: Final = "es"
# With so few words the language of the conversation says more than a guess ("si" looks Romanian, "da" like anything).
FEW_WORDS: Final = 2
# Up to so many words may be a name and nothing else ("regularización extraordinaria 2026"), said in any language.
SHORT: Final = 4
# Where a guess is not likelier than all others together, the conversation's language or Spanish is as good.
LIKELY: Final = 0.5
# The same for few words: of 244 such messages as many were right as with .5, and "ok" and "da" are nobody's.
SURE: Final = 0.7
# The same for a few words of a language of which nobody has shown yet how people write it.
LATE: Final = 0.9
# So many characters tell a language; the model takes 1 ms for 300 of them.
READ: Final = 600
# So large a part of the letters in another script tells the language, whatever Latin names stand between them.
TELLING_SHARE: Final = 0.2
# Links, addresses, numbers and codes have no language; a digit inside a word may be a letter ("3ndi", "ch7al").
_LINKS: Final = r"https?://\S+|(?<![A-Za-z0-9._+-])[A-Za-z0-9._+-]+@[A-Za-z0-9.-]+"
_NO_WORDS: Final = re.compile(rf"{_LINKS}|\b\d+(?:[.,/:-]\d+)*\b|\b[A-Za-z]{{0,3}}\d{{3,}}\w*|\b(?=\w*\d)[A-Z\d]{{4,}}\b")
# Links and initials are the same in every language.
_ALIKE: Final = re.compile(rf"{_LINKS}|\b[A-ZÑÇ]{{2,6}}(?:-\d+)?\b|\b\d\S*")
# Unicode blocks of the scripts that decide, and of Latin letters. No language of any other letter is served.
_BLOCKS: Final = (
    ("a", "\u02ff", "latin"),
    ("\u1e00", "\u1eff", "latin"),
    ("\u0400", "\u052f", "cyrillic"),
    ("\u0600", "\u08ff", "ar"),
    ("\ufb50", "\ufefc", "ar"),
    ("\u3400", "\u9fff", "zh"),
    ("\uf900", "\ufaff", "zh"),
)
# What stands in another script inside a text in Latin letters: a word that is asked about.
_OTHERS: Final = "".join(f"{first}-{last}" for first, last, script in _BLOCKS if script != "latin")
_OTHER_SCRIPTS: Final = re.compile(f"[{_OTHERS}]+")
_UKRAINIAN: Final = frozenset("іїєґ")
_RUSSIAN: Final = frozenset("ыэъё")


class LanguageDetector:
    """Names the served language of a message."""

    def __init__(
        self,
        scripts: Mapping[str, str],
        guess: Guess,
        answered_in: Mapping[str, str],
        neutral: Iterable[str] = (),
        phrases: Mapping[str, Iterable[str]] | None = None,
        late: Collection[str] = (),
    ) -> None:
        """`scripts` name the script of each served language, as packs do, in the order in which languages are tried.

        `guess` may name languages that are not served; `answered_in` names the served one for each of them.

        `neutral` are texts whose words tell nothing, such as names that everybody says in Spanish. `phrases` are what people
        say in short messages, by language: there a word that only one language has tells it. Words of `late` ones that another
        has are the other's.
        """
        self.scripts = scripts
        self._guess = guess
        self._cyrillic = tuple(language for language, script in scripts.items() if script == "cyrillic")
        self._others = tuple(language for language in scripts if language not in self._cyrillic)
        self._answered_in = answered_in
        self._late = frozenset(late)
        self._neutral = frozenset(word for text in neutral for word in words(text))
        self._short = _only_in_one(phrases or {}, late)
        self._whole = _said_in_one(phrases or {})

    def detect(self, text: str, previous: str | None = None) -> str:
        """Give a served language. Falls back to the conversation's previous language, then to Spanish."""
        script = by_script(_NO_WORDS.sub(" ", text))
        if script in self.scripts:
            return script
        candidates = self._cyrillic if script == "cyrillic" else self._others
        saying = words(_ALIKE.sub(" ", text))
        if len(saying) <= SHORT:
            saying = [word for word in saying if word not in self._neutral]
        fallback = previous or ("ru" if script == "cyrillic" else DEFAULT)
        if script not in {"latin", "cyrillic"} or (previous and len(saying) <= FEW_WORDS):
            return self._by_words(saying, candidates) or fallback
        # Of two languages the likelier one is better than always the same.
        least = LIKELY if len(words(text)) > FEW_WORDS or script == "cyrillic" else SURE
        own = _OTHER_SCRIPTS.sub(" ", text) if script == "latin" else text
        told = self._whole.get(tuple(saying)) if script == "cyrillic" else None  # "так" looks like two languages; one says it
        return told or self._guessed(own, candidates, previous, least) or self._by_words(saying, candidates) or fallback

    def transliterated(self, text: str, language: str) -> bool:
        """Whether a language with a script of its own is written in Latin letters: its speaker may not read that script.

        A few words may be names.
        """
        if self.scripts[language] == "latin" or by_script(text) != "latin":
            return False
        return len([word for word in words(_ALIKE.sub(" ", text)) if word not in self._neutral]) > FEW_WORDS

    def _guessed(self, text: str, candidates: Collection[str], previous: str | None, least: float) -> str | None:
        """Name the candidate in which most of what the text may be is answered, if that is more than `least` (0..1) of it.

        Who goes on in a language that is not served is answered as before.
        """
        guessed = self._guess(said_in(text)).items()
        shares = {name: share for name, share in guessed if self._answered_in.get(name, name) in candidates}
        if previous in candidates and shares and max(shares, key=shares.__getitem__) not in self.scripts:
            return previous
        answers: dict[str, float] = dict.fromkeys(candidates, 0.0)
        for name, share in shares.items():
            answers[self._answered_in.get(name, name)] += share
        best = max(answers, key=answers.__getitem__)
        if best in self._late and len(words(text)) <= SHORT:
            least = LATE  # "necesito cita" is said in two languages
        return best if answers[best] > least * sum(answers.values()) else None

    def _by_words(self, saying: Sequence[str], candidates: Collection[str]) -> str | None:
        votes: Counter[str] = Counter()
        for word in saying:
            votes.update(language for language in candidates if word in self._short.get(language, ()))
        ranked = votes.most_common(2)
        if not ranked or (len(ranked) > 1 and ranked[0][1] == ranked[1][1]):
            return None
        return ranked[0][0]


def said_in(text: str) -> str:
    """Give what of a message has a language, from its beginning."""
    return _NO_WORDS.sub(" ", text[: 2 * READ])[:READ]


def _only_in_one(phrases: Mapping[str, Iterable[str]], late: Collection[str]) -> dict[str, set[str]]:
    """Keep of each language the words that no other one has; those of a late one take none away from the others."""
    by_language = {language: {word for text in texts for word in words(text)} for language, texts in phrases.items()}
    early = {word for language, said in by_language.items() if language not in late for word in said}
    by_language |= {language: said - early for language, said in by_language.items() if language in late}
    shared = Counter(word for said in by_language.values() for word in said)
    return {language: {word for word in said if shared[word] == 1} for language, said in by_language.items()}


def _said_in_one(phrases: Mapping[str, Iterable[str]]) -> dict[tuple[str, ...], str]:
    """Give the language of each phrase that only one says, by its words."""
    said = {(tuple(words(text)), language) for language, texts in phrases.items() for text in texts}
    spoken = Counter(phrase for phrase, _ in said)
    return {phrase: language for phrase, language in said if spoken[phrase] == 1}


def by_script(text: str) -> str:
    """Tell the script: "ar", "zh", "uk" or "ru" where it decides, else "cyrillic", "latin", "other" or "none"."""
    plain = caseless(text)
    written = filter(str.isalpha, plain)
    scripts = Counter(
        next((script for first, last, script in _BLOCKS if first <= letter <= last), "other") for letter in written
    )
    if not scripts:
        return "none"
    # Spanish names stay in Latin letters inside other scripts ("какие льготы даёт certificado de discapacidad").
    foreign = [
        script for script, count in scripts.most_common() if script != "latin" and count >= TELLING_SHARE * scripts.total()
    ]
    main = foreign[0] if foreign else "latin"
    if main == "cyrillic":
        letters = set(plain)
        if letters & _UKRAINIAN:
            return "uk"
        if letters & _RUSSIAN:
            return "ru"
    return main
