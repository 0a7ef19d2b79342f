"""What needs no database: the procedures that a question names and is about, keywords over data/, and the directory."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from math import exp

from clara.knowledge.catalogue import Catalogue
from clara.knowledge.questions import OUTSIDE
from clara.language.phrases import Phrases, every
from clara.language.tokens import words
from clara.retrieval.calibration import Judge
from clara.retrieval.hybrid import Understand
from clara.retrieval.intent import Intent
from clara.retrieval.passage import Found, Hit, Passage, Query, Retrieve, Status
from clara.retrieval.ports import Vector

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
        procedures = catalogue.procedures.values()
        # Languages share many phrases: each counts once.
        self._names = Phrases({(said, one.id) for one in procedures for said in (*every(one.vocabulary), *one.name.values())})
        self._lookalikes = Phrases({(said, one.id) for one in procedures for said in every(one.lookalikes)})

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


# By how much a procedure's odds grow when the question names it. With 55 procedures, of 639 development questions and needs
# .954 answered and .951 refused with e^3, .950 and .958 with e^2; right procedure first of 99 development questions .949 and
# .939. Read from one run each, and close.
NAMED_ODDS = exp(3)
# By how much they shrink when the question holds a phrase that only looks like its name ("no paro de toser"). Not tuned:
# large enough to overrule the model. Cross-validated refusals went from .974 to .983, answers stayed at .979.
LOOKALIKE_ODDS = exp(4)
# A procedure or section less likely than this adds nothing but rows to look at.
LEAST = 0.02
# What certainty about the procedure and about the section weigh against the fused score of 0..1. Flat on the development
# questions: procedure .96-.99 from 1 to 2; section .82-.84 (dev), .55-.64 (development.jsonl) from .25 to .8.
DOCUMENT_WEIGHT = 1.5
SECTION_WEIGHT = 0.5
# What certainty about the passage weighs. On development questions, with 0, 0.5 and 1: answers that hold the right fact 57, 58,
# 58 of 60; first section right .712, .723, .712; the same facts in other languages .89, .85, .81.
PASSAGE_WEIGHT = 0.5

Recognise = Callable[[str, Vector | None], Intent]


def understanding(recognise: Recognise, named: NamedProcedures) -> Understand:
    """Add to a query what it is probably about."""

    def understand(query: Query, vector: Vector | None) -> Query:
        intent = recognise(query.text, vector)
        odds = dict(intent.documents)
        for name in named.find(query.text):
            odds[name] = odds.get(name, LEAST) * NAMED_ODDS
        for name in named.resembled(query.text):
            odds[name] = odds.get(name, LEAST) / LOOKALIKE_ODDS
        total = sum(odds.values()) or 1.0
        likely = {name: value / total for name, value in odds.items()}
        outside = likely.pop(OUTSIDE, 0.0)
        documents = {name: DOCUMENT_WEIGHT * value for name, value in likely.items() if value >= LEAST}
        sections = {
            pair: SECTION_WEIGHT * value for pair, value in intent.sections.items() if pair[0] in documents and value >= LEAST
        }
        passages = {
            name: PASSAGE_WEIGHT * likely[document] * value
            for (document, name), value in intent.passages.items()
            if document in documents and value >= LEAST
        }
        return replace(query, documents=documents, sections=sections, passages=passages, outside=outside)

    return understand
