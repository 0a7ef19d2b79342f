"""The proof of a reply: every statement against the facts it cites, figure by figure, without any model.

A statement is proved when each of its figures is in the facts behind its marks, it denies what they deny and nothing else,
and it speaks of their procedure, their territory and the offices they name. Whoever asks for a proof passes claims only: the
fixed texts around them are ours.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import Final

from clara.answering.verification.grounds import Grounds, Groundwork, stems_of
from clara.answering.verification.polarity import added, bounds_in, denials_in, kinds_in, lost, turned
from clara.answering.verification.statements import Statement, Subjects, statements
from clara.answering.writing.prompt import TOKEN
from clara.knowledge.passages import fact_of
from clara.language.figures.agreement import HeldFigures
from clara.language.figures.figure import Figure, FigureKind, FoundFigure
from clara.language.figures.lexicon import SPANISH, Polarity
from clara.language.figures.reader import Reader
from clara.language.tokens import Token, cut, length, letters, words
from clara.retrieval.passage import Passage

# What a person may have told of themselves, and a reply may repeat: "tienes 3 hijos", "con 24 años".
_OWN: Final = frozenset({FigureKind.COUNT, FigureKind.AGE})
# The least share of a statement's words that must be in the facts it cites. Development half of eval/answers: the faithful
# statements have 0.5 and more, those that point to a wrong fact 0.29 and less.
SUPPORT: Final = 0.3
# With fewer words of meaning than this a share says nothing.
_TELLING: Final = 3
_CLAUSES: Final = re.compile(r"[,;:،，；：]|\s[-–—]\s")

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


class FaultKind(StrEnum):
    """What can be wrong with a statement."""

    UNMARKED = "unmarked"
    MARK = "mark"
    FIGURE = "figure"
    NEGATION = "negation"
    CONDITION = "condition"
    TERRITORY = "territory"
    PROCEDURE = "procedure"
    NAME = "name"
    SUPPORT = "support"


@dataclass(frozen=True, slots=True)
class StatementFault:
    """What is wrong with a sentence of a reply: the sentence as it was written, and in short what in it."""

    sentence: str
    kind: FaultKind
    what: str


class Prover:
    """Proves replies. `in_force` says whether a fact may be told today: a condition that may not need not be told."""

    def __init__(self, reader: Reader, subjects: Subjects, in_force: Callable[[str], bool] = lambda _: True) -> None:
        self._reader = reader
        self._groundwork = Groundwork(reader, subjects)
        self._subjects = subjects
        self._in_force = in_force

    def prove(self, text: str, cited: Mapping[str, Passage], language: str, question: str = "") -> list[StatementFault]:
        """Give what is wrong with a reply, nothing when it is proved. `cited` has the facts by their marks ("C1")."""
        claimed = statements(text)
        faults: list[StatementFault] = []
        for place, statement in enumerate(claimed):
            grounds = self._groundwork.of([cited[mark] for mark in statement.marks if mark in cited])
            faults += [
                StatementFault(statement.text, kind, what)
                for kind, what in self._faults(statement, grounds, cited, language, question)
            ]
            last = next((one.number for one in reversed(claimed[:place]) if one.number is not None), 0)
            if statement.number not in {None, 1, last + 1}:
                faults.append(StatementFault(statement.text, FaultKind.FIGURE, str(statement.number)))
        return [*faults, *self._unconditional(claimed, cited)]

    def _faults(
        self, statement: Statement, grounds: Grounds, cited: Mapping[str, Passage], language: str, question: str
    ) -> Iterator[tuple[FaultKind, str]]:
        unknown = [mark for mark in statement.marks if mark not in cited]
        figures = self._reader.figures_in(statement.claim, language)
        if unknown:
            yield FaultKind.MARK, ", ".join(unknown)
        if not grounds.passages:
            if not statement.announces:
                yield FaultKind.UNMARKED, "no evidence"
                return
            grounds = self._groundwork.of(list(cited.values()))
            if statement.announces and not figures:
                return
        for found in figures:
            if not grounds.figures.holds(found) and not self._is_own(found, statement.claim, language, question):
                yield FaultKind.FIGURE, f"{found.kind.value} {found.text}"
        yield from self._otherwise(statement, grounds, language, question)

    def _otherwise(
        self, statement: Statement, grounds: Grounds, language: str, question: str
    ) -> Iterator[tuple[FaultKind, str]]:
        """Find what is wrong besides figures."""
        tokens = cut(statement.claim)
        if (denied := self._denied(tokens, grounds, language)) is not None:
            yield FaultKind.NEGATION, denied
        for place in self._subjects.places_wrong(statement.claim, grounds.passages, grounds.text, question):
            yield FaultKind.TERRITORY, place
        for procedure in grounds.strange(self._subjects.procedures_in(statement.claim, language)):
            yield FaultKind.PROCEDURE, "/".join(sorted(procedure))
        for body in self._subjects.bodies_in(tokens) - grounds.bodies:
            yield FaultKind.NAME, body
        if language == SPANISH and (share := grounds.support(statement.claim)) is not None and share < SUPPORT:
            yield FaultKind.SUPPORT, f"{share:.2f} of its words"

    def _denied(self, tokens: Sequence[Token], grounds: Grounds, language: str) -> str | None:
        lexicon = self._reader.lexicon(language)
        untitled = self._subjects.without_titles(tokens)
        says = kinds_in(untitled, lexicon)
        if (bound := turned(bounds_in(untitled, lexicon), grounds.bounds)) is not None:
            return f"{bound}, where the evidence has the opposite"
        if Polarity.NEGATION in says and not grounds.denies_anywhere:
            return "denies what the evidence does not"
        if language == SPANISH:
            said = denials_in(tokens, lexicon)
            if (word := lost(said, grounds.denials)) is not None:
                return f"lost before {word}"
            if (word := added(said, grounds.denials)) is not None:
                return f"added before {word}"
            return None
        return "lost" if grounds.denies_everywhere and not says else None

    def _is_own(self, found: FoundFigure, claim: str, language: str, question: str) -> bool:
        """Whether a figure is the person's own, in a clause that repeats what they said of themselves."""
        own = [reading for reading in found.readings if reading.kind in _OWN]
        if not question or not own:
            return False
        asked = self._reader.figures_in(question, language)
        if not HeldFigures(reading for other in asked for reading in other.readings).holds(found):
            return False
        cuts = pairwise([0, *(match.end() for match in _CLAUSES.finditer(claim)), len(claim)])
        clause = next((part for part in cuts if part[0] <= claim.find(found.text) < part[1]), (0, len(claim)))
        said = {word[:4] for word in words(claim[clause[0] : clause[1]]) if not word.isdigit()}
        return bool(said & {word[:4] for word in words(question) if len(word) > _TELLING or not word.isascii()})

    def ties(self, sentence: str, facts: Sequence[Passage], language: str) -> bool:
        """Whether a sentence, without its marks, is tied to the facts, and each long clause of it as well.

        Without a model nobody can tell whether "you need no permit" says what a Spanish sentence says. With an anchor the proof
        has something to compare. Of the 1,047 facts of 2026-11, 765 hold a figure or a name.

        In Spanish a clause shares words with them, in other languages a figure, a name or a link: a clause that is tied to
        nothing may say anything behind one that is.
        """
        if language == SPANISH:
            return all(self._shares_words(clause, facts) for clause in _PARTS.split(sentence))
        evidence = HeldFigures(figure for fact in facts for figure in self._stated(fact))
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

    def _stated(self, fact: Passage) -> Iterator[Figure]:
        for found in self._reader.figures_in(fact.text, SPANISH):
            yield from found.readings
        yield from sorted(fact_of(fact).values, key=str)

    def _unconditional(self, claimed: Sequence[Statement], cited: Mapping[str, Passage]) -> Iterator[StatementFault]:
        """Find facts that are told without those that limit them."""
        told = {mark for statement in claimed for mark in statement.marks}
        known = {cited[mark].id for mark in told if mark in cited}
        for statement in claimed:
            for mark in statement.marks:
                for name in fact_of(cited[mark]).conditions if mark in cited else ():
                    if name not in known and self._in_force(name):
                        yield StatementFault(statement.text, FaultKind.CONDITION, f"{mark} without {name}")


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
