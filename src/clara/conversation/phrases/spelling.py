"""Comparing words by how they are meant: spelling variants of one language, typing errors, words glued or torn apart."""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

from clara.retrieval.vocabulary import folded

# From here on one wrong letter still shows the word; in shorter ones it makes another one ("matar", "mayar").
TYPO_FROM = 6
# Shorter glued runs are words of their own more often than two words.
GLUED_FROM = 10
# A run is cut into words of so many letters on average; shorter ones are found in any foreign word.
PIECE = 3
# Letters written one by one: "m o r i r".
TORN = 3
# The longest words of the ten languages have fewer letters; what is longer is no word, and only costs time.
LONGEST = 40
_WORD = re.compile(r"[\u3400-\u9fff]|\d\d(?=[^\W\d_\u3400-\u9fff]{2})|[^\W_\u3400-\u9fff]+")
_REPEATED = re.compile(r"([^\W\d_])\1+")
_NUMBER = re.compile(r"<(\d+)-(\d+)>")
_SIGNS = str.maketrans({"@": "a", "$": "s", "€": "e"})
_SIGN_IN_WORD = re.compile(r"(?<=[^\W\d_])[@$€](?=[^\W\d_])")
_DIGITS = str.maketrans("0134578", "oieastb")

Match = Literal["is", "starts", "ends", "has", "number"]


class Atom(NamedTuple):
    """What one word is compared with; a number by its bounds, written `5-17`."""

    match: Match
    text: str


@dataclass(frozen=True, slots=True)
class Word:
    """A word as it is compared, and the place of the plain word that it comes from."""

    text: str
    origin: int


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a text with, for each, what it is (see Atom) and up to where: for sure, or with what was guessed too.

    A guess takes a typing error for granted, or a run of letters apart or together.
    """

    words: list[Word]
    sure: list[dict[Atom, set[int]]]
    guessed: list[dict[Atom, set[int]]]


def plain_words(text: str) -> list[str]:
    """Cut a text into words without capitals, accents and signs inside them; letters written one by one become a word."""
    bare = folded(text)
    if not bare.isascii():  # format characters (joiners, marks of direction) and the Arabic lengthening stroke only decorate
        bare = "".join(letter for letter in bare.replace("\u0640", "") if unicodedata.category(letter) != "Cf")
    found = _mended(_WORD.findall(_SIGN_IN_WORD.sub(lambda sign: sign[0].translate(_SIGNS), bare)))
    return [word[:LONGEST] for word in found]


def _mended(pieces: Sequence[str]) -> list[str]:
    """Put letters that were written one by one together: "m o r i r"."""
    words: list[str] = []
    run: list[str] = []
    for piece in (*pieces, ""):
        if len(piece) == 1 and "\u2e80" > piece > "9":
            run.append(piece)
            continue
        words += ["".join(run)] if len(run) > TORN else run
        run = []
        if piece:
            words.append(piece)
    return words


class Spelling:
    """How the words of one language are compared.

    `folds` are replaced in order, so that what sounds alike is alike ("qu" and "k"). `short` are abbreviations and what they
    stand for. `plain` are words that are no typing errors of others. `leet` says that digits inside words stand for letters; in
    Arabic written in Latin letters they are letters.
    """

    def __init__(
        self, folds: Sequence[tuple[str, str]], short: Mapping[str, str], plain: Iterable[str] = (), *, leet: bool = True
    ) -> None:
        self._folds, self._leet = tuple(folds), leet
        # Words come back, in one text as in all texts.
        self._folded = lru_cache(maxsize=4096)(self._fold)
        self._short = {self._fold(word): self.spell(meant) for word, meant in short.items()}
        self._words: dict[str, Atom] = {}
        self._starts: dict[str, Atom] = {}
        self._ends: dict[str, Atom] = {}
        self._parts: list[Atom] = []
        self._numbers: list[Atom] = []
        self._misspelt: dict[str, set[Atom]] = {}
        self._plain = frozenset(map(self._fold, plain))
        self._known = lru_cache(maxsize=4096)(self._compare)
        self._almost = lru_cache(maxsize=4096)(self._guess)

    def _fold(self, word: str) -> str:
        if self._leet and not word.isdigit() and not word.isalpha() and sum(map(str.isalpha, word)) >= 2:  # noqa: PLR2004
            word = word.translate(_DIGITS)
        for said, alike in self._folds:
            word = word.replace(said, alike)
        return _REPEATED.sub(r"\1", word)

    def spell(self, text: str) -> list[str]:
        """Give the words of a text as this language compares them."""
        return [self._folded(word) for word in plain_words(text)]

    def spelled_out(self, text: str) -> list[str]:
        """Give the words of a text with the abbreviations among them spelled out."""
        return [part for word in self.spell(text) for part in self._short.get(word, [word])]

    def learn(self, atoms: Iterable[Atom]) -> None:
        """Take in what words are compared with."""
        for atom in sorted(atoms):
            if atom.match == "has":
                self._parts.append(atom)
            elif atom.match == "number":
                self._numbers.append(atom)
            else:
                {"is": self._words, "starts": self._starts, "ends": self._ends}[atom.match][atom.text] = atom
            if atom.match in {"is", "starts"} and len(atom.text) >= TYPO_FROM:
                for variant in _shortened(atom.text):
                    self._misspelt.setdefault(variant, set()).add(atom)

    def read(self, words: Sequence[str]) -> Words:
        """Compare every word of a text, and every two neighbours as if they were one."""
        spelled = [word for origin, plain in enumerate(words) for word in self._unfold(self._folded(plain), origin)]
        sure: list[dict[Atom, set[int]]] = []
        guessed: list[dict[Atom, set[int]]] = []
        for place, word in enumerate(spelled):
            known = {atom: {place + 1} for atom in self._known(word.text)}
            guesses = {atom: {place + 1} for atom in self._almost(word.text)} if not known else dict(known)
            if place + 1 < len(spelled):
                for atom in self._torn(word.text, spelled[place + 1].text):
                    guesses[atom] = guesses.get(atom, set()) | {place + 2}
            sure.append(known)
            guessed.append(guesses)
        return Words(spelled, sure, guessed)

    def _unfold(self, word: str, origin: int) -> list[Word]:
        if word in self._short:
            return [Word(part, origin) for part in self._short[word]]
        if len(word) >= GLUED_FROM and not self._known(word) and (parts := self._parted(word)):
            return [Word(part, origin) for part in parts]
        return [Word(word, origin)]

    def _torn(self, first: str, second: str) -> list[Atom]:
        """Give what two neighbours are as one word, when neither is it alone."""
        whole = first + second
        if len(whole) < TYPO_FROM - 1 or first in self._words or not first.isalpha():
            return []
        sizes = range(len(first) + 1, len(whole) + 1)
        begun = [self._starts[whole[:size]] for size in sizes if whole[:size] in self._starts]
        return [*begun, *([self._words[whole]] if whole in self._words else [])]

    def _parted(self, word: str) -> list[str] | None:
        """Cut a glued run into known words, the fewest first; None when something is left over."""
        best: list[list[str] | None] = [[]] + [None] * len(word)
        most = len(word) // PIECE
        for end in range(1, len(word) + 1):
            for start in range(end - 1):
                before, piece = best[start], word[start:end]
                if before is None or not (piece in self._words or (end == len(word) and self._begins(piece))):
                    continue
                kept = best[end]
                if kept is None or len(before) + 1 < len(kept):
                    best[end] = [*before, piece]
        return best[-1] if best[-1] and len(best[-1]) <= most else None

    def _begins(self, word: str) -> bool:
        return any(word[:size] in self._starts for size in range(PIECE, len(word) + 1))

    def _compare(self, word: str) -> tuple[Atom, ...]:
        if word.isdigit():
            number = int(word[:6])
            return tuple(atom for atom in (*self._numbers, *self._exact(word)) if _within(number, atom) or atom.text == word)
        found = [*self._exact(word), *(atom for atom in self._parts if atom.text in word)]
        return tuple(found)

    def _exact(self, word: str) -> list[Atom]:
        sizes = range(1, len(word) + 1)
        found = [self._words[word]] if word in self._words else []
        found += [self._starts[word[:size]] for size in sizes if word[:size] in self._starts]
        return found + [self._ends[word[-size:]] for size in sizes if word[-size:] in self._ends]

    def _guess(self, word: str) -> tuple[Atom, ...]:
        """Give what the word would be with one letter put right; its first letter is taken to be right."""
        if len(word) < TYPO_FROM - 1 or word in self._plain:
            return ()
        beginnings = {word, *(word[:size] for size in range(TYPO_FROM - 1, min(len(word), 14)))}
        near = {
            (start, atom) for start in beginnings for variant in _shortened(start) for atom in self._misspelt.get(variant, ())
        }
        right = {atom for start, atom in near if atom.match == "starts" or start == word if _one_off(start, atom.text)}
        return tuple(right)


def atom_of(piece: str, spelling: Spelling) -> list[Atom]:
    """Give what one piece of a pattern is compared with; several when it is several words, such as "j'ai"."""
    if number := _NUMBER.fullmatch(piece):
        return [Atom("number", f"{number[1]}-{number[2]}")]
    words = spelling.spelled_out(piece)
    match: Match = "is"
    if piece.startswith("*") and piece.endswith("*"):
        match = "has"
    elif piece.endswith("*"):
        match = "starts"
    elif piece.startswith("*"):
        match = "ends"
    return [Atom("is", word) for word in words[:-1]] + [Atom(match, word) for word in words[-1:]]


def _within(number: int, atom: Atom) -> bool:
    if atom.match != "number":
        return False
    low, high = atom.text.split("-")
    return int(low) <= number <= int(high)


def _shortened(word: str) -> set[str]:
    return {word, *(word[:place] + word[place + 1 :] for place in range(len(word)))}


def _one_off(written: str, meant: str) -> bool:
    """Tell whether one letter was changed, left out, added or swapped with its neighbour, and not the first."""
    if written[0] != meant[0] or abs(len(written) - len(meant)) > 1:
        return False
    head = 0
    while head < min(len(written), len(meant)) and written[head] == meant[head]:
        head += 1
    rest, wanted = written[head:], meant[head:]
    swapped = rest[:2] == wanted[1::-1] and rest[2:] == wanted[2:]
    return swapped or rest[1:] == wanted[1:] or rest[1:] == wanted or rest == wanted[1:]
