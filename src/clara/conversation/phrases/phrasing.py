"""Patterns of words with gaps between them, told from how people really write: misspelt, glued, split, without accents.

A pattern is a line of elements, such as `me ~2 (quiero|voy a) ~3 matar*`. An element is a word, alternatives in brackets or
`@name`, a named list of alternatives, which may stand in brackets too. `word*` is the beginning of a word, `*word` its end,
`*word*` any part of it, `<5-17>` a number. Between two elements one other word may stand, or as many as `~2` says, but none
that denies. ` + ` joins lines that must all be somewhere in the text. A pattern that begins with `? ` gives way when something
in the text calms.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from clara.conversation.phrases.spelling import Atom, Spelling, Word, Words, atom_of

# One word between two others is an article or a pronoun more often than another thought.
GAP = 1
_PIECES = re.compile(r"\([^)]*\)|\S+")

Span = tuple[int, int]
Member = tuple[Atom, ...]
# What is found at each word of a text: the name of an alternative, and where it ends.
Places = list[dict[str, set[int]]]


class PatternError(ValueError):
    """A pattern cannot be read; the message says which and why."""


@dataclass(frozen=True, slots=True)
class Element:
    """One place in a pattern: the name of its alternatives, and how many other words may stand before it."""

    name: str
    gap: int


@dataclass(frozen=True, slots=True)
class Pattern:
    """Sequences of elements that must all be found, in any order. `weak` ones give way when something calms."""

    sequences: tuple[tuple[Element, ...], ...]
    weak: bool
    names: frozenset[str]

    @property
    def alone(self) -> bool:
        """Tell whether a single element makes the pattern."""
        return len(self.sequences) == 1 and len(self.sequences[0]) == 1


class Phrasing:
    """The patterns of one language, by what they mean. Raises PatternError."""

    def __init__(
        self,
        spelling: Spelling,
        groups: Mapping[str, Sequence[str]],
        patterns: Mapping[str, Sequence[str]],
        denials: Sequence[str],
    ) -> None:
        self._spelling = spelling
        self._atoms = cache(lambda piece: atom_of(piece, spelling))  # every second piece comes back
        self._members: dict[Atom, list[tuple[Member, str]]] = {}
        self._known: dict[str, list[Member]] = {}
        for name, alternatives in groups.items():
            self._learn(f"@{name}", alternatives)
        self._denials = frozenset(word for denial in denials for word in spelling.spell(denial))
        self._patterns = {meaning: tuple(self._parse(line) for line in lines) for meaning, lines in patterns.items()}
        spelling.learn({atom for member, _ in self._all_members() for atom in member})
        self._atoms.cache_clear()

    def _all_members(self) -> Iterator[tuple[Member, str]]:
        for members in self._members.values():
            yield from members

    def _learn(self, name: str, alternatives: Iterable[str]) -> None:
        """Take in a list of alternatives under its name."""
        if name in self._known:
            return
        self._known[name] = [member for alternative in alternatives for member in self._meant(alternative)]
        for member in self._known[name]:
            self._members.setdefault(member[0], []).append((member, name))

    def _meant(self, alternative: str) -> list[Member]:
        """Give the words of an alternative, or of all alternatives of the list that it names."""
        if alternative.startswith("@"):
            return self._known[self._named(alternative)]
        if any(sign in alternative for sign in "()~@"):
            raise PatternError(f"'{alternative}' has a sign of a pattern inside an alternative; write words only")
        member = tuple(atom for piece in alternative.split() for atom in self._atoms(piece))
        if not member:
            raise PatternError(f"'{alternative}' has no word; write one or remove it")
        return [member]

    def _named(self, name: str) -> str:
        if name not in self._known:
            raise PatternError(f"'{name}' is no list of words; add it to words or correct the name")
        return name

    def _parse(self, line: str) -> Pattern:
        weak = line.startswith("? ")
        parts = (line[2:] if weak else line).split(" + ")
        sequences = tuple(self._sequence(part, line) for part in parts)
        return Pattern(sequences, weak, frozenset(element.name for sequence in sequences for element in sequence))

    def _sequence(self, part: str, line: str) -> tuple[Element, ...]:
        elements: list[Element] = []
        gap = GAP
        for piece in _PIECES.findall(part):
            if piece.startswith("~") and piece[1:].isdigit():
                gap = int(piece[1:])
                continue
            if not piece.startswith("@"):
                self._learn(piece, piece[1:-1].split("|") if piece.startswith("(") else [piece])
            elements.append(Element(self._named(piece), gap))
            gap = GAP
        if not elements:
            raise PatternError(f"'{line}' has an empty part; write it or remove the +")
        return tuple(elements)

    def read(self, words: Sequence[str]) -> "Reading":
        """Find every alternative in a text, cut into plain words (see `spelling.plain_words`)."""
        spelled = self._spelling.read(words)
        places = range(len(spelled.words))
        sure = [self._at(spelled.sure, start) for start in places]
        guessed = [self._at(spelled.guessed, start) for start in places]
        return Reading(spelled, (sure, guessed), self._denials, self._patterns)

    def _at(self, atoms: Sequence[Mapping[Atom, set[int]]], start: int) -> dict[str, set[int]]:
        """Give, by name, where the alternatives that begin at a word end."""
        found: dict[str, set[int]] = {}
        for atom, atom_ends in atoms[start].items():
            for member, name in self._members.get(atom, ()):
                ends = set(atom_ends)
                for following in member[1:]:
                    ends = {end for place in ends if place < len(atoms) for end in atoms[place].get(following, ())}
                if ends:
                    found.setdefault(name, set()).update(ends)
        return found


class Reading:
    """A text as one language's patterns see it. `known` is how many of its words the language knows for sure."""

    def __init__(
        self,
        spelled: Words,
        found: tuple[Places, Places],
        denials: frozenset[str],
        patterns: Mapping[str, tuple[Pattern, ...]],
    ) -> None:
        self._words: Sequence[Word] = spelled.words
        self._sure, self._guessed = found
        self._denies = [word.text in denials for word in spelled.words]
        self._patterns = patterns
        self.known = sum(1 for atoms in spelled.sure if atoms)
        self._names = frozenset(name for here in self._guessed for name in here)

    def covered(self, meaning: str) -> set[int]:
        """Give the places, in the plain words of the text, that patterns of a meaning cover."""
        parts = (part for pattern in self._patterns.get(meaning, ()) for part in pattern.sequences)
        spans = (span for part in parts for span in self._spans(part, self._sure))
        return {self._words[place].origin for start, end in spans for place in range(start, end)}

    def without(self, places: set[int]) -> None:
        """Forget whatever has a word at one of the given places."""
        masked = {place for place, word in enumerate(self._words) if word.origin in places}
        for found in (self._sure, self._guessed) if masked else ():
            for start, here in enumerate(found):
                left = {name: {end for end in ends if masked.isdisjoint(range(start, end))} for name, ends in here.items()}
                found[start] = {name: ends for name, ends in left.items() if ends}

    def means(self, meaning: str, *, calm: bool = False, guess: bool = True) -> bool:
        """Tell whether a pattern of a meaning is in the text; weak ones do not count where something calms.

        A pattern of one element counts only where its word is there for sure, as do all without `guess`.
        """
        patterns = [pattern for pattern in self._patterns.get(meaning, ()) if not (calm and pattern.weak)]
        return any(self._holds(pattern, guess=guess) for pattern in patterns)

    def _holds(self, pattern: Pattern, *, guess: bool) -> bool:
        if not pattern.names <= self._names:
            return False
        found = self._guessed if guess and not pattern.alone else self._sure
        return all(any(True for _ in self._spans(sequence, found)) for sequence in pattern.sequences)

    def _spans(self, sequence: tuple[Element, ...], found: Places) -> Iterator[Span]:
        first, *others = sequence
        for start, here in enumerate(found):
            if first.name not in here or self._denied(start):
                continue
            ends = here[first.name]
            for element in others:
                ends = {end for place in ends for end in self._next(place, element, found)}
                if not ends:
                    break
            else:
                yield start, max(ends)

    def _next(self, place: int, element: Element, found: Places) -> Iterator[int]:
        """Give where an element ends that begins after at most so many words, none of which denies."""
        for start in range(place, min(place + element.gap + 1, len(found))):
            yield from found[start].get(element.name, ())
            if self._denies[start]:
                return

    def _denied(self, start: int) -> bool:
        """Tell whether the word before denies what begins here; what begins with a denial means it."""
        return start > 0 and self._denies[start - 1] and not self._denies[start]
