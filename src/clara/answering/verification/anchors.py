"""What ties a sentence in another language to the Spanish fact it cites: a figure, a name or a link that both hold.

Without a model nobody can tell whether "you need no permit" says what a Spanish sentence says. With an anchor the proof has
something to compare; a sentence without any is not said, and the fact is quoted instead. Of the 1,047 facts of 2026-11, 765
hold a figure or a name.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from clara.answering.verification.grounds import stems_of
from clara.answering.writing.prompt import TOKEN
from clara.knowledge.passages import fact_of
from clara.language.figures.agreement import HeldFigures
from clara.language.figures.figure import Figure
from clara.language.figures.lexicon import SPANISH
from clara.language.figures.reader import Reader
from clara.language.tokens import length, letters, words
from clara.retrieval.passage import Passage

# A clause of so many words says something of its own; a shorter one completes the one before it.
LONG_CLAUSE: Final = 10
# Of a Spanish clause with so many words of meaning, this share is in the facts. 0 of the 390 faithful answers of the
# development half, and 0 of 1,047 facts told in their own words, have a clause below it.
TELLING_STEMS: Final = 3
SHARED: Final = 1 / 3
_CLAUSES: Final = re.compile(r"[,;:،؛，；：](?!\d)|\s[-–—]\s")
_TERM: Final = re.compile(r"«([^«»]+)»")
# Shorter words with a capital are articles and prepositions; shorter words of an official term are no name.
_NAME: Final = 4
_TERM_WORD: Final = 6
_ACRONYM: Final = 2


class Anchors:
    """Finds what sentences and facts share."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def hold(self, sentence: str, facts: Sequence[Passage], language: str) -> bool:
        """Whether a sentence, without its marks, is tied to the facts, and each long clause of it as well.

        In Spanish a clause shares words with them, in other languages a figure, a name or a link: a clause that is tied to
        nothing may say anything behind one that is.
        """
        if language == SPANISH:
            return all(self._shares_words(clause, facts) for clause in _CLAUSES.split(sentence))
        evidence = HeldFigures(figure for fact in facts for figure in self._figures(fact))
        names = {name for fact in facts for name in names_in(fact.text)}

        def tied(text: str) -> bool:
            stated = self._reader.figures_in(text, language)
            return bool(TOKEN.search(text) or names & set(words(text)) or any(evidence.holds(found) for found in stated))

        return tied(sentence) and all(tied(clause) for clause in _CLAUSES.split(sentence) if length(clause) >= LONG_CLAUSE)

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
