"""The search of a corpus whose profile asks for more than the default: a strategy, no repetitions, collections in phases."""

from collections.abc import Sequence
from dataclasses import asdict, replace

from clara.retrieval.options.deduplication import folding, once_each
from clara.retrieval.options.mmr import diversity
from clara.retrieval.options.phases import Relaxation, phased, phases_of
from clara.retrieval.options.strategies import choosing, strategy_named
from clara.retrieval.passage import Gather, Gathered, Hit, Query, Search
from clara.retrieval.profile import HYBRID, Profile

# How often thresholds are lowered when nothing passed: three steps of .98 go from the cosine that 95 of 100 right answers reach
# to below what all of them do (1,100 questions to code, prose and across languages).
RELAXED_STEPS = 3


def needs_vectors(profile: Profile) -> bool:
    """Whether hits are compared with each other, so that their vectors have to be fetched. Raises UnknownStrategyError."""
    return strategy_named(profile.strategy).needs_vectors or profile.deduplicate


def composed(profile: Profile, search: Search) -> Gather:
    """Search as a profile says; if hits have vectors, `trace["diversity"]` says how unlike each other those that hold are."""
    # The statement orders by the fused score already, and cuts where the hybrid strategy would.
    chosen = search if profile.strategy == HYBRID else choosing(search, strategy_named(profile.strategy))
    for wanted, wrap in ((profile.deduplicate, folding), (profile.once_each, once_each)):
        chosen = wrap(chosen) if wanted else chosen
    gather = _phased(profile, chosen) if profile.collections else lambda query: Gathered(tuple(chosen(query)))

    def gathered(query: Query) -> Gathered:
        found = gather(query)
        return replace(found, trace=_diversity(found.hits))

    return gathered if needs_vectors(profile) else gather


def _phased(profile: Profile, search: Search) -> Gather:
    lowest = min(profile.collections.values()) * profile.relaxing**RELAXED_STEPS
    return phased(search, phases_of(list(profile.collections), profile.collections), Relaxation(profile.relaxing, lowest))


def _diversity(hits: Sequence[Hit]) -> dict[str, dict[str, float]]:
    spread = diversity([hit for hit in hits if not hit.ended])
    return {} if spread is None else {"diversity": asdict(spread)}
