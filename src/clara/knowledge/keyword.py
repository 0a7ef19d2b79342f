"""The keyword tier: finds a procedure by its names and a passage by its words, from the catalogue alone.

It needs no database and no model, so it answers when both are gone.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from clara.knowledge.catalogue import Catalogue
from clara.knowledge.procedure import Procedure
from clara.knowledge.words import Phrases, every, words
from clara.retrieval.passage import Found, Hit, Passage, Query, Retrieve, Status

TIER = "json_fallback"

# What one cue word for a section ("cuánto", "how long") weighs against one rare word shared with a passage.
CUE_WEIGHT = 4.0


class NamedProcedures:
    """Tells which procedures a text names, by whole words and phrases of their vocabulary in every language."""

    def __init__(self, catalogue: Catalogue) -> None:
        names: set[tuple[str, str]] = set()  # languages share many phrases: each counts once
        lookalikes: set[tuple[str, None]] = set()
        for procedure in catalogue.procedures.values():
            names.update((phrase, procedure.id) for phrase in _own_phrases(procedure))
            lookalikes.update((phrase, None) for phrase in every(procedure.lookalikes))
        self._names = Phrases(names)
        self._lookalikes = Phrases(lookalikes)

    def find(self, text: str) -> dict[str, int]:
        """Give the number of words with which each procedure is named; a lookalike hides what it touches."""
        asked = words(text)
        other = {place for start, end, _ in self._lookalikes.find(asked) for place in range(start, end)}
        named: Counter[str] = Counter()
        for start, end, procedure in set(self._names.find(asked)):
            if other.isdisjoint(range(start, end)):
                named[procedure] += end - start
        return dict(named)


class SectionCues:
    """Tells which sections a question asks for ("cuánto", "documents", "срок")."""

    def __init__(self, cues: Mapping[str, Mapping[str, Sequence[str]]]) -> None:
        self._phrases = Phrases([(phrase, section) for section, entries in cues.items() for phrase in every(entries)])

    def find(self, text: str) -> set[str]:
        """Give the ids of the sections asked for."""
        return {section for _, _, section in self._phrases.find(words(text))}


def keyword(passages: Sequence[Passage], named: NamedProcedures, cues: SectionCues) -> Retrieve:
    """Find passages of the procedures that the question names, the section it asks for first."""
    vocabulary = [Counter(words(passage.indexed_text)) for passage in passages]
    spread = Counter(term for terms in vocabulary for term in terms)
    rarity = {term: math.log(1 + len(passages) / count) for term, count in spread.items()}

    def search(query: Query) -> Found:
        procedures = named.find(query.text)
        if not procedures:
            return Found(Status.NOT_FOUND, TIER)
        asked, sections = set(words(query.text)), cues.find(query.text)
        scored: list[tuple[float, int]] = []
        for place, passage in enumerate(passages):
            if passage.document_id in procedures:
                shared = sum(rarity[term] for term in asked if term in vocabulary[place])
                cued = CUE_WEIGHT * (passage.section in sections)
                scored.append((10.0 * procedures[passage.document_id] + shared + cued, -place))
        scored.sort(reverse=True)
        best = scored[0][0] if scored else 1.0
        hits = tuple(Hit(passages[-place], score / best) for score, place in scored[: query.limit])
        return Found(Status.FOUND if hits else Status.NOT_FOUND, TIER, hits)

    return search


def _own_phrases(procedure: Procedure) -> list[str]:
    return [*every(procedure.vocabulary), *procedure.name.values()]
