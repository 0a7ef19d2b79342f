"""The tiers that need no database: keywords over data/, and the directory of what Clara knows."""

import math
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from clara.knowledge.catalogue import Catalogue
from clara.knowledge.procedure import Procedure
from clara.language.phrases import Phrases, every
from clara.language.tokens import words
from clara.retrieval.calibration import Judge
from clara.retrieval.hybrid import Understand
from clara.retrieval.passage import Found, Hit, Passage, Query, Retrieve, Status

DIRECTORY = "directory_fallback"


def directory(passages: Sequence[Passage]) -> Retrieve:
    """Give the first passage of each procedure that holds on the day of the query, as a directory: NOT_FOUND, score 0."""

    def listing(query: Query) -> Found:
        first: dict[str, Passage] = {}
        for passage in passages:
            if passage.document_id not in first and (query.today is None or passage.holds(query.today)):
                first[passage.document_id] = passage
        return Found(Status.NOT_FOUND, DIRECTORY, tuple(Hit(passage, 0.0) for passage in first.values()))

    return listing


KEYWORD = "json_fallback"


class NamedProcedures:
    """Tells which procedures a text names, by whole words and phrases of their vocabulary in every language."""

    def __init__(self, catalogue: Catalogue) -> None:
        names: set[tuple[str, str]] = set()  # languages share many phrases: each counts once
        lookalikes: set[tuple[str, str]] = set()
        for procedure in catalogue.procedures.values():
            names.update((phrase, procedure.id) for phrase in _own_phrases(procedure))
            lookalikes.update((phrase, procedure.id) for phrase in every(procedure.lookalikes))
        self._names = Phrases(names)
        self._lookalikes = Phrases(lookalikes)

    def find(self, text: str) -> dict[str, int]:
        """Give the number of words with which each procedure is named.

        A procedure's lookalikes hide those of its names that they touch ("paro cardiaco" hides "el paro"), but not a name
        that holds all of them: "non-contributory pension" is said on purpose, whatever "contributory pension" means.
        """
        return self._named(words(text))

    def resembled(self, text: str) -> frozenset[str]:
        """Give the procedures of which a lookalike stands in the text, and no name."""
        asked = words(text)
        return frozenset(procedure for _, _, procedure in self._lookalikes.longest_first(asked)) - self._named(asked).keys()

    def _named(self, asked: Sequence[str]) -> dict[str, int]:
        lookalikes = self._lookalikes.longest_first(asked)
        named: Counter[str] = Counter()
        for start, end, procedure in set(self._names.longest_first(asked)):
            if not any(
                other == procedure and begin < end and start < stop and not (start <= begin and stop <= end)
                for begin, stop, other in lookalikes
            ):
                named[procedure] += end - start
        return dict(named)


def keyword(passages: Sequence[Passage], understand: Understand, judge: Judge) -> Retrieve:
    """Find passages of the procedures that the question is probably about, by section and shared words.

    What has not begun on the day of the query is left out; what has ended comes apart.
    """
    vocabulary = [_vocabulary(passage.indexed_text) for passage in passages]
    spread = Counter(term for terms in vocabulary for term in terms)
    rarity = {term: math.log(1 + len(passages) / count) for term, count in spread.items()}

    def search(query: Query) -> Found:
        understood = understand(query, None)
        asked = set(words(query.text))
        most = sum(rarity.get(term, 0.0) for term in asked) or 1.0
        ranked: list[tuple[float, int]] = []
        for place, passage in enumerate(passages):
            if passage.document_id in understood.documents and _holds(passage, understood):
                shared = sum(rarity[term] for term in asked & vocabulary[place]) / most
                weight = understood.documents[passage.document_id] + understood.sections.get(
                    (passage.document_id, passage.section), 0.0
                )
                ranked.append((weight + shared, -place))
        ranked.sort(reverse=True)
        over = {place for _, place in ranked if query.today is not None and passages[-place].ended(query.today)}
        hits = tuple(Hit(passages[-place], score) for score, place in ranked if place not in over)[: query.limit]
        ended = tuple(Hit(passages[-place], score, ended=True) for score, place in ranked if place in over)[: query.limit]
        confidence = judge.probability(understood, hits or ended)
        if (hits or ended) and confidence >= judge.threshold:
            return Found(Status.FOUND, KEYWORD, hits, confidence=confidence, ended=ended)
        return Found(Status.NOT_FOUND, KEYWORD, confidence=confidence)

    return search


@lru_cache(maxsize=4096)
def _vocabulary(text: str) -> frozenset[str]:
    """Give the words of a text; of two versions of the knowledge nearly all texts are the same."""
    return frozenset(words(text))


def _holds(passage: Passage, query: Query) -> bool:
    around = not query.territories or passage.territory in query.territories
    return around and (query.today is None or passage.begun(query.today))


def _own_phrases(procedure: Procedure) -> list[str]:
    return [*every(procedure.vocabulary), *procedure.name.values()]
