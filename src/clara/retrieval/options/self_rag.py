"""Deciding whether a text needs a search at all, and which of the hits are worth showing (Self-RAG)."""

from dataclasses import asdict, dataclass, replace

from clara.language.tokens import length, words
from clara.retrieval.options.relevance import DEFAULT, Graded, Relevance, RelevanceBounds, grade
from clara.retrieval.passage import Found, Query, Retrieve, Status
from clara.retrieval.vocabulary import Vocabulary

NO_TIER = "none"
# Advanced RAG gives these signs of a question and a base of .5, and no weights: the three share the other half equally.
# Nothing is decided by the sum, it only says how plain the case is.
BASE = 0.5
FEW_WORDS = 2
SHORT = 15


@dataclass(frozen=True, slots=True)
class RetrievalDecision:
    """Whether to search. `confidence` (0..1) says how plain the case is, `reason` why, without the text itself."""

    should_retrieve: bool
    confidence: float
    reason: str


def should_retrieve(text: str, vocabulary: Vocabulary) -> RetrievalDecision:
    """Decide whether a text asks for anything: one without words, or of greetings and thanks alone, does not."""
    found = words(text)
    if not found:
        return RetrievalDecision(should_retrieve=False, confidence=1.0, reason="there are no words")
    if sum(end - start for start, end in vocabulary.courtesies.spans(found)) == len(found):
        return RetrievalDecision(should_retrieve=False, confidence=1.0, reason="there is nothing but courtesies")
    signs = [name for name, seen in _signs(text, found, vocabulary).items() if seen]
    confidence = BASE + (1 - BASE) * len(signs) / 3
    return RetrievalDecision(should_retrieve=True, confidence=confidence, reason=", ".join(signs) or "something is said")


def _signs(text: str, found: list[str], vocabulary: Vocabulary) -> dict[str, bool]:
    lexicons = (vocabulary.expansions, vocabulary.cues, vocabulary.specifics)
    return {
        "several words": length(text) >= FEW_WORDS,
        "a word of the subject": any(lexicon.spans(found) for lexicon in lexicons),
        "a long text": len(text.strip()) > SHORT,
    }


def self_reflective(retrieve: Retrieve, vocabulary: Vocabulary, bounds: RelevanceBounds = DEFAULT) -> Retrieve:
    """Search only when there is something to search for, and drop the hits that are not relevant.

    Without a search the tier is "none". When no hit is left the status is NOT_FOUND, or OUTAGE if a tier could not be asked.
    The confidence is kept as long as the hit it speaks of is. `trace` has "decision" and, by passage, "relevance".
    """

    def reflecting(query: Query) -> Found:
        decision = should_retrieve(query.text, vocabulary)
        if not decision.should_retrieve:
            return Found(Status.NOT_FOUND, NO_TIER, trace={"decision": asdict(decision)})
        found = retrieve(query)
        trace = {**found.trace, "decision": asdict(decision)}
        if found.status is not Status.FOUND:
            return replace(found, trace=trace)  # what a miss brings along is a directory, no evidence to judge
        graded = [grade(query, hit, bounds, vocabulary) for hit in found.hits]
        relevance = {judged.hit.passage.id: judged.relevance.value for judged in graded}
        return replace(_filtered(found, graded), trace={**trace, "relevance": relevance})

    return reflecting


def _filtered(found: Found, graded: list[Graded]) -> Found:
    hits = tuple(judged.hit for judged in graded if judged.relevance is not Relevance.NOT_RELEVANT)
    if not hits:
        return replace(found, status=Status.OUTAGE if found.outages else Status.NOT_FOUND, hits=(), confidence=None)
    return replace(found, hits=hits, confidence=found.confidence if hits[0] == found.hits[0] else None)
