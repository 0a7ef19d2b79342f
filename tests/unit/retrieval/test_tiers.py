"""Tests of the chain of tiers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from unit_builders import hit_of

from clara.retrieval.passage import Found, Query, Retrieve, Status
from clara.retrieval.ports import EmbedderUnavailableError, IndexUnavailableError
from clara.retrieval.tiers import Tier, tiers

QUERY = Query("¿cuánto tarda?", "clara")
OUT = "out"
JUDGED = Found(Status.NOT_FOUND, "judged", confidence=0.2)


class Chain:
    """A chain of scripted tiers, named t0, t1, …, that notes which were asked and which outages were told."""

    def __init__(self, *outcomes: Found | Exception | Status | str) -> None:
        self.asked: list[str] = []
        self.told: list[tuple[str, Exception]] = []
        self.tiers = [Tier(f"t{number}", self._tier(f"t{number}", outcome)) for number, outcome in enumerate(outcomes)]
        self.ask = tiers(self.tiers, lambda name, error: self.told.append((name, error)))

    def _tier(self, name: str, outcome: Found | Exception | Status | str) -> Retrieve:
        def retrieve(_query: Query) -> Found:
            self.asked.append(name)
            if outcome == OUT:
                raise IndexUnavailableError("gone")
            if isinstance(outcome, Exception):
                raise outcome
            return outcome if isinstance(outcome, Found) else Found(outcome, name)

        return retrieve


def scripted(outcome: Status | str) -> Retrieve:
    """Make a retriever that is out or gives this status."""

    def retrieve(_query: Query) -> Found:
        if outcome == OUT:
            raise IndexUnavailableError("gone")
        return Found(Status(outcome), "outer")

    return retrieve


def test_first_found_wins() -> None:
    """The first tier that finds evidence answers, and the tiers after it are not asked."""
    found = Found(Status.FOUND, "t0", (hit_of(),))
    chain = Chain(found, Status.FOUND)
    assert chain.ask(QUERY) == found
    assert chain.asked == ["t0"]


def test_miss_asks_the_next() -> None:
    """A tier that finds nothing passes the question on to the next."""
    chain = Chain(Status.NOT_FOUND, Status.FOUND)
    answer = chain.ask(QUERY)
    assert (answer.status, answer.tier, answer.outages) == (Status.FOUND, "t1", ())
    assert chain.asked == ["t0", "t1"]


def test_all_miss_gives_the_last() -> None:
    """When every tier misses, the answer is what the last one says, with its directory of what exists."""
    listing = Found(Status.NOT_FOUND, "t1", (hit_of(score=0.0),))
    assert Chain(Status.NOT_FOUND, listing).ask(QUERY) == listing


def test_outage_is_not_a_miss() -> None:
    """A miss after an outage is reported as an outage, with the tier that was out and the directory of the last."""
    listing = Found(Status.NOT_FOUND, "t2", (hit_of(score=0.0),))
    answer = Chain(OUT, Status.NOT_FOUND, listing).ask(QUERY)
    assert (answer.status, answer.tier, answer.outages, answer.hits) == (Status.OUTAGE, "t2", ("t0",), listing.hits)


def test_outage_after_a_miss() -> None:
    """A miss before an outage is no proof either: the status is OUTAGE."""
    answer = Chain(Status.NOT_FOUND, OUT).ask(QUERY)
    assert (answer.status, answer.outages) == (Status.OUTAGE, ("t1",))


def test_found_after_an_outage() -> None:
    """Evidence found after an outage stays FOUND and remembers every tier that was out."""
    answer = Chain(OUT, OUT, Status.FOUND).ask(QUERY)
    assert (answer.status, answer.tier, answer.outages) == (Status.FOUND, "t2", ("t0", "t1"))


def test_all_out() -> None:
    """When no tier can be asked, the status is OUTAGE and there are no hits."""
    answer = Chain(OUT, OUT).ask(QUERY)
    assert (answer.status, answer.outages, answer.hits) == (Status.OUTAGE, ("t0", "t1"), ())


@pytest.mark.parametrize(
    "error",
    [
        pytest.param(IndexUnavailableError("no server"), id="index"),
        pytest.param(EmbedderUnavailableError("no model"), id="embedder"),
    ],
)
def test_outage_is_told(error: IndexUnavailableError) -> None:
    """Each outage is told at once, with the tier's name and the error."""
    chain = Chain(error, Status.FOUND)
    chain.ask(QUERY)
    assert chain.told == [("t0", error)]


def test_other_errors_propagate() -> None:
    """An error that is no outage is a fault of the program and is not swallowed."""
    chain = Chain(ZeroDivisionError("a bug"), Status.FOUND)
    with pytest.raises(ZeroDivisionError):
        chain.ask(QUERY)
    assert chain.told == []


def test_empty_chain_is_refused() -> None:
    """A chain without tiers is refused when it is built, not when it is asked."""
    with pytest.raises(ValueError, match="at least one tier"):
        tiers([], lambda _tier, _error: None)


def test_query_reaches_every_tier() -> None:
    """Every tier gets the question unchanged."""
    seen: list[Query] = []

    def listen(query: Query) -> Found:
        seen.append(query)
        return Found(Status.NOT_FOUND, "t")

    tiers([Tier("a", listen), Tier("b", listen)], lambda _tier, _error: None)(QUERY)
    assert seen == [QUERY, QUERY]


def test_timings_of_all_tiers() -> None:
    """The answer has the timings of every tier that was asked."""
    first = Found(Status.NOT_FOUND, "t0", timings_ms={"embed": 1.0, "search": 2.0})
    second = Found(Status.FOUND, "t1", timings_ms={"lookup": 3.0})
    assert Chain(first, second).ask(QUERY).timings_ms == {"embed": 1.0, "search": 2.0, "lookup": 3.0}


@pytest.mark.parametrize(
    ("inner", "after", "expected"),
    [
        pytest.param([OUT, Status.FOUND], [], (Status.FOUND, ("t0",)), id="inner-finds"),
        pytest.param([OUT, Status.NOT_FOUND], [Status.FOUND], (Status.FOUND, ("t0",)), id="outer-finds"),
        pytest.param([OUT, Status.NOT_FOUND], [Status.NOT_FOUND], (Status.OUTAGE, ("t0",)), id="nobody-finds"),
        pytest.param([OUT, OUT], [Status.NOT_FOUND], (Status.OUTAGE, ("t0", "t1")), id="whole-inner-chain-out"),
        pytest.param([OUT, Status.NOT_FOUND], [OUT], (Status.OUTAGE, ("t0", "outer0")), id="both-out"),
        pytest.param([Status.NOT_FOUND], [Status.NOT_FOUND], (Status.NOT_FOUND, ()), id="no-outage"),
    ],
)
def test_chain_in_a_chain(
    inner: list[Status | str], after: list[Status | str], expected: tuple[Status, tuple[str, ...]]
) -> None:
    """The outages of a chain inside a chain are kept, so that a miss after them is no miss."""
    nested = Chain(*inner)
    rest = [Tier(f"outer{number}", scripted(outcome)) for number, outcome in enumerate(after)]
    answer = tiers([Tier("nested", nested.ask), *rest], lambda _tier, _error: None)(QUERY)
    assert (answer.status, answer.outages) == expected


def test_repeated_outage_is_named_once() -> None:
    """A tier that two inner chains found out is named once."""
    chains = [Tier("first", Chain(OUT, Status.NOT_FOUND).ask), Tier("second", Chain(OUT, Status.FOUND).ask)]
    assert tiers(chains, lambda _tier, _error: None)(QUERY).outages == ("t0",)


def test_chain_can_be_asked_again() -> None:
    """An outage during one question does not stick to the next one."""
    state = {"out": True}

    def flaky(_query: Query) -> Found:
        if state["out"]:
            raise IndexUnavailableError("gone")
        return Found(Status.NOT_FOUND, "t0")

    ask = tiers([Tier("t0", flaky)], lambda _tier, _error: None)
    assert ask(QUERY).status is Status.OUTAGE
    state["out"] = False
    assert ask(QUERY) == Found(Status.NOT_FOUND, "t0")


def test_judged_miss_is_not_overruled() -> None:
    """What a tier judged and refused is not asked of simpler ones; the last still gives its directory."""
    listing = Found(Status.NOT_FOUND, "t3", (hit_of(score=0.0),))
    chain = Chain(JUDGED, Status.FOUND, Status.FOUND, listing)
    answer = chain.ask(QUERY)
    assert (answer.status, answer.tier, answer.hits, answer.confidence) == (Status.NOT_FOUND, "t3", listing.hits, 0.2)
    assert chain.asked == ["t0", "t3"]


def test_unjudged_miss_is_passed_on() -> None:
    """A miss without a confidence judged nothing, and the next tier is asked."""
    chain = Chain(Status.NOT_FOUND, JUDGED, Status.FOUND, Status.NOT_FOUND)
    assert chain.ask(QUERY).confidence == JUDGED.confidence
    assert chain.asked == ["t0", "t1", "t3"]


def test_judged_miss_alone() -> None:
    """A chain of one tier gives its judged miss as it is."""
    assert Chain(JUDGED).ask(QUERY) == JUDGED


def test_judged_miss_after_an_outage() -> None:
    """What a simpler tier refused while a better one was out is an outage: nothing is known about the better one."""
    chain = Chain(OUT, JUDGED, Status.FOUND, Status.NOT_FOUND)
    answer = chain.ask(QUERY)
    assert (answer.status, answer.outages, answer.confidence) == (Status.OUTAGE, ("t0",), 0.2)
    assert chain.asked == ["t0", "t1", "t3"]


def test_judged_evidence() -> None:
    """Evidence keeps its confidence."""
    found = Found(Status.FOUND, "t1", (hit_of(),), confidence=0.9)
    assert Chain(Status.NOT_FOUND, found).ask(QUERY) == found


def test_judged_miss_inside_a_chain() -> None:
    """A chain inside a chain hands its judgement on, so the outer one asks its last tier only."""
    nested, outer = Chain(JUDGED, Status.NOT_FOUND), Chain(Status.NOT_FOUND, Status.NOT_FOUND)
    answer = tiers([Tier("nested", nested.ask), *outer.tiers], lambda _tier, _error: None)(QUERY)
    assert (answer.tier, answer.confidence) == ("t1", 0.2)
    assert outer.asked == ["t1"]


def reached(outcomes: list[Found | Status | str]) -> list[int]:
    """Give which tiers must be asked: up to the first that finds or judges, and after a judgement the last."""
    for place, outcome in enumerate(outcomes):
        if outcome is Status.FOUND:
            return list(range(place + 1))
        if outcome is JUDGED:
            return sorted({*range(place + 1), len(outcomes) - 1})
    return list(range(len(outcomes)))


@given(st.lists(st.sampled_from([Status.FOUND, Status.NOT_FOUND, JUDGED, OUT]), min_size=1, max_size=6))
def test_any_chain(outcomes: list[Found | Status | str]) -> None:
    """Whatever the chain: the first FOUND answers, outages before it are named, and NOT_FOUND is claimed only without any."""
    chain = Chain(*outcomes)
    answer = chain.ask(QUERY)
    asked = reached(outcomes)
    outages = tuple(f"t{number}" for number in asked if outcomes[number] == OUT)
    miss = Status.OUTAGE if outages else Status.NOT_FOUND
    expected = Status.FOUND if outcomes[asked[-1]] is Status.FOUND else miss
    assert (answer.status, answer.outages) == (expected, outages)
    assert chain.asked == [f"t{number}" for number in asked]
    assert (answer.confidence is not None) is any(outcomes[number] is JUDGED for number in asked)
    if answer.status is Status.FOUND:
        assert answer.tier == f"t{asked[-1]}"
