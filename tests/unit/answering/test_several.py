"""Tests of answering several things asked at once."""

import re
from dataclasses import replace
from typing import Any

import pytest
from unit_builders import hit_of

from clara.answering.message import MAX_REPLY
from clara.answering.texts import Texts
from clara.answering.writing.extractive import ExtractiveWriter
from clara.answering.writing.frame import Framing
from clara.answering.writing.several import AskedPart, distinct, found_apart, write
from clara.retrieval.passage import Found, Hit, Query, Status


def part(name: str, share: float, outside: float = 0.0, status: Status = Status.FOUND, *hits: Hit) -> AskedPart:
    """Something asked that is about a procedure with this probability."""
    return AskedPart(f"{name}?", Found(status, "pgvector", hits, likely={name: share, "imv": 1 - share}, outside=outside))


@pytest.mark.parametrize(
    ("parts", "kept"),
    [
        pytest.param([part("nie", 0.9), part("tie", 0.85)], ["nie?", "tie?"], id="two"),
        pytest.param([part("nie", 0.9), part("nie", 0.85)], ["nie?"], id="the-same-twice"),
        pytest.param([part("nie", 0.9), part("tie", 0.84)], ["nie?"], id="one-is-unsure"),
        pytest.param([part("nie", 0.9), part("tie", 0.9, 0.21)], ["nie?"], id="one-may-be-outside"),
        pytest.param([part("nie", 0.9), part("tie", 0.9, 0.0, Status.NOT_FOUND)], ["nie?"], id="one-is-refused"),
    ],
)
def test_distinct(parts: list[AskedPart], kept: list[str]) -> None:
    """Only what is surely about a procedure of its own is answered beside others, in the order asked."""
    assert [one.asked for one in distinct(parts)] == kept


@pytest.fixture
def writer(texts: Texts, real: Any) -> ExtractiveWriter:
    """The extractive writer on three facts."""
    facts = [hit_of(name).passage for name in ("nie-plazos-01", "nie-plazos-02", "tie-plazos-01")]
    return ExtractiveWriter(Framing(texts, real.names, facts))


def test_both_are_told(writer: ExtractiveWriter, texts: Texts, real: Any) -> None:
    """Each has its name, its facts and its sources, marks are counted through, and the advice to check is said once."""
    advice = f"_{texts.say('es', 'verify')}_"
    first = part("nie", 1.0, 0.0, Status.FOUND, hit_of("nie-plazos-01"), hit_of("nie-plazos-02", 0.9))
    second = part("tie", 1.0, 0.0, Status.FOUND, hit_of("tie-plazos-01"))
    written = write(writer, [first, second], "es", MAX_REPLY, advice)
    assert written is not None
    assert [(one.mark, one.document_id) for one in written.citations] == [("C1", "nie"), ("C2", "nie"), ("C3", "tie")]
    assert set(re.findall(r"\[(C\d)\]", written.text)) == {"C1", "C2", "C3"}
    assert written.text.count(advice) == 1
    assert written.text.index(real.names["nie"]["es"]) < written.text.index(real.names["tie"]["es"])
    assert len(written.text) <= MAX_REPLY


def test_no_room(writer: ExtractiveWriter, texts: Texts) -> None:
    """Where not every part fits, none is cut: the message is answered as one."""
    parts = [part(name, 1.0, 0.0, Status.FOUND, hit_of(f"{name}-plazos-01")) for name in ("nie", "tie")]
    assert write(writer, parts, "es", 100, f"_{texts.say('es', 'verify')}_") is None


def test_each_part_is_searched_for_as_the_whole_was() -> None:
    """Parts keep the language, the place and the rest of the query, and have no focus of their own."""
    seen: list[Query] = []

    def retrieve(query: Query) -> Found:
        seen.append(query)
        return part(query.text, 1.0).found

    whole = Query("nie tie", "clara", "es", 12, territories=("ES-MD",), focus=("tie",))
    assert [one.asked for one in found_apart(retrieve, whole, ["nie", "tie"])] == ["nie", "tie"]
    assert seen == [replace(whole, text=text, focus=()) for text in ("nie", "tie")]


@pytest.mark.parametrize(
    ("unsure", "whole", "answered"),
    [
        pytest.param({"tie": 0.5, "imv": 0.3}, {"nie": 0.8, "tie": 0.15, "imv": 0.05}, ["nie", "tie"], id="both-may-mean-it"),
        pytest.param({"tie": 0.5, "imv": 0.3}, {"nie": 0.8, "tie": 0.14, "imv": 0.06}, ["nie"], id="the-whole-hardly"),
        pytest.param({"tie": 0.34, "imv": 0.33, "nie": 0.13}, {"nie": 0.5, "tie": 0.5}, ["nie"], id="the-part-hardly"),
        pytest.param({"tie": 0.6}, {"nie": 0.5, "tie": 0.5}, ["nie"], id="about-nothing-held"),
        pytest.param({}, {"nie": 0.5, "tie": 0.5}, ["nie"], id="nothing-known"),
    ],
)
def test_unsure_part(unsure: dict[str, float], whole: dict[str, float], answered: list[str]) -> None:
    """A part that is unsure alone is looked for again as about what the part and the whole message may both mean."""
    asked = Query("nie y eso", "clara", "es", 12, focus=("y eso",))
    seen: list[Query] = []

    def retrieve(query: Query) -> Found:
        seen.append(query)
        if query == asked:
            return Found(Status.FOUND, "pgvector", likely=whole, outside=0.0)
        if query.text == "nie" or query.subject:
            return part(query.subject or "nie", 1.0).found
        return Found(Status.NOT_FOUND, "pgvector", likely=unsure, outside=1 - sum(unsure.values()))

    found = found_apart(retrieve, asked, ["nie", "y eso"])
    assert [next(iter(one.found.likely)) for one in found] == answered
    assert [query.text for query in seen[:3]] == ["nie", "y eso", "nie y eso"]
