"""Tests of saying with each fact the facts that limit it."""

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.languages import LANGUAGES
from unit_builders import SOURCE, hit_of

from clara.answering.texts import Texts
from clara.answering.writing.extractive import ExtractiveWriter
from clara.answering.writing.frame import Framing
from clara.retrieval.passage import Hit, Passage

ROOM = 1_600


def assert_limited(passages: dict[str, Passage], said: list[str]) -> None:
    """Check that no fact is said without what limits it, nor anything twice."""
    assert len(set(said)) == len(said)
    for name in said:
        assert set(passages[name].fact.conditions) & passages.keys() <= set(said), name


def limited(name: str, *conditions: str, score: float = 1.0, size: int = 100) -> Hit:
    """Make a hit that must not be said without these others."""
    return hit_of(name, score, f"{name} " + "x" * (size - len(name) - 1), conditions=list(conditions))


def said(texts: Texts, real: Any, hits: list[Hit], *others: Hit, room: int = ROOM) -> list[str]:
    """Write from these hits, with the passages of the others to hand; give the ids of what was said, in order."""
    writer = ExtractiveWriter(Framing(texts, real.names, [hit.passage for hit in (*hits, *others)]))
    text, citations = writer.write(hits, "es", room)
    shown = re.findall(r"^• (\S+) x*(?= \[C\d+\]$)", text, re.MULTILINE)
    assert shown == [citation.passage_id for citation in citations]
    return shown


FREE, OTHER = limited("nie-plazos-08"), limited("nie-plazos-09")


@pytest.mark.parametrize(
    ("hits", "expected"),
    [
        pytest.param([limited("nie-plazos-01", FREE.passage.id)], ["01", "08"], id="one"),
        pytest.param([limited("nie-plazos-01", FREE.passage.id, OTHER.passage.id)], ["01", "08", "09"], id="two-in-order"),
        pytest.param(
            [limited("nie-plazos-01", FREE.passage.id), limited("nie-plazos-02", score=0.9)],
            ["01", "08", "02"],
            id="right-behind-its-fact",
        ),
        pytest.param(
            [limited("nie-plazos-01", FREE.passage.id), limited("nie-plazos-02", FREE.passage.id, score=0.9)],
            ["01", "08", "02"],
            id="shared-and-said-once",
        ),
        pytest.param(
            [
                limited("nie-plazos-01", "nie-plazos-03"),
                limited("nie-plazos-02", score=0.9),
                limited("nie-plazos-03", score=0.8),
            ],
            ["01", "03", "02"],
            id="found-itself-and-said-once",
        ),
        pytest.param(
            [limited("nie-plazos-02", "nie-plazos-01"), limited("nie-plazos-01", score=0.9)],
            ["02", "01"],
            id="said-behind-the-best-fact",
        ),
        pytest.param([limited("nie-plazos-01", "nie-plazos-07")], ["01"], id="not-published"),
        pytest.param([limited("nie-plazos-01")], ["01"], id="none"),
    ],
)
def test_conditions(texts: Texts, real: Any, hits: list[Hit], expected: list[str]) -> None:
    """What limits a fact is said right behind it, once, if it may be said at all."""
    assert said(texts, real, hits, FREE, OTHER) == [f"nie-plazos-{place}" for place in expected]


def test_conditions_of_conditions(texts: Texts, real: Any) -> None:
    """What limits a condition is said behind it, and two facts that limit each other are said once each."""
    second, third = limited("nie-plazos-05", "nie-plazos-06"), limited("nie-plazos-06", "nie-plazos-01")
    shown = said(texts, real, [limited("nie-plazos-01", "nie-plazos-05")], second, third)
    assert shown == ["nie-plazos-01", "nie-plazos-05", "nie-plazos-06"]


def test_conditions_are_cited(texts: Texts, real: Any) -> None:
    """A condition has its mark, its source and its date like every fact."""
    law = {**SOURCE, "url": "https://boe.example/ley", "seen_on": "2026-07-09"}
    condition = hit_of("nie-requisitos-01", 1.0, "Solo hasta diciembre.", sources=[law])
    fact = hit_of("nie-plazos-01", 1.0, "Es gratis.", conditions=["nie-requisitos-01"])
    text, citations = ExtractiveWriter(Framing(texts, real.names, [fact.passage, condition.passage])).write([fact], "es", ROOM)
    assert "• Es gratis. [C1]\n• Solo hasta diciembre. [C2]" in text
    assert "[C2] Fuente: https://boe.example/ley (comprobado el 09/07/2026)" in text
    assert [(citation.passage_id, citation.section) for citation in citations] == [
        ("nie-plazos-01", "plazos"),
        ("nie-requisitos-01", "requisitos"),
    ]


def test_dropped_together(texts: Texts, real: Any) -> None:
    """Where there is no room, a fact goes with what limits it; what another fact shares stays."""
    hits = [
        limited("nie-plazos-01", "nie-plazos-05", score=1.0),
        limited("nie-plazos-02", "nie-plazos-05", "nie-plazos-06", score=0.9),
    ]
    others = [limited("nie-plazos-05"), limited("nie-plazos-06")]
    seen = {tuple(name[-2:] for name in said(texts, real, hits, *others, room=room)) for room in range(0, 1_600, 10)}
    assert seen == {("01", "05"), ("01", "05", "02", "06")}


def test_another_fact_where_the_first_does_not_fit(texts: Texts, real: Any) -> None:
    """When the first fact does not fit with what limits it, one that does is said, never the first without its limits."""
    hits = [limited("nie-plazos-01", "nie-plazos-05", score=1.0, size=400), limited("nie-plazos-02", score=0.9, size=300)]
    condition = limited("nie-plazos-05", size=500)
    seen = {tuple(name[-2:] for name in said(texts, real, hits, condition, room=room)) for room in range(0, 1_600, 10)}
    assert seen == {("01", "05", "02"), ("01", "05"), ("02",)}


NAMES = [f"nie-plazos-0{place}" for place in range(1, 8)]


@given(
    st.lists(st.sampled_from(NAMES), min_size=1, unique=True),
    st.dictionaries(st.sampled_from(NAMES), st.lists(st.sampled_from(NAMES), max_size=3, unique=True)),
    st.integers(0, 1_600),
)
def test_never_without_conditions(texts: Texts, real: Any, found: list[str], conditions: Any, room: int) -> None:
    """Whatever limits what, and however little room: each fact comes with all that limits it, and nothing is said twice."""
    every = {name: limited(name, *conditions.get(name, ())) for name in NAMES}
    passages = {name: hit.passage for name, hit in every.items()}
    assert_limited(passages, said(texts, real, [every[name] for name in found], *every.values(), room=room))


@pytest.fixture
def writer(texts: Texts, real: Any) -> ExtractiveWriter:
    """The writer with the real texts, names and passages."""
    return ExtractiveWriter(Framing(texts, real.names, real.passages))


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_real_fact_fits(real: Any, writer: ExtractiveWriter, language: str) -> None:
    """Every real fact fits a message together with all that limits it, in every language."""
    for passage in real.passages:
        text, citations = writer.write([Hit(passage, 1.0)], language, ROOM)
        assert len(text) <= ROOM, passage.id
        assert passage.text in text
        assert citations[0].passage_id == passage.id


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_real_fact_alone_leaves_room(real: Any, texts: Texts, language: str) -> None:
    """Every real fact without limits leaves 800 characters for the notice of the first contact and notes."""
    alone = [replace(passage, fact=replace(passage.fact, conditions=())) for passage in real.passages]
    writer = ExtractiveWriter(Framing(texts, real.names, alone))
    assert {passage.id for passage in real.passages if len(writer.write([Hit(passage, 1.0)], language, 0)[0]) > 800} == set()


@pytest.mark.parametrize("language", LANGUAGES)
def test_real_sections_fit(real: Any, writer: ExtractiveWriter, language: str) -> None:
    """Whatever section was found, the text fits its room, marks and sources agree, and no fact goes without its limits."""
    passages = {passage.id: passage for passage in real.passages}
    by_section: dict[tuple[str, str], list[Hit]] = {}
    for passage in real.passages:
        hits = by_section.setdefault((passage.document_id, passage.section), [])
        hits.append(Hit(passage, 1.0 - len(hits) / 100))
    for hits in by_section.values():
        for room in (ROOM, 1_250):
            text, citations = writer.write(hits, language, room)
            assert len(text) <= room
            marks = [f"[{citation.mark}]" for citation in citations]
            assert re.findall(r"\[C\d+\]$", text, re.MULTILINE) == marks
            unwarned = "\n".join(line for line in text.splitlines() if not line.startswith("⚠️"))
            assert sorted(re.findall(r"\[C\d+\]", unwarned)) == sorted(marks * 2)
            assert_limited(passages, [citation.passage_id for citation in citations])
