"""Tests of the real questions of the evaluation: their number, their spread, and that nothing was trained on them."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable

import numpy as np
import pytest

from clara.knowledge.catalogue import Catalogue, read_catalogue
from clara.knowledge.keyword_tier import NamedProcedures
from clara.language.tokens import words
from clara.quality.dataset import KnownIds, Question, halves, read_questions
from clara.settings import resources

EVALUATION = resources() / "eval"
CATEGORIES = frozenset(
    [
        "basic_info",
        "requisitos",
        "documentos",
        "plazos",
        "cuantias",
        "como_solicitar",
        "acronyms",
        "colloquial",
        "territorial",
        "negative",
        "multi_tramite",
        "edge_case",
        "cross_lingual",
    ]
)
# From this share of common trigrams on, two questions are the same one in other spelling, or with a word changed.
NEARLY_EQUAL = 0.7


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    """The real catalogue."""
    return read_catalogue(resources() / "data", with_questions=True)


@pytest.fixture(scope="module")
def questions(catalogue: Catalogue) -> list[Question]:
    """The real questions, read without a fault."""
    procedures = catalogue.procedures
    known = KnownIds(
        sections={name: frozenset(section.id for section in one.sections) for name, one in procedures.items()},
        facts=frozenset(fact.id for one in procedures.values() for fact in one.facts),
        territories=frozenset(catalogue.places.by_code),
    )
    return read_questions(EVALUATION / "clara" / "queries.jsonl", EVALUATION / "schema" / "query.schema.json", known)


def test_halves(questions: list[Question]) -> None:
    """There are 236 questions, 118 to tune on and 118 to judge by, as their digests have it."""
    assert Counter(question.split for question in questions) == {"dev": 118, "test": 118}
    sides = halves(question.query for question in questions)
    assert [question.id for question in questions if question.split != sides[question.query]] == []


def test_every_procedure_is_asked_about(questions: list[Question], catalogue: Catalogue) -> None:
    """Each procedure is expected by five questions or more, here or among the needs."""
    needs = [json.loads(line) for line in (EVALUATION / "answers" / "needs.jsonl").read_text("utf-8").splitlines()]
    expected = Counter(document for question in questions for document in question.documents)
    expected += Counter(document for need in needs for document in need["expected"])
    assert {name: expected[name] for name in catalogue.procedures if expected[name] < 5} == {}


def test_negatives(questions: list[Question]) -> None:
    """At least 25 questions must be refused; seven of the first 34 are about what is held by now."""
    assert sum(not question.in_scope for question in questions) >= 25


def test_procedures_are_not_named(questions: list[Question], catalogue: Catalogue) -> None:
    """At least 60 questions name none of the procedures that they are about: no list of names answers them."""
    named = NamedProcedures(catalogue)
    unnamed = [
        question for question in questions if question.in_scope and not question.documents & named.find(question.query).keys()
    ]
    assert len(unnamed) >= 60


def test_languages(questions: list[Question]) -> None:
    """At least 40 questions are not in Spanish."""
    assert sum(question.language != "es" for question in questions) >= 40


def test_categories(questions: list[Question]) -> None:
    """Each of the thirteen categories has questions, on both sides."""
    for split in ("dev", "test"):
        assert {question.category for question in questions if question.split == split} == CATEGORIES


def trigrams(text: str) -> set[str]:
    """Cut a text without capitals, accents and marks into its runs of three characters."""
    folded = f" {' '.join(words(text))} "
    return {folded[place : place + 3] for place in range(len(folded) - 2)}


class Nearest:
    """Finds the text that shares the greatest part of its trigrams with another, by an index of who has which."""

    def __init__(self, texts: Iterable[str]) -> None:
        cut = [trigrams(text) for text in texts]
        holders: defaultdict[str, list[int]] = defaultdict(list)
        for place, grams in enumerate(cut):
            for gram in grams:
                holders[gram].append(place)
        self._holders = {gram: np.array(places) for gram, places in holders.items()}
        self._sizes = np.array([len(grams) for grams in cut])

    def find(self, text: str) -> tuple[float, int]:
        """Give the Jaccard similarity of the nearest text, and its place."""
        asked = trigrams(text)
        found = [self._holders[gram] for gram in asked & self._holders.keys()]
        shared = np.bincount(np.concatenate([*found, np.array([], dtype=int)]), minlength=len(self._sizes))
        alike = shared / (len(asked) + self._sizes - shared)
        return float(alike.max()), int(alike.argmax())


@pytest.mark.parametrize(
    ("text", "alike", "place"),
    [
        pytest.param("¿ABC?", 1.0, 0, id="equal-when-folded"),
        # " abc " has " ab", "abc", "bc "; " abd " has " ab", "abd", "bd ": one of five.
        pytest.param("abd", 1 / 5, 0, id="one-of-five"),
        pytest.param("xyz abc", 3 / 7, 0, id="three-of-seven"),
        pytest.param("qqq", 0.0, 0, id="nothing-shared"),
        pytest.param("mno", 1.0, 1, id="the-other"),
    ],
)
def test_nearest(text: str, alike: float, place: int) -> None:
    """The measure that holds the questions apart gives what comes out by hand."""
    assert Nearest(["Abc", "mnó"]).find(text) == (pytest.approx(alike), place)


def test_no_question_is_a_typical_one(questions: list[Question], catalogue: Catalogue) -> None:
    """No question of the evaluation is, or nearly is, one that Clara was taught: it would measure memory."""
    nearest = Nearest(question.text for question in catalogue.questions)
    found = sorted(((*nearest.find(question.query), question) for question in questions), key=lambda one: one[:2], reverse=True)
    told = [
        f"{alike:.3f} {question.id} [{question.split}] {question.query!r} ~ {typical.id} {typical.text!r}"
        for alike, place, question in found[:10]
        for typical in [catalogue.questions[place]]
    ]
    near = [question.id for alike, _, question in found if alike >= NEARLY_EQUAL]
    assert near == [], "\n".join(["the nearest ten pairs:", *told])
