"""Tests of the other ways to ask the same."""

from dataclasses import replace

import pytest
from term_overlap import TermOverlap, Writer, asking, code_passage, found_of, hit, vocabulary_of

from clara.retrieval.options.corrective import (
    Rewrite,
    by_feedback,
    by_keywords,
    by_kind,
    by_vocabulary,
    by_writer,
    rewrites,
)
from clara.retrieval.passage import Found, Hit, Status

CODE = vocabulary_of("code")
TRAMITES = vocabulary_of("tramites")
NOTHING = Found(Status.NOT_FOUND, "x")


@pytest.mark.parametrize(
    ("way", "text", "expected"),
    [
        pytest.param(by_keywords(TRAMITES), "hola, ¿cómo saco el NIE?", ["saco NIE"], id="keywords-keep-acronyms"),
        pytest.param(by_vocabulary(CODE), "validate it", ["validate it security check verify"], id="vocabulary-adds"),
        pytest.param(
            by_vocabulary(CODE), "validate security", ["validate security check verify"], id="vocabulary-said-already"
        ),
        pytest.param(by_vocabulary(CODE), "gadget", [], id="vocabulary-knows-nothing"),
        pytest.param(
            by_kind(CODE), "the user", ["function user", "class user", "method user", "handler user"], id="kinds-each-in-turn"
        ),
        pytest.param(by_kind(CODE), "endpoint of the user", ["handler endpoint user"], id="kind-hinted-at"),
        pytest.param(by_kind(CODE), "class model", [], id="kind-said-already"),
        pytest.param(by_kind(TRAMITES), "qué papeles para el IMV", ["documentos papeles IMV"], id="kind-of-papers"),
    ],
)
def test_ways_of_asking(way: Rewrite, text: str, expected: list[str]) -> None:
    """Each way of asking gives the texts it stands for, and none when it has nothing to say."""
    assert list(way(asking(text), found_of("a"))) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [pytest.param("the user", [], id="guessed"), pytest.param("endpoint", ["handler endpoint"], id="hinted-at")],
)
def test_kinds_where_nothing_was_found(text: str, expected: list[str]) -> None:
    """When nothing was found, no kind is guessed, for its name alone would find something; one hinted at is asked for."""
    assert list(by_kind(CODE)(asking(text), NOTHING)) == expected


def test_feedback() -> None:
    """The question is asked with title and first sentence of the best hits, and of no more than told."""
    passage = replace(code_passage("a", "First one. Second one."), heading=("Auth", "Login"))
    hits = (Hit(passage, 1.0), Hit(replace(passage, text=" \n第一句。第二句。"), 0.9), hit("c"))
    texts = list(by_feedback(2)(asking("who"), Found(Status.FOUND, "x", hits)))
    assert texts == ["who Auth Login First one.", "who Auth Login 第一句。"]


def test_feedback_on_a_miss() -> None:
    """What a miss brings along is a directory: asked for with its own words, it would be found."""
    assert list(by_feedback()(asking("who"), Found(Status.NOT_FOUND, "x", (hit("a"),)))) == []


def test_writer() -> None:
    """A writer is called once, when its first query is wanted."""
    writer = Writer("one", "two", "three")
    texts = iter(by_writer(writer, 2)(asking("who"), NOTHING))
    assert writer.asked == []
    assert list(texts) == ["one", "two"]
    assert writer.asked == [("who", 2)]


def test_all_ways_without_a_model() -> None:
    """Every way gives other texts for a question of the subject: the subject's own words come first."""
    found = TermOverlap()(asking("validate the token"))
    ways = rewrites(CODE)
    assert list(ways) == ["vocabulary", "feedback", "keywords", "kind"]
    assert all(list(way(asking("validate the token"), found)) for way in ways.values())
