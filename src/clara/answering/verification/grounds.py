"""What the facts behind a statement allow to say: their figures, denials, names and words, each fact read once."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from clara.answering.verification.polarity import STEM, Bound, Denials, bounds_in, denials_in, kinds_in, together
from clara.answering.verification.statements import Subjects
from clara.answering.writing.prompt import TOKEN
from clara.knowledge.passages import fact_of
from clara.language.figures.agreement import HeldFigures
from clara.language.figures.figure import Figure, FigureKind
from clara.language.figures.lexicon import SPANISH, Polarity
from clara.language.figures.reader import Reader
from clara.language.tokens import cut, length, letters, words
from clara.retrieval.passage import Passage

# A clause of so many words says something of its own; a shorter one completes the one before it.
LONG_CLAUSE: Final = 10
# Of a Spanish clause with so many words of meaning, this share is in the facts. 0 of the 390 faithful answers of the
# development half, and 0 of 1,047 facts told in their own words, have a clause below it.
TELLING_STEMS: Final = 3
SHARED: Final = 1 / 3
_PARTS: Final = re.compile(r"[,;:،؛，；：](?!\d)|\s[-–—]\s")
_TERM: Final = re.compile(r"«([^«»]+)»")
# Shorter words with a capital are articles and prepositions; shorter words of an official term are no name.
_NAME: Final = 4
_TERM_WORD: Final = 6
_ACRONYM: Final = 2
# Facts kept read; the catalogue has about a thousand.
_KEPT: Final = 4_096
_TELLING: Final = 3


@dataclass(frozen=True)
class Ground:
    """One fact, read."""

    passage: Passage
    figures: tuple[Figure, ...]
    exact: tuple[str, ...]
    polarity: frozenset[Polarity]
    denials: Denials
    bounds: frozenset[Bound]
    procedures: frozenset[frozenset[str]]
    bodies: frozenset[str]
    stems: frozenset[str]
    titles: frozenset[str]


class Grounds:
    """The facts behind one statement, together."""

    def __init__(self, grounds: Sequence[Ground], stop: frozenset[str]) -> None:
        self._grounds = grounds
        self._stop = stop
        self.passages = tuple(ground.passage for ground in grounds)

    @cached_property
    def figures(self) -> HeldFigures:
        """Give the figures that may be stated."""
        exact = [day for ground in self._grounds for day in ground.exact]
        return HeldFigures((figure for ground in self._grounds for figure in ground.figures), exact)

    @cached_property
    def denials(self) -> Denials:
        """Give what the facts deny, and what they say plainly."""
        return together(ground.denials for ground in self._grounds)

    @property
    def bounds(self) -> frozenset[Bound]:
        """Give the bounds that the facts name."""
        return frozenset[Bound]().union(*(ground.bounds for ground in self._grounds))

    @cached_property
    def text(self) -> str:
        """Give what the facts say, with their titles."""
        return "\n".join(" ".join((*passage.heading, passage.text)) for passage in self.passages)

    @property
    def denies_anywhere(self) -> bool:
        """Whether a fact says no in any way, so that a statement may."""
        return any(ground.polarity for ground in self._grounds)

    @property
    def denies_everywhere(self) -> bool:
        """Whether all facts say no plainly, so that a statement must."""
        plain = {Polarity.NEGATION, Polarity.EXCEPTION}
        return bool(self._grounds) and all(ground.polarity & plain for ground in self._grounds)

    def strange(self, stated: Iterable[frozenset[str]]) -> list[frozenset[str]]:
        """Give of the procedures that a statement names those that no fact is about or names."""
        allowed = {name for ground in self._grounds for names in ground.procedures for name in names}
        return [names for names in stated if not names & allowed]

    @property
    def bodies(self) -> frozenset[str]:
        """Give the offices that the facts name."""
        return frozenset[str]().union(*(ground.bodies for ground in self._grounds))

    def support(self, claim: str) -> float | None:
        """Give the share of a statement's words that the facts have too, None when it has too few to tell.

        The words of their titles tell one procedure from another, not one fact: they count only where there are no others.
        """
        stems = stems_of(claim, self._stop)
        titles = frozenset[str]().union(*(ground.titles for ground in self._grounds))
        held = frozenset[str]().union(*(ground.stems for ground in self._grounds))
        telling = stems - titles if len(stems - titles) >= _TELLING else stems
        return len(telling & held) / len(telling) if len(telling) >= _TELLING else None


class Groundwork:
    """Reads facts, each once."""

    def __init__(self, reader: Reader, subjects: Subjects) -> None:
        self._reader = reader
        self._subjects = subjects
        self._read: dict[tuple[str, str], Ground] = {}

    def of(self, passages: Sequence[Passage]) -> Grounds:
        """Give the grounds of a statement."""
        return Grounds([self._ground(passage) for passage in passages], self._reader.lexicon(SPANISH).stop)

    def _ground(self, passage: Passage) -> Ground:
        key = (passage.id, passage.text)
        if (ground := self._read.get(key)) is None:
            if len(self._read) >= _KEPT:
                self._read.clear()
            ground = self._read[key] = self._reading(passage)
        return ground

    def _reading(self, passage: Passage) -> Ground:
        lexicon = self._reader.lexicon(passage.language)
        text = " ".join((*passage.heading, passage.text))
        tokens = cut(passage.text)
        sources = fact_of(passage).sources
        return Ground(
            passage=passage,
            figures=tuple(self._figures(passage)),
            exact=tuple(str(source.seen_on) for source in sources),
            polarity=kinds_in(tokens, lexicon),
            denials=denials_in(tokens, lexicon),
            bounds=bounds_in(tokens, lexicon),
            procedures=self._subjects.procedures_in(text, passage.language) | {frozenset({passage.document_id})},
            bodies=self._subjects.bodies_in(cut(f"{text} {' '.join(source.url for source in sources)}")),
            stems=stems_of(passage.text, lexicon.stop),
            titles=stems_of(" ".join(passage.heading), lexicon.stop),
        )

    def _figures(self, passage: Passage) -> Iterator[Figure]:
        """Give the figures of a fact: those of its text, its values, its sources, its legal basis and its last day."""
        fact = fact_of(passage)
        text = " . ".join((*passage.heading, passage.text))
        yield from self._read_figures(text, passage.language)
        for value in sorted(fact.values, key=str):
            yield from self._value(value)
        for source in fact.sources:
            yield Figure(FigureKind.URL, source.url)
        for basis in fact.legal_basis:
            cited = self._read_figures(f"{basis.norm} . {basis.provision or ''}", SPANISH)
            yield from (figure for figure in cited if figure.kind in {FigureKind.NORM, FigureKind.PROVISION})
        for day in (fact.validity.first, fact.validity.last):
            if day:
                yield Figure(FigureKind.DATE, day.isoformat())

    def _value(self, figure: Figure) -> Iterator[Figure]:
        """Give a value as this reader writes it, and the rhythm of an amount."""
        if figure.kind in {FigureKind.NORM, FigureKind.PROVISION, FigureKind.FORM}:
            yield from self._read_figures(str(figure.value), SPANISH)
        yield figure
        if figure.kind is FigureKind.AMOUNT and "/" in (figure.unit or ""):
            yield Figure(FigureKind.PERIOD, 1.0, str(figure.unit).partition("/")[2])

    def _read_figures(self, text: str, language: str) -> Iterator[Figure]:
        """Read the figures of a fact. Facts are ours: a point in their numbers separates thousands, and nothing else."""
        for found in self._reader.figures_in(text, language):
            sorts: dict[tuple[object, ...], Figure] = {}
            for reading in found.readings:
                value = None if isinstance(reading.value, float) else reading.value
                sorts.setdefault((reading.kind, reading.unit, value), reading)
            yield from sorts.values()


def stems_of(text: str, stop: frozenset[str]) -> frozenset[str]:
    """Give the beginnings of the words of meaning."""
    return frozenset(word[:STEM] for word in words(text) if word not in stop and not word.isdecimal())


class Anchors:
    """Finds what ties a sentence to the Spanish fact it cites: a figure, a name or a link that both hold.

    Without a model nobody can tell whether "you need no permit" says what a Spanish sentence says. With an anchor the proof has
    something to compare; a sentence without any is not said, and the fact is quoted instead. Of the 1,047 facts of 2026-11, 765
    hold a figure or a name.
    """

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def hold(self, sentence: str, facts: Sequence[Passage], language: str) -> bool:
        """Whether a sentence, without its marks, is tied to the facts, and each long clause of it as well.

        In Spanish a clause shares words with them, in other languages a figure, a name or a link: a clause that is tied to
        nothing may say anything behind one that is.
        """
        if language == SPANISH:
            return all(self._shares_words(clause, facts) for clause in _PARTS.split(sentence))
        evidence = HeldFigures(figure for fact in facts for figure in self._figures(fact))
        names = {name for fact in facts for name in names_in(fact.text)}

        def tied(text: str) -> bool:
            stated = self._reader.figures_in(text, language)
            return bool(TOKEN.search(text) or names & set(words(text)) or any(evidence.holds(found) for found in stated))

        return tied(sentence) and all(tied(clause) for clause in _PARTS.split(sentence) if length(clause) >= LONG_CLAUSE)

    def _shares_words(self, clause: str, facts: Sequence[Passage]) -> bool:
        stop = self._reader.lexicon(SPANISH).stop
        stems = stems_of(clause, stop)
        held = frozenset[str]().union(*(stems_of(" ".join((*fact.heading, fact.text)), stop) for fact in facts))
        return len(stems) < TELLING_STEMS or len(stems & held) >= SHARED * len(stems)

    def _figures(self, fact: Passage) -> Iterator[Figure]:
        for found in self._reader.figures_in(fact.text, SPANISH):
            yield from found.readings
        yield from sorted(fact_of(fact).values, key=str)


def names_in(text: str) -> set[str]:
    """Give the comparable words of a Spanish text that are names: acronyms, capitals inside of a sentence, official terms."""
    found: set[str] = set()
    for place, word in ((token.start, token.text) for token in letters(text)):
        begins = not text[:place].rstrip(' «("').endswith(tuple("abcdefghijklmnopqrstuvwxyzáéíóúüñ,;:%0123456789)»"))
        named = word[0].isupper() and len(word) >= _NAME and not begins
        if named or (word.isupper() and len(word) >= _ACRONYM):
            found.update(words(word))
    terms = (word for term in _TERM.findall(text) for word in words(term))
    return found | {word for word in terms if len(word) >= _TERM_WORD}
