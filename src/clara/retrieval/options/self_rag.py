"""Deciding whether a text needs a search at all, and how relevant each of the hits is (Self-RAG)."""

from dataclasses import asdict, dataclass, replace
from enum import StrEnum

from clara.language.tokens import length, words
from clara.retrieval.passage import Found, Hit, Query, Retrieve, Status
from clara.retrieval.vocabulary import Vocabulary


class Relevance(StrEnum):
    """How relevant a passage is, best first."""

    HIGHLY_RELEVANT = "highly_relevant"
    RELEVANT = "relevant"
    PARTIALLY_RELEVANT = "partially_relevant"
    NOT_RELEVANT = "not_relevant"


@dataclass(frozen=True, slots=True)
class RelevanceBounds:
    """What score and what coverage (0..1) each level must exceed: both for the first two levels, either for the third.

    They belong to one embedding model, as each spreads its cosines over another range. Raises ValueError when they do not
    fall from level to level.
    """

    high_score: float
    high_coverage: float
    relevant_score: float
    relevant_coverage: float
    partial_score: float
    partial_coverage: float

    def __post_init__(self) -> None:
        if not self.high_score >= self.relevant_score >= self.partial_score or self.high_score == self.partial_score:
            raise ValueError("bounds of the score must fall from high to relevant to partial; put them in that order")


# Advanced RAG states its bounds twice. Beside the enumeration (.8, .6, .4) they are comments that no rule uses and that say
# nothing of shared words; these are the ones its rules apply and its tests ran on, so these are the ones defined here.
DEFAULT = RelevanceBounds(0.5, 0.3, 0.3, 0.1, 0.1, 0.0)
# Its two variants. Nothing covers more than all of a question, so in the strict one shared words alone never suffice.
LENIENT = RelevanceBounds(0.3, 0.2, 0.2, 0.05, 0.05, 0.0)
STRICT = RelevanceBounds(0.7, 0.5, 0.5, 0.2, 0.3, 1.0)
# For multilingual-e5-small, whose cosines lie between .73 and .92 whatever is compared. Measured on 1,100 questions to prose,
# code, an encyclopedia and across languages: half of the right passages reach .88, 95 of 100 .83, and 99 of 100 .77 even where
# question and passage are in different languages; 95 of 100 passages drawn at random stay below .84. The shared words are
# bounded as in DEFAULT.
E5 = RelevanceBounds(0.88, 0.3, 0.83, 0.1, 0.77, 0.0)


@dataclass(frozen=True, slots=True)
class Graded:
    """A hit and its judgement. `confidence` (0..1) grows with similarity and shared words; it is no probability."""

    hit: Hit
    relevance: Relevance
    confidence: float


def grade(query: Query, hit: Hit, bounds: RelevanceBounds, vocabulary: Vocabulary) -> Graded:
    """Judge one hit by its cosine (its fused score where it has none) and the share of the question's words it covers.

    Where the hit has no coverage, the words that carry meaning are counted; a shared stop word says nothing.
    """
    score = hit.score if hit.cosine is None else hit.cosine
    coverage = _overlap(query, hit, vocabulary) if hit.coverage is None else hit.coverage
    span = (score - bounds.partial_score) / (bounds.high_score - bounds.partial_score)
    confidence = (_share(span) + _share(coverage)) / 2
    return Graded(hit, _level(score, coverage, bounds), confidence)


def _level(score: float, coverage: float, bounds: RelevanceBounds) -> Relevance:
    if score > bounds.high_score and coverage > bounds.high_coverage:
        return Relevance.HIGHLY_RELEVANT
    if score > bounds.relevant_score and coverage > bounds.relevant_coverage:
        return Relevance.RELEVANT
    if score > bounds.partial_score or coverage > bounds.partial_coverage:
        return Relevance.PARTIALLY_RELEVANT
    return Relevance.NOT_RELEVANT


def _overlap(query: Query, hit: Hit, vocabulary: Vocabulary) -> float:
    asked = set(words(" ".join(vocabulary.content(query.text)))) - vocabulary.stop_words
    return len(asked & set(words(hit.passage.indexed_text))) / len(asked) if asked else 0.0


def _share(value: float) -> float:
    return max(0.0, min(1.0, value))


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
