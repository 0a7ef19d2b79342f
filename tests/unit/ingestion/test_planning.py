"""Tests of deciding what an ingestion changes."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from unit_builders import row_of

from clara.ingestion.journey import Plan, digest_of, plan_changes, text_digest_of
from clara.ingestion.ports import StoredDigests
from clara.retrieval.passage import Passage

FIRST, SECOND = row_of("nie-plazos-01"), row_of("nie-plazos-02", "Otro texto.")
EMPTY = StoredDigests({}, {})


def stored_of(*passages: Passage) -> StoredDigests:
    """Give the digests of a store that holds these passages."""
    return StoredDigests(
        {passage.id: digest_of(passage) for passage in passages},
        {passage.id: text_digest_of(passage) for passage in passages},
    )


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param(replace(FIRST, text="Otro."), id="text"),
        pytest.param(replace(FIRST, heading=("NIE", "otra")), id="heading"),
        pytest.param(replace(FIRST, section="otra"), id="section"),
        pytest.param(replace(FIRST, territory="ES-MD"), id="territory"),
        pytest.param(replace(FIRST, collection="otra"), id="collection"),
        pytest.param(replace(FIRST, metadata={**FIRST.metadata, "place": 2}), id="metadata"),
    ],
)
def test_digest_sees_every_field(changed: Passage) -> None:
    """Any change of a passage changes its digest."""
    assert digest_of(changed) != digest_of(FIRST)


def test_digest_ignores_the_order_of_metadata() -> None:
    """Metadata in another order is the same metadata."""
    turned = replace(FIRST, metadata=dict(reversed(FIRST.metadata.items())))
    assert digest_of(turned) == digest_of(FIRST)


def test_digest_is_stable() -> None:
    """The digest of the text is the SHA-256 of the text that is embedded, so it is the same in every run."""
    passage = Passage("a-b-01", "clara", "curado", "a", "b", ("Á", "b"), "Texto…", "es")
    assert text_digest_of(passage) == "de309131295dfb269a3ffe43af50086d3976b247913d2a1bc4e09f7aeaa46219"


@pytest.mark.parametrize(
    ("changed", "same"),
    [
        pytest.param(replace(FIRST, text="Otro."), False, id="text"),
        pytest.param(replace(FIRST, heading=("NIE", "otra")), False, id="heading"),
        pytest.param(replace(FIRST, metadata={}), True, id="metadata"),
        pytest.param(replace(FIRST, territory="ES-MD"), True, id="territory"),
    ],
)
def test_text_digest(changed: Passage, same: bool) -> None:
    """The digest of the text changes with what is embedded, heading and text, and with nothing else."""
    assert (text_digest_of(changed) == text_digest_of(FIRST)) is same


def test_digests_of_hostile_text() -> None:
    """A text that cannot be encoded has digests too."""
    hostile = replace(FIRST, text="a\ud800\x00")
    assert len(digest_of(hostile)) == len(text_digest_of(hostile)) == 64


@pytest.mark.parametrize(
    ("stored", "wanted", "expected"),
    [
        pytest.param(
            EMPTY, [FIRST, SECOND], Plan((FIRST, SECOND), frozenset({FIRST.id, SECOND.id}), frozenset(), 0), id="all-new"
        ),
        pytest.param(stored_of(FIRST, SECOND), [FIRST, SECOND], Plan((), frozenset(), frozenset(), 2), id="nothing-to-do"),
        pytest.param(EMPTY, [], Plan((), frozenset(), frozenset(), 0), id="nothing-at-all"),
        pytest.param(
            stored_of(FIRST, SECOND),
            [replace(FIRST, territory="ES-MD"), SECOND],
            Plan((replace(FIRST, territory="ES-MD"),), frozenset(), frozenset(), 1),
            id="changed-metadata-is-written-but-not-embedded",
        ),
        pytest.param(
            stored_of(FIRST, SECOND),
            [replace(FIRST, text="Nuevo."), SECOND],
            Plan((replace(FIRST, text="Nuevo."),), frozenset({FIRST.id}), frozenset(), 1),
            id="changed-text-is-written-and-embedded",
        ),
        pytest.param(stored_of(FIRST, SECOND), [SECOND], Plan((), frozenset(), frozenset({FIRST.id}), 1), id="gone-is-dropped"),
        pytest.param(stored_of(FIRST), [], Plan((), frozenset(), frozenset({FIRST.id}), 0), id="all-gone"),
        pytest.param(
            StoredDigests({FIRST.id: digest_of(FIRST)}, {}),
            [FIRST],
            Plan((FIRST,), frozenset({FIRST.id}), frozenset(), 0),
            id="vector-missing-is-embedded",
        ),
    ],
)
def test_plan(stored: StoredDigests, wanted: list[Passage], expected: Plan) -> None:
    """Only what differs is written, only what reads differently is embedded, and what is no longer wanted is dropped."""
    plan = plan_changes(stored, wanted)
    assert plan == expected
    assert plan.empty is (not expected.write and not expected.drop)


CORPORA = st.dictionaries(st.integers(1, 9), st.tuples(st.sampled_from("xyz"), st.sampled_from("uvw")), max_size=6)


def corpus_of(content: dict[int, tuple[str, str]]) -> dict[str, Passage]:
    """Make passages with these texts and territories."""
    made = [row_of(f"nie-plazos-0{place}", text, territory=where) for place, (text, where) in content.items()]
    return {passage.id: passage for passage in made}


@given(CORPORA, CORPORA)
def test_any_two_corpora(before: dict[int, tuple[str, str]], after: dict[int, tuple[str, str]]) -> None:
    """Following the plan turns any corpus into any other, with no write, no vector and no drop too many."""
    old, new = corpus_of(before), corpus_of(after)
    plan = plan_changes(stored_of(*old.values()), list(new.values()))
    result = {name: passage for name, passage in old.items() if name not in plan.drop}
    result.update({passage.id: passage for passage in plan.write})
    assert result == new
    assert {passage.id for passage in plan.write} == {name for name in new if old.get(name) != new[name]}
    assert plan.embed == {name for name in new if name not in old or old[name].text != new[name].text}
    assert plan.drop == old.keys() - new.keys()
    assert plan.kept + len(plan.write) == len(new)
    assert plan_changes(stored_of(*result.values()), list(new.values())).empty
