"""Tests of dropping hits that repeat a better one."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from unit_builders import hit_of

from clara.retrieval.options.composition import deduplicated, once_each
from clara.retrieval.passage import Hit, Query

TWIN = (1.0, 0.0)


def at(degrees):
    return (math.cos(math.radians(degrees)), math.sin(math.radians(degrees)))


def hit(name, text="Pay at the counter.", vector=TWIN, **changes):
    return replace(hit_of(name, text=text, **changes), vector=vector)


def ids(hits):
    return [one.passage.id for one in hits]


def test_the_better_ranked_of_two_twins_stays() -> None:
    """What says the same as an earlier hit is dropped, and the others keep their order."""
    hits = [hit("a-b-1"), hit("c-d-1", vector=at(90)), hit("e-f-1", vector=at(5)), hit("g-h-1", vector=at(80))]
    assert ids(deduplicated(hits)) == ["a-b-1", "c-d-1"]


@pytest.mark.parametrize(("threshold", "kept"), [(0.95, 1), (0.999, 2), (1.0, 2)])
def test_only_above_the_threshold(threshold, kept) -> None:
    """At a cosine of .985 two hits are the same for a threshold of .95 and not for one of .999."""
    assert len(deduplicated([hit("a-b-1"), hit("c-b-1", vector=at(10))], threshold)) == kept


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("It costs 600 euros.", "It costs 900 euros."),
        ("It costs 1.234,56 euros.", "It costs 1.234,57 euros."),
        ("It costs 1.5 euros.", "It costs 15 euros."),
        ("Open from 9:00.", "Open from 9:30."),
        ("Until 01/02/2026.", "Until 01/03/2026."),
        ("Until 2025.", "Until 2025 or 2026."),
        ("From 1 to 5.", "From 5 to 1."),
        ("It costs money.", "It costs 5 euros."),
        ("It takes ٣ days.", "It takes ٤ days."),
    ],
)
def test_different_figures_are_different_facts(first, second) -> None:
    """Passages whose figures differ both stay, however near their vectors."""
    assert len(deduplicated([hit("a-b-1", first), hit("a-b-2", second)])) == 2


def test_figures_of_headings_count() -> None:
    """The same words under Article 21 and under Article 22 are two passages."""
    hits = [hit("a-b-1", heading=("Article 21",)), hit("a-b-2", heading=("Article 22",))]
    assert len(deduplicated(hits)) == 2
    assert len(deduplicated([hit("a-b-1", heading=("Article 21",)), hit("a-b-2", heading=("On article 21",))])) == 1


def test_the_same_figures_are_no_obstacle() -> None:
    """Two wordings with the same amounts are one."""
    assert len(deduplicated([hit("a-b-1", "It costs 1.234,56 euros."), hit("a-b-2", "You pay 1.234,56 euros.")])) == 1


def test_translations_stay_when_told_so() -> None:
    """A passage and its translation are the same by default, and two when languages are kept apart."""
    hits = [hit("a-b-1"), hit("a-b-2", language="en")]
    assert len(deduplicated(hits)) == 1
    assert len(deduplicated(hits, across_languages=False)) == 2


def test_a_dropped_hit_drops_no_other() -> None:
    """Only kept hits are compared with: the far end of a chain of likenesses stays."""
    hits = [hit("a-b-1"), hit("a-b-2", vector=at(15)), hit("a-b-3", vector=at(30))]
    assert ids(deduplicated(hits)) == ["a-b-1", "a-b-3"]


def test_a_twin_with_other_figures_hides_no_twin_with_the_same() -> None:
    """Of three near passages, the one that repeats the second is dropped although the first has other figures."""
    hits = [hit("a-b-1", "Pay 600."), hit("a-b-2", "Pay 900."), hit("a-b-3", "Pay 900!")]
    assert ids(deduplicated(hits)) == ["a-b-1", "a-b-2"]


def test_hits_without_vectors_are_kept() -> None:
    """What cannot be compared stays where it was."""
    hits = [hit("a-b-1", vector=None), hit("a-b-2"), hit("a-b-3", vector=None), hit("a-b-4")]
    assert ids(deduplicated(hits)) == ["a-b-1", "a-b-2", "a-b-3"]
    assert deduplicated([]) == []


@given(st.lists(st.tuples(st.none() | st.integers(0, 360), st.integers(0, 2)), max_size=15))
def test_what_is_dropped_has_a_kept_twin(drawn) -> None:
    """Kept hits are a part of the list in its order; each dropped one has an earlier kept twin with the same figure."""
    hits = [
        hit(f"doc-s-{place:02}", f"Pay {figure}.", None if angle is None else at(angle))
        for place, (angle, figure) in enumerate(drawn)
    ]
    kept = deduplicated(hits)
    assert kept == [one for one in hits if one in kept]
    for dropped in (one for one in hits if one not in kept):
        earlier = [one for one in kept if one.passage.id < dropped.passage.id and one.vector is not None]
        assert any(one.passage.text == dropped.passage.text and np.dot(one.vector, dropped.vector) > 0.95 for one in earlier)


def test_of_what_was_cut_from_one_text_the_best_stays() -> None:
    """Twice as many are asked for, so that the list is full; what has no parent stands for itself."""
    parents = {"a-f-0": "f", "a-f-1": "f", "a-g-0": "g", "a-g-1": "g", "a-h-0": None}
    asked = []

    def search(query: Query) -> list[Hit]:
        asked.append(query.limit)
        return [hit(name, metadata={"parent_id": parent} if parent else {}) for name, parent in parents.items()][: query.limit]

    assert ids(once_each(search)(Query("x", "code", limit=3))) == ["a-f-0", "a-g-0", "a-h-0"]
    assert ids(once_each(search)(Query("x", "code", limit=2))) == ["a-f-0", "a-g-0"]
    once_each(search)(Query("x", "code", limit=80))
    assert asked == [6, 4, 100]
