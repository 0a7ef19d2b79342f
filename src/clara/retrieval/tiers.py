"""A chain of retrievers: the first that finds evidence answers; an outage is passed over but never forgotten."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from clara.retrieval.passage import Found, Query, Retrieve, Status
from clara.retrieval.ports import IndexUnavailableError


@dataclass(frozen=True, slots=True)
class Tier:
    """One retriever and the name under which it is measured."""

    name: str
    retrieve: Retrieve


def tiers(chain: Sequence[Tier], on_outage: Callable[[str, IndexUnavailableError], None]) -> Retrieve:
    """Ask each tier in order; give the first FOUND, else what the last tier says.

    A tier that judged the question (its miss has a confidence) and refused it is not overruled by a simpler one: only the
    last tier is still asked, for its directory. A miss after an outage is not a miss: when a tier could not be asked and no
    other found anything, the status is OUTAGE.
    """
    if not chain:
        raise ValueError("a chain needs at least one tier")

    def ask(query: Query) -> Found:
        outages: list[str] = []
        timings: dict[str, float] = {}
        last = Found(Status.NOT_FOUND, chain[-1].name)
        for tier in chain:
            if last.confidence is not None and tier is not chain[-1]:
                continue
            try:
                found = tier.retrieve(query)
            except IndexUnavailableError as error:
                on_outage(tier.name, error)
                outages.append(tier.name)
                continue
            timings.update(found.timings_ms)
            outages += [name for name in found.outages if name not in outages]
            confidence = last.confidence if found.confidence is None else found.confidence
            trace = {**last.trace, **found.trace}  # a refusal is explained by the tier that judged, not by the last one
            told = last if found.outside is None else found
            last = replace(found, outages=tuple(outages), timings_ms=timings, confidence=confidence, trace=trace,
                           likely=told.likely, outside=told.outside)  # fmt: skip
            if found.status is Status.FOUND:
                return last
        if outages:
            return replace(last, status=Status.OUTAGE, outages=tuple(outages))
        return last

    return ask
