"""The one corrector of spelling: letters repeated, wrong, missing, added or exchanged, words written as they sound."""

import re
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import OSA
from rapidfuzz.process import extract

from clara.data_files import DataError
from clara.language.packs import read_packs
from clara.language.tokens import Token, located, words

# Two letters changed make other words of short ones ("hola", "bola"); from here on one wrong letter is a typing error.
TYPO_FROM: Final = 5
# Short words differ by a double letter ("me", "mme"), so that only a letter written three times counts there.
SHORT: Final = 3
_RUNS: Final = re.compile(r"([^\W\d_])\1+")
_LONG_RUNS: Final = re.compile(r"([^\W\d_])\1{2,}")


def squeezed(word: str) -> str:
    """Write repeated letters once: "hellooo" and "hello" become "helo"."""
    short = _LONG_RUNS.sub(r"\1", word)
    return short if len(short) <= SHORT else _RUNS.sub(r"\1", short)


class Speller:
    """Gives the word that is meant: one of `wanted`, one typing error away. Words in `real` are never misspelt."""

    def __init__(self, wanted: Iterable[str], real: Iterable[str] = ()) -> None:
        given = frozenset(wanted)
        self._right = given | frozenset(real)
        self._wanted = sorted(word for word in given if len(word) >= TYPO_FROM)

    def mended(self, word: str) -> str:
        """Give the word meant, or the word itself."""
        if len(word) < TYPO_FROM or word in self._right:
            return word
        return next((meant for meant in self._wanted if OSA.distance(word, meant, score_cutoff=1) <= 1), word)


# A word is as frequent as the logarithm (base 10) of how often it stands in a thousand million words (the Zipf scale). What
# sounds like the word must be so many times rarer than it, and rarer than this, to be a misspelling of it.
RARER: Final = 1.5
FREQUENT: Final = 4.5
# A word that is less frequent than this, or in no list, may be a typing error.
UNKNOWN: Final = 3.0
# A word of two is what somebody wrote apart, and a word that is two what somebody joined, only where the parts are frequent.
COMMON: Final = 4.8
# Letters of the shortest word that may be two, and of each of the two; what stands before the cut is a small word.
JOINED_FROM: Final = 7
SMALLEST_PART: Final = 2
LONGEST_FIRST: Final = 4
# An abbreviation of an authority has at most so many letters ("SEPE", "FOGASA").
ACRONYM: Final = 6
# A longer message is left as it is: an unknown word costs .15 ms, so that 200 of them cost 30. Of ordinary words few are
# unknown: a story of 100 costs 1 ms.
MOST_WORDS: Final = 200
_APOSTROPHES: Final = frozenset("'’ʼ`")

Counted: TypeAlias = tuple[float, str]


@dataclass(frozen=True, slots=True)
class Sounds:
    """How a language is written by ear: expressions that make words alike that sound alike, and short forms of chats."""

    rules: Sequence[tuple[re.Pattern[str], str]] = ()
    short: Mapping[str, str] = field(default_factory=dict)

    def key(self, word: str) -> str:
        """Give what all words that sound like this one have in common."""
        for pattern, written in self.rules:
            word = pattern.sub(written, word)
        return word


def read_sounds(folder: Path) -> dict[str, Sounds]:
    """Read spelling.json of every pack below `folder`. Raises DataError naming every fault."""
    documents, faults = read_packs(folder, "spelling")
    if faults:
        raise DataError(faults)
    return {
        language: Sounds(
            tuple((re.compile(pattern), written) for pattern, written in document["sounds"]),
            {" ".join(words(said)): meant for said, meant in document["short"].items()},
        )
        for language, document in documents.items()
    }


def hashed(word: str) -> int:
    """Give the number under which a word's frequency is stored."""
    return zlib.crc32(word.encode())


@dataclass(frozen=True, slots=True)
class SpellingLexicon:
    """The words of one language: those that the subject is spoken of in, by sound and by length, and how frequent any is."""

    wanted: Mapping[str, float]
    by_sound: Mapping[str, Counted]
    by_length: Mapping[int, Sequence[str]]
    hashes: NDArray[np.uint32]
    zipf: NDArray[np.uint8]

    @classmethod
    def of(cls, arrays: Mapping[str, Any], language: str) -> "SpellingLexicon":
        """Read the arrays of one language (see clara_lab.training.spelling)."""
        entries = [line.split("\t") for line in str(arrays[f"{language}_words"]).splitlines()]
        wanted = {word: float(count) for word, _, count in entries}
        by_sound: dict[str, Counted] = {}
        by_length: dict[int, list[str]] = {}
        for word, key, _ in entries:
            by_sound[key] = max(by_sound.get(key, (0.0, "")), (wanted[word], word))
            by_length.setdefault(len(word), []).append(word)
        return cls(wanted, by_sound, by_length, arrays[f"{language}_hashes"], arrays[f"{language}_zipf"])

    def frequency(self, word: str) -> float:
        """Give how frequent a word is on the Zipf scale, 0 for one that stands in no list."""
        name = hashed(word)
        place = int(np.searchsorted(self.hashes, name))
        listed = float(self.zipf[place]) / 10 if place < len(self.hashes) and self.hashes[place] == name else 0.0
        return max(listed, self.wanted.get(word, 0.0))

    def near(self, word: str) -> str | None:
        """Give the most frequent word that is one typing error away and begins alike."""
        around = [meant for size in (-1, 0, 1) for meant in self.by_length.get(len(word) + size, ())]
        found = extract(word, around, scorer=OSA.distance, score_cutoff=1, limit=None)
        alike = [meant for meant, _, _ in found if meant[0] == word[0] or meant[:2] == word[1::-1]]
        return max(alike, key=self.wanted.__getitem__, default=None)


@dataclass(frozen=True, slots=True)
class Mended:
    """A text as it is looked for. `changes` are the words as they were written and as they were understood."""

    text: str
    changes: tuple[tuple[str, str], ...] = ()


class Spelling:
    """Writes a text with the words that are meant, in the person's language; the rest of it stays as it is.

    `kept` are words that are always right, by language: names of places and procedures. A number, an acronym and a name stay.
    """

    def __init__(
        self,
        lexicon: Callable[[str], SpellingLexicon | None],
        sounds: Mapping[str, Sounds],
        kept: Mapping[str, frozenset[str]] | None = None,
    ) -> None:
        self._lexicon = lexicon
        self._sounds = sounds
        self._kept = kept or {}

    def mended(self, text: str, language: str) -> Mended:
        """Give the text with its misspelt words mended."""
        lexicon, sounds = self._lexicon(language), self._sounds.get(language)
        tokens = located(text)
        if lexicon is None or sounds is None or len(tokens) > MOST_WORDS:
            return Mended(text)
        shouted, kept = text.isupper(), self._kept.get(language, frozenset())
        pieces: list[str] = []
        changes: list[tuple[str, str]] = []
        end = place = 0
        while place < len(tokens):
            token = tokens[place]
            written, last, meant = text[token.start : token.end], token, token.text
            if not _named(text, token, written, shouted=shouted):
                follower = tokens[place + 1] if place + 1 < len(tokens) else None
                joined = (
                    follower and text[token.end : follower.start] == " " and _joined(token.text, follower.text, lexicon, kept)
                )
                if follower and joined:
                    last, meant, place = follower, joined, place + 1
                    written = text[token.start : last.end]
                else:
                    right = token.text in kept or _elided(text, token)
                    meant = token.text if right else _meant(token.text, lexicon, sounds)
            if meant != token.text or last is not token:
                changes.append((written, meant))
                pieces += [text[end : token.start], meant]
                end = last.end
            place += 1
        return Mended("".join([*pieces, text[end:]]), tuple(changes))


def _meant(word: str, lexicon: SpellingLexicon, sounds: Sounds) -> str:
    """Give the word that is meant, or the word itself."""
    if word in sounds.short:
        return sounds.short[word]
    if not word.isalpha() or len(word) < SMALLEST_PART:
        return word
    frequency = lexicon.frequency(word)
    if frequency >= FREQUENT:
        return word
    heard, meant = lexicon.by_sound.get(sounds.key(word), (0.0, word))
    if meant != word and heard >= frequency + RARER:
        return meant
    if frequency >= UNKNOWN or len(word) < TYPO_FROM:
        return word
    return lexicon.near(word) or _parts(word, lexicon) or word


def _joined(first: str, second: str, lexicon: SpellingLexicon, kept: frozenset[str]) -> str | None:
    """Give the word that somebody wrote in two, or None."""
    whole = first + second
    if whole not in lexicon.wanted or {first, second} & kept or not whole.isalpha():
        return None
    parts = min(lexicon.frequency(first), lexicon.frequency(second))
    return whole if len(whole) >= JOINED_FROM and parts < UNKNOWN else None


def _parts(word: str, lexicon: SpellingLexicon) -> str | None:
    """Give a small word and another that somebody wrote as one, or None."""
    if len(word) < JOINED_FROM:
        return None
    cuts = ((word[:end], word[end:]) for end in range(SMALLEST_PART, LONGEST_FIRST + 1))
    right = [pair for pair in cuts if lexicon.frequency(pair[0]) >= COMMON and pair[1] in lexicon.wanted]
    best = max(right, key=lambda pair: lexicon.frequency(pair[1]), default=None)
    return " ".join(best) if best else None


def _elided(text: str, token: Token) -> bool:
    """Whether an apostrophe joins a word to its neighbour ("d'estudiants"): its letters are no word by themselves."""
    return text[token.end : token.end + 1] in _APOSTROPHES or text[max(0, token.start - 1) : token.start] in _APOSTROPHES


def _named(text: str, token: Token, written: str, *, shouted: bool) -> bool:
    """Whether a word is written as a name or an acronym is."""
    if shouted or not written[:1].isupper():
        return False
    if written.isupper() and len(written) <= ACRONYM:
        return len(written) > 1
    before = text[: token.start].rstrip(" ¿¡\"'«(")
    return bool(before) and before[-1] not in ".!?:;\n…"
