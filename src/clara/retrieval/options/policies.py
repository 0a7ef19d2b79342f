"""Policies around a retriever: whether to search, and whether to ask again in other words. By name, for any kind of corpus."""

from collections.abc import Callable
from pathlib import Path
from typing import Literal

from clara.retrieval.options.adaptive import CORRECTIVE, SELF_REFLECTIVE, by_confidence
from clara.retrieval.options.corrective import Enough, corrected
from clara.retrieval.options.query_rewriting import rewrites
from clara.retrieval.options.relevance import E5
from clara.retrieval.options.self_rag import self_reflective
from clara.retrieval.passage import Retrieve
from clara.retrieval.profile import Profile
from clara.retrieval.vocabulary import Vocabulary, read_vocabulary

# The confidence at which no other round is asked for: answers above it were right in 99 of 100 development questions.
CONFIDENT = 0.9

Policy = Literal["none", "self_reflective", "corrective", "adaptive"]


def subject_of(profile: Profile, data: Path) -> Vocabulary:
    """Read the words of what a corpus is about: programs, or public procedures."""
    name = "code" if profile.language == "code" else "tramites"
    return read_vocabulary(data / "vocabulary" / f"{name}.json")


def by_policy(policy: Policy, retrieve: Retrieve, vocabulary: Vocabulary, confidence: float) -> Retrieve:
    """Put a policy around a retriever. `confidence` is enough to ask no more; where nobody judges it, shared words count."""
    enough = Enough(vocabulary, confidence=confidence, bounds=E5)
    match policy:
        case "self_reflective":
            return reflective(retrieve, vocabulary)
        case "corrective":
            return corrective(retrieve, vocabulary, enough)
        case "adaptive":
            return adaptive(retrieve, vocabulary, enough)
        case "none":
            return retrieve


def reflective(retrieve: Retrieve, vocabulary: Vocabulary) -> Retrieve:
    """Search only where a search is called for, and drop what does not fit the question."""
    return self_reflective(retrieve, vocabulary, E5)


def corrective(retrieve: Retrieve, vocabulary: Vocabulary, enough: Enough) -> Retrieve:
    """Ask in other words while too little was found."""
    return corrected(retrieve, rewrites(vocabulary), stop=enough)


def adaptive(retrieve: Retrieve, vocabulary: Vocabulary, enough: Enough) -> Retrieve:
    """Choose between the two by how good the first search was."""
    wrapped: dict[str, Callable[[Retrieve], Retrieve]] = {
        SELF_REFLECTIVE: lambda inner: reflective(inner, vocabulary),
        CORRECTIVE: lambda inner: corrective(inner, vocabulary, enough),
    }
    return by_confidence(retrieve, wrapped, vocabulary, enough=enough)
