"""Choosing how thoroughly to search, from the question or from what a first search gives (Adaptive RAG)."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from enum import StrEnum

from clara.errors import Invalid
from clara.language.tokens import length, words
from clara.retrieval.options.corrective import Stop
from clara.retrieval.options.self_rag import should_retrieve
from clara.retrieval.passage import Found, Query, Retrieve
from clara.retrieval.vocabulary import Vocabulary

SELF_REFLECTIVE = "self_reflective"
CORRECTIVE = "corrective"
NAMES = (SELF_REFLECTIVE, CORRECTIVE)

# Advanced RAG: high above 3 words, medium above 2.
HIGH_ABOVE = 3
MEDIUM_ABOVE = 2


class Complexity(StrEnum):
    """How much there is in a question."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


@dataclass(frozen=True, slots=True)
class Recommendation:
    """Which strategy to use and why, without the question's text.

    `confidence` (0..1) says how plain the choice is: for a choice by length, how far that is from the border between the
    strategies; for one by a first search, what that search was judged, None when nobody judged it.
    """

    strategy: str
    complexity: Complexity
    confidence: float | None
    reason: str


class UnknownPolicyError(Invalid, ValueError):
    """A strategy that was asked for does not exist, or one that is needed was not given; the message names it."""


def complexity(text: str, vocabulary: Vocabulary) -> Complexity:
    """Tell how complex a question is, from its length and whether it names exact things or joins and excludes."""
    count = length(text)
    if count > HIGH_ABOVE and _has_signs(words(text), vocabulary):
        return Complexity.HIGH
    return Complexity.MEDIUM if count > MEDIUM_ABOVE else Complexity.LOW


def _has_signs(found: list[str], vocabulary: Vocabulary) -> bool:
    if any(character.isdigit() for word in found for character in word):
        return True  # a number is always exact, whatever the subject
    return bool(vocabulary.specifics.spans(found) or vocabulary.logic.spans(found))


def recommendation(text: str, vocabulary: Vocabulary) -> Recommendation:
    """Recommend a strategy as Advanced RAG does: corrective, but for a question of two words at most."""
    level = complexity(text, vocabulary)
    strategy = SELF_REFLECTIVE if level is Complexity.LOW else CORRECTIVE
    distance = abs(length(text) - (MEDIUM_ABOVE + 0.5))
    return Recommendation(strategy, level, distance / (distance + 1), f"complexity is {level.value}")


def adaptive(strategies: Mapping[str, Retrieve], vocabulary: Vocabulary, *, prefer: str | None = None) -> Retrieve:
    """Search by the strategy recommended for the question, or always by the one preferred.

    `trace["strategy"]` is the recommendation. Raises UnknownPolicyError when a strategy is missing or unknown.
    """
    _check(strategies, prefer)

    def choosing(query: Query) -> Found:
        advice = recommendation(query.text, vocabulary)
        if prefer is not None:
            advice = replace(advice, strategy=prefer, confidence=1.0, reason="asked for by the caller")
        return _traced(strategies[advice.strategy](query), advice)

    return choosing


def by_confidence(
    retrieve: Retrieve, strategies: Mapping[str, Callable[[Retrieve], Retrieve]], vocabulary: Vocabulary, *, enough: Stop
) -> Retrieve:
    """Search once, and choose by what comes: corrective unless it is `enough` already or there is nothing to search for.

    By length, all but the shortest questions are corrected however good the first hits are: of 19,539 questions to a public
    office, 53 have two words or fewer and would be spared it. `strategies` wrap a retriever; they get one that remembers the
    first search, so that none is made twice. `trace["strategy"]` is the choice. Raises UnknownPolicyError when a strategy
    is missing, IndexUnavailableError as the retriever does.
    """
    _check(strategies, None)

    def choosing(query: Query) -> Found:
        level = complexity(query.text, vocabulary)
        if not should_retrieve(query.text, vocabulary).should_retrieve:
            advice = Recommendation(SELF_REFLECTIVE, level, 1.0, "there is nothing to search for")
            return _traced(strategies[SELF_REFLECTIVE](retrieve)(query), advice)
        first = retrieve(query)
        good = enough(query, first)
        strategy, reason = (SELF_REFLECTIVE, "is good enough") if good else (CORRECTIVE, "is not good enough")
        advice = Recommendation(strategy, level, first.confidence, f"the first search {reason}")
        return _traced(strategies[strategy](_remembering(retrieve, query, first))(query), advice)

    return choosing


def _remembering(retrieve: Retrieve, query: Query, first: Found) -> Retrieve:
    return lambda asked: first if asked == query else retrieve(asked)


def _traced(found: Found, advice: Recommendation) -> Found:
    return replace(found, trace={**found.trace, "strategy": asdict(advice)})


def _check(strategies: Mapping[str, object], prefer: str | None) -> None:
    for name in NAMES:
        if name not in strategies:
            raise UnknownPolicyError(f"strategy {name} is missing; give one under each of {', '.join(NAMES)}")
    if prefer is not None and prefer not in strategies:
        raise UnknownPolicyError(f"strategy {prefer} is unknown; prefer one of {', '.join(sorted(strategies))}")
