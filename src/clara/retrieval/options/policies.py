"""Policies around a retriever: whether to search, and whether to ask again in other words. By name, for any kind of corpus."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Final, Literal

from clara.errors import Invalid
from clara.language.tokens import length, words
from clara.retrieval.options.corrective import Enough, Stop, corrected, rewrites
from clara.retrieval.options.self_rag import DEFAULT, E5, LENIENT, STRICT, RelevanceBounds, self_reflective, should_retrieve
from clara.retrieval.passage import Found, Query, Retrieve
from clara.retrieval.profile import Profile
from clara.retrieval.vocabulary import Vocabulary, read_vocabulary

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


# The confidence at which no other round is asked for: answers above it were right in 99 of 100 development questions.
CONFIDENT = 0.9

Policy = Literal["none", "self_reflective", "corrective", "adaptive", "by_length"]
# What counts as relevant, by name: as measured for the bundled embedder, and the three sets of Advanced RAG.
BOUNDS: Final = {"measured": E5, "default": DEFAULT, "lenient": LENIENT, "strict": STRICT}


def subject_of(profile: Profile, data: Path) -> Vocabulary:
    """Read the words of what a corpus is about: programs, or public procedures."""
    return read_vocabulary(data, "code" if profile.language == "code" else "tramites")


def by_policy(
    policy: Policy, retrieve: Retrieve, vocabulary: Vocabulary, confidence: float, bounds: RelevanceBounds = E5
) -> Retrieve:
    """Put a policy around a retriever. `confidence` is enough to ask no more; where nobody judges it, shared words count.

    `bounds` say what is relevant. "adaptive" chooses between the first two by how good the first search was, "by_length" by the
    length of the question.
    """
    enough = Enough(vocabulary, confidence=confidence, bounds=bounds)
    wraps: dict[str, Callable[[Retrieve], Retrieve]] = {
        SELF_REFLECTIVE: lambda inner: self_reflective(inner, vocabulary, bounds),
        CORRECTIVE: lambda inner: corrected(inner, rewrites(vocabulary), stop=enough),
    }
    match policy:
        case "none":
            return retrieve
        case "adaptive":
            return by_confidence(retrieve, wraps, vocabulary, enough=enough)
        case "by_length":
            return adaptive({name: wrap(retrieve) for name, wrap in wraps.items()}, vocabulary)
        case _:
            return wraps[policy](retrieve)
