"""Tests of searching collections in phases."""

import math
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from unit_builders import hit_of

from clara.retrieval.options.composition import (
    CLARA,
    DEVMATRIX,
    Gathered,
    MissingThresholdError,
    Phase,
    Relaxation,
    phased,
    phases_of,
)
from clara.retrieval.passage import Query
from clara.retrieval.ports import IndexUnavailableError

NAMES = ("curated", "project_code", "standards")
QUERY = Query("who checks the token?", "code", limit=10, vector=(0.6, 0.8))


class Index:
    """Collections as lists of cosines, the best fused score first; notes what it was asked."""

    def __init__(self, **collections) -> None:
        self.asked = []
        self.hits = {
            name: [
                replace(hit_of(f"{name}-s-{place}", score=1 / place, collection=name), cosine=cosine)
                for place, cosine in enumerate(cosines, start=1)
            ]
            for name, cosines in collections.items()
        }

    def search(self, query):
        self.asked.append(query)
        (name,) = query.collections
        return self.hits.get(name, [])[: query.limit]


def ids(gathered):
    return [hit.passage.id for hit in gathered.hits]


@pytest.mark.parametrize(
    ("curated", "project", "asked"),
    [
        (10, 0, {"curated": 10}),
        (7, 0, {"curated": 10}),
        (6, 0, {"curated": 10, "standards": 4}),
        (5, 0, {"curated": 10, "standards": 4}),
        (4, 3, {"curated": 10, "project_code": 10}),
        (4, 2, {"curated": 10, "project_code": 10, "standards": 4}),
        (0, 0, {"curated": 10, "project_code": 10, "standards": 4}),
    ],
)
def test_a_phase_is_asked_only_when_needed(curated, project, asked) -> None:
    """Of ten wanted, the second collection is asked below five hits, the third for a third below seven."""
    index = Index(curated=[0.9] * curated, project_code=[0.9] * project, standards=[0.9] * 9)
    phased(index.search, DEVMATRIX)(QUERY)
    assert {query.collections[0]: query.limit for query in index.asked} == asked


def test_every_phase_has_the_same_question() -> None:
    """Each search carries the query's own vector, filters and all else; only collection and limit are its own."""
    index = Index()
    query = replace(QUERY, filters={"language": ("python",)}, exact=True)
    phased(index.search, DEVMATRIX)(query)
    assert index.asked == [
        replace(query, collections=(name,), limit=limit) for name, limit in zip(NAMES, (10, 10, 4), strict=True)
    ]
    assert all(asked.vector is query.vector for asked in index.asked)


def test_what_is_too_much_is_cut() -> None:
    """Where two collections together bring more than the limit, the nearest of both are kept."""
    index = Index(curated=[0.7] * 4, project_code=[0.8] * 9 + [0.6])
    gathered = phased(index.search, DEVMATRIX)(QUERY)
    assert [hit.cosine for hit in gathered.hits] == [0.8] * 9 + [0.7]
    assert gathered.passed == {"curated": 4, "project_code": 10}


@pytest.mark.parametrize("limit", range(1, 101))
def test_a_third_is_at_least_one(limit) -> None:
    """A third of the limit is rounded up, so that every phase asks for something."""
    index = Index()
    phased(index.search, DEVMATRIX)(replace(QUERY, limit=limit))
    assert index.asked[-1].limit == -(-limit // 3)


def test_each_collection_has_its_own_threshold() -> None:
    """A cosine of .58 is enough in the code and too little among the curated; at the threshold it passes."""
    index = Index(curated=[0.58, 0.65], project_code=[0.58, 0.54], standards=[0.58, 0.6])
    gathered = phased(index.search, DEVMATRIX)(QUERY)
    assert sorted(ids(gathered)) == ["curated-s-2", "project_code-s-1", "standards-s-2"]
    assert gathered.relaxed == {}
    assert gathered.passed == dict.fromkeys(NAMES, 1)


def test_what_was_not_compared_passes_no_threshold() -> None:
    """A hit without a cosine, or one that is no number, is left out, relaxed or not."""
    assert phased(Index(curated=[None, math.nan]).search, DEVMATRIX)(QUERY).hits == ()


def test_the_nearest_is_first() -> None:
    """Hits of several searches are ordered by cosine, because fused scores compare within one search only."""
    index = Index(curated=[0.7, 0.9], project_code=[0.8])
    gathered = phased(index.search, DEVMATRIX)(QUERY)
    assert ids(gathered) == ["curated-s-2", "project_code-s-1", "curated-s-1"]


def test_trusted_collections_may_be_first() -> None:
    """In the order of the phases, an earlier collection stands first, each with its own fused order."""
    index = Index(curated=[0.7, 0.9], project_code=[0.8])
    gathered = phased(index.search, DEVMATRIX, order="phase")(QUERY)
    assert ids(gathered) == ["curated-s-1", "curated-s-2", "project_code-s-1"]


@pytest.mark.parametrize(
    ("curated", "project", "steps", "found"),
    [
        (0.53, 0.4, 1, ["curated-s-1"]),
        (0.5, 0.45, 1, ["project_code-s-1"]),
        (0.5, 0.4, 2, ["curated-s-1", "project_code-s-1"]),
        (0.31, 0.2, 4, ["curated-s-1"]),
    ],
    ids=["first", "second", "both", "floor"],
)
def test_thresholds_are_lowered_together(curated, project, steps, found) -> None:
    """When nothing passed, every threshold is taken times .8 until something does, never under .3, and that is marked."""
    index = Index(curated=[curated], project_code=[project])
    gathered = phased(index.search, DEVMATRIX)(QUERY)
    assert ids(gathered) == found
    assert gathered.relaxed == pytest.approx({phase.name: max(0.3, phase.threshold * 0.8**steps) for phase in DEVMATRIX})
    assert len(index.asked) == len(NAMES)


@pytest.mark.parametrize("relaxation", [Relaxation(), None], ids=["under-the-floor", "off"])
def test_nothing_is_nothing(relaxation) -> None:
    """Under the floor, or where thresholds are firm, nothing is found, and no lowered threshold is claimed."""
    cosines = [0.29] if relaxation else [0.64]
    gathered = phased(Index(curated=cosines).search, DEVMATRIX, relaxation)(QUERY)
    assert gathered == Gathered(passed=dict.fromkeys(NAMES, 0))


def test_nothing_is_lowered_while_one_collection_answers() -> None:
    """A single hit anywhere keeps all thresholds as they are."""
    gathered = phased(Index(curated=[0.64], standards=[0.6]).search, DEVMATRIX)(QUERY)
    assert (ids(gathered), gathered.relaxed) == (["standards-s-1"], {})


def test_a_threshold_under_the_floor_is_not_raised() -> None:
    """Relaxing leaves a collection alone whose threshold is below the floor already."""
    phases = (Phase("low", 0.2), Phase("high", 0.8))
    gathered = phased(Index(low=[0.1], high=[0.7]).search, phases)(QUERY)
    assert (ids(gathered), gathered.relaxed) == (["high-s-1"], {"high": pytest.approx(0.64)})


def test_a_passage_counts_once() -> None:
    """A passage that two phases bring up is one hit, the first one's."""
    index = Index(curated=[0.7])
    index.hits["project_code"] = [replace(index.hits["curated"][0], cosine=0.9)]
    gathered = phased(index.search, DEVMATRIX)(QUERY)
    assert [hit.cosine for hit in gathered.hits] == [0.7]
    assert gathered.passed == {"curated": 1, "project_code": 0, "standards": 0}


@pytest.mark.parametrize(
    ("collections", "asked"),
    [(("standards",), ["standards"]), (("standards", "curated"), ["curated", "standards"]), (("x",), [])],
)
def test_a_collection_left_out_is_not_asked(collections, asked) -> None:
    """A query for some collections is never answered from another."""
    index = Index(curated=[0.7] * 6, project_code=[0.7], standards=[0.7])
    phased(index.search, DEVMATRIX)(replace(QUERY, collections=collections))
    assert [query.collections[0] for query in index.asked] == asked


def test_an_outage_is_no_miss() -> None:
    """When the index cannot be asked, that is told, also after a collection that answered."""

    def search(query):
        if query.collections == ("project_code",):
            raise IndexUnavailableError("gone")
        return []

    with pytest.raises(IndexUnavailableError):
        phased(search, DEVMATRIX)(QUERY)


COSINES = st.lists(st.none() | st.floats(-1, 1), max_size=40)


@given(
    curated=COSINES,
    project_code=COSINES,
    standards=COSINES,
    limit=st.integers(1, 100),
    order=st.sampled_from(["cosine", "phase"]),
)
def test_bounds_hold_for_any_index(curated, project_code, standards, limit, order) -> None:
    """Never more hits than the limit, none twice, none under the threshold used or the floor, no collection asked twice."""
    index = Index(curated=curated, project_code=project_code, standards=standards)
    gathered = phased(index.search, DEVMATRIX, order=order)(replace(QUERY, limit=limit))
    assert len(gathered.hits) <= limit
    assert max(Counter(ids(gathered)).values(), default=1) == 1
    usual = {phase.name: phase.threshold for phase in DEVMATRIX}
    assert all(hit.cosine >= {**usual, **gathered.relaxed}[hit.passage.collection] for hit in gathered.hits)
    assert max(Counter(query.collections for query in index.asked).values()) == 1
    assert min(gathered.relaxed.values(), default=0.3) >= 0.3
    if gathered.hits == ():
        asked = {query.collections[0]: query.limit for query in index.asked}
        assert not [hit for name in asked for hit in index.hits[name][: asked[name]] if (hit.cosine or 0.0) >= 0.3]


def test_thresholds_are_handed_in() -> None:
    """The phases of other collections follow the same rule with their own thresholds."""
    phases = phases_of(CLARA, {"curado": 0.86, "normativa": 0.85, "comun": 0.87, "other": 0.1})
    assert phases == (
        Phase("curado", 0.86),
        Phase("normativa", 0.85, below=0.5),
        Phase("comun", 0.87, share=1 / 3, below=0.7),
    )
    assert [phase.below for phase in DEVMATRIX] == [1.0, 0.5, 0.7]


def test_a_missing_threshold_is_named() -> None:
    """A collection nobody calibrated is refused by name."""
    with pytest.raises(MissingThresholdError, match="collection 'comun' has no threshold: calibrate it"):
        phases_of(CLARA, {"curado": 0.86, "normativa": 0.85})


@pytest.mark.parametrize(
    "make",
    [
        lambda: Phase("a", 1.1),
        lambda: Phase("a", math.nan),
        lambda: Phase("a", 0.5, share=0),
        lambda: Phase("a", 0.5, share=1.5),
        lambda: Relaxation(step=1),
        lambda: Relaxation(step=0),
        lambda: Relaxation(floor=0),
    ],
    ids=["threshold", "nan", "no-share", "share", "no-step", "all-at-once", "no-floor"],
)
def test_senseless_settings_are_refused(make) -> None:
    """Numbers with which a phase could never end or never ask fail when they are made."""
    with pytest.raises(ValueError, match="give"):
        make()
