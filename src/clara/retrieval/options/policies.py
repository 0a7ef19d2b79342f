"""Policies around a retriever: whether to search, and whether to ask again in other words. By name, for any kind of corpus."""

from collections.abc import Callable
from pathlib import Path
from typing import Final, Literal

from clara.retrieval.options.adaptive import CORRECTIVE, SELF_REFLECTIVE, adaptive, by_confidence
from clara.retrieval.options.corrective import Enough, corrected
from clara.retrieval.options.query_rewriting import rewrites
from clara.retrieval.options.relevance import DEFAULT, E5, LENIENT, STRICT, RelevanceBounds
from clara.retrieval.options.self_rag import self_reflective
from clara.retrieval.passage import Retrieve
from clara.retrieval.profile import Profile
from clara.retrieval.vocabulary import Vocabulary, read_vocabulary

# The confidence at which no other round is asked for: answers above it were right in 99 of 100 development questions.
CONFIDENT = 0.9

Policy = Literal["none", "self_reflective", "corrective", "adaptive", "by_length"]
# What counts as relevant, by name: as measured for the bundled embedder, and the three sets of Advanced RAG.
BOUNDS: Final = {"measured": E5, "default": DEFAULT, "lenient": LENIENT, "strict": STRICT}


def subject_of(profile: Profile, data: Path) -> Vocabulary:
    """Read the words of what a corpus is about: programs, or public procedures."""
    name = "code" if profile.language == "code" else "tramites"
    return read_vocabulary(data / "vocabulary" / f"{name}.json")


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
