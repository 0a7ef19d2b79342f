"""What the facts behind a statement allow to say: their figures, denials, names and words, each fact read once."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from clara.answering.verification.polarity import PLAIN, STEM, bounds_in, denials_in, kinds_in, together
from clara.answering.verification.statements import Subjects
from clara.knowledge.passages import fact_of
from clara.language.figures.agreement import HeldFigures
from clara.language.figures.figure import Figure, FigureKind
from clara.language.figures.lexicon import SPANISH
from clara.language.figures.reader import Reader
from clara.language.tokens import cut, words
from clara.retrieval.passage import Passage

# Facts kept read; the catalogue has about a thousand.
_KEPT: Final = 4_096
_TELLING: Final = 3


class Ground:
    """One fact, read."""

    def __init__(self, passage: Passage, reader: Reader, subjects: Subjects) -> None:
        lexicon, sources = reader.lexicon(passage.language), fact_of(passage).sources
        text = " ".join((*passage.heading, passage.text))
        tokens = cut(passage.text)
        self._reader = reader
        self.passage = passage
        self.figures = tuple(self._figures())
        self.exact = tuple(str(source.seen_on) for source in sources)
        self.polarity = kinds_in(tokens, lexicon)
        self.denials = denials_in(tokens, lexicon)
        self.bounds = bounds_in(tokens, lexicon)
        self.procedures = subjects.procedures_in(text, passage.language) | {frozenset({passage.document_id})}
        self.bodies = subjects.bodies_in(cut(f"{text} {' '.join(source.url for source in sources)}"))
        self.stems = stems_of(passage.text, lexicon.stop)
        self.titles = stems_of(" ".join(passage.heading), lexicon.stop)

    def _figures(self) -> Iterator[Figure]:
        """Give the figures of a fact: those of its text, its values, its sources, its legal basis and its last day."""
        passage, fact = self.passage, fact_of(self.passage)
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


class Grounds:
    """The facts behind one statement, together: the figures that may be stated, what is denied and said plainly, the offices.

    `text` is what the facts say, with their titles. Where a fact says no in any way a statement may; where all of them say so
    plainly it must.
    """

    def __init__(self, grounds: Sequence[Ground], stop: frozenset[str]) -> None:
        self._grounds = grounds
        self._stop = stop
        self.passages = tuple(ground.passage for ground in grounds)
        exact = [day for ground in grounds for day in ground.exact]
        self.figures = HeldFigures((figure for ground in grounds for figure in ground.figures), exact)
        self.denials = together(ground.denials for ground in grounds)
        self.bounds = frozenset(bound for ground in grounds for bound in ground.bounds)
        self.bodies = frozenset(body for ground in grounds for body in ground.bodies)
        self.text = "\n".join(" ".join((*passage.heading, passage.text)) for passage in self.passages)
        self.denies_anywhere = any(ground.polarity for ground in grounds)
        self.denies_everywhere = bool(grounds) and all(ground.polarity & PLAIN for ground in grounds)

    def strange(self, stated: Iterable[frozenset[str]]) -> list[frozenset[str]]:
        """Give of the procedures that a statement names those that no fact is about or names."""
        allowed = {name for ground in self._grounds for names in ground.procedures for name in names}
        return [names for names in stated if not names & allowed]

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
            ground = self._read[key] = Ground(passage, self._reader, self._subjects)
        return ground


def stems_of(text: str, stop: frozenset[str]) -> frozenset[str]:
    """Give the beginnings of the words of meaning."""
    return frozenset(word[:STEM] for word in words(text) if word not in stop and not word.isdecimal())
