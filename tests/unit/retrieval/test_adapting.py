"""Tests of choosing a strategy, and of the three strategies together."""

import json
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st
from term_overlap import TermOverlap, asking, ids, vocabulary_of

from clara.retrieval.options.corrective import Enough, corrected, rewrites
from clara.retrieval.options.policies import (
    CORRECTIVE,
    SELF_REFLECTIVE,
    Complexity,
    UnknownPolicyError,
    adaptive,
    by_confidence,
    complexity,
    recommendation,
)
from clara.retrieval.options.self_rag import self_reflective
from clara.retrieval.passage import Query, Retrieve, Status
from clara.retrieval.ports import IndexUnavailableError

CODE = vocabulary_of("code")
TRAMITES = vocabulary_of("tramites")
ENOUGH = Enough(CODE, 0.8)
TEXTS = st.text(st.characters(exclude_categories=()), max_size=60)


def reflecting(search: Retrieve) -> Retrieve:
    """Wrap a retriever by Self-RAG."""
    return self_reflective(search, CODE)


def correcting(search: Retrieve) -> Retrieve:
    """Wrap a retriever by Corrective RAG."""
    return corrected(search, rewrites(CODE), stop=ENOUGH)


def both(search: Retrieve) -> Mapping[str, Retrieve]:
    """Wrap a retriever by either strategy."""
    return {SELF_REFLECTIVE: reflecting(search), CORRECTIVE: correcting(search)}


WRAPPERS = {SELF_REFLECTIVE: reflecting, CORRECTIVE: correcting}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", Complexity.LOW, id="empty"),
        pytest.param("error", Complexity.LOW, id="one-word"),
        pytest.param("authenticate user", Complexity.LOW, id="two-words"),
        pytest.param("database connection pool", Complexity.MEDIUM, id="three-words"),
        pytest.param("class method handler", Complexity.MEDIUM, id="three-exact-words"),
        pytest.param("show me everything here", Complexity.MEDIUM, id="four-plain-words"),
        pytest.param("find authenticate method with token validation", Complexity.HIGH, id="exact"),
        pytest.param("one thing or another", Complexity.HIGH, id="logic"),
        pytest.param("lines above number 30", Complexity.HIGH, id="a-number"),
    ],
)
def test_complexity(text: str, expected: Complexity) -> None:
    """More than two words are of medium complexity, more than three with something exact or logical of high."""
    assert complexity(text, CODE) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("el paro", Complexity.LOW, id="es-low"),
        pytest.param("¿puedo cobrar el paro y trabajar?", Complexity.HIGH, id="es-high"),
        pytest.param("居留", Complexity.LOW, id="zh-low"),
        pytest.param("怎么申请居留", Complexity.MEDIUM, id="zh-medium"),
        pytest.param("我没有工作但是想申请居留", Complexity.HIGH, id="zh-high"),
        pytest.param("как получить пособие, если я работаю", Complexity.HIGH, id="ru-high"),
        pytest.param("بدون عقد عمل في المدينة", Complexity.HIGH, id="ar-high"),
    ],
)
def test_complexity_in_other_languages(text: str, expected: Complexity) -> None:
    """Complexity is told in other languages too, in Chinese from pairs of ideographs."""
    assert complexity(text, TRAMITES) is expected


@pytest.mark.parametrize(
    ("text", "strategy"), [("authenticate", SELF_REFLECTIVE), ("microservices authentication pattern", CORRECTIVE)]
)
def test_automatic_strategy(text: str, strategy: str) -> None:
    """The question's length chooses the strategy, and the choice is told."""
    found = adaptive(both(TermOverlap()), CODE)(asking(text, limit=10))
    assert found.trace["strategy"]["strategy"] == strategy
    assert ("rounds" in found.trace, "decision" in found.trace) == (strategy == CORRECTIVE, strategy == SELF_REFLECTIVE)
    json.dumps(found.trace)


def test_self_reflective_preferred() -> None:
    """Self-RAG can be forced on a question that would have been corrected."""
    found = adaptive(both(TermOverlap()), CODE, prefer=SELF_REFLECTIVE)(asking("validate the user with a token"))
    assert "decision" in found.trace
    assert found.trace["strategy"] == {
        "strategy": SELF_REFLECTIVE,
        "complexity": "high",
        "confidence": 1.0,
        "reason": "asked for by the caller",
    }


def test_corrective_preferred() -> None:
    """Corrective RAG can be forced on a short question."""
    found = adaptive(both(TermOverlap()), CODE, prefer=CORRECTIVE)(asking("auth", limit=10))
    assert len(found.trace["rounds"]) == 3
    assert found.trace["strategy"]["strategy"] == CORRECTIVE


def test_recommendation() -> None:
    """A recommendation has a strategy, the complexity, a confidence that grows with the distance from the border, a reason."""
    advice = recommendation("find authenticate function", CODE)
    assert (advice.strategy, advice.complexity, advice.reason) == (CORRECTIVE, Complexity.MEDIUM, "complexity is medium")
    longer = recommendation("find authenticate function for each user of the system", CODE)
    assert 0 < (advice.confidence or 0) < (longer.confidence or 0) < 1


@pytest.mark.parametrize(
    ("names", "prefer", "message"),
    [
        pytest.param([SELF_REFLECTIVE], None, "strategy corrective is missing", id="missing"),
        pytest.param([SELF_REFLECTIVE, CORRECTIVE], "best", "prefer one of corrective, self_reflective", id="unknown"),
    ],
)
def test_unknown_strategy(names: list[str], prefer: str | None, message: str) -> None:
    """A strategy that is not there is refused when the chooser is built, and those that are there are named."""
    with pytest.raises(UnknownPolicyError, match=message):
        adaptive(dict.fromkeys(names, TermOverlap()), CODE, prefer=prefer)


# Choosing by what a first search gives


def test_good_first_search() -> None:
    """However long the question, a first search that is good enough is not corrected, and is made once."""
    search = TermOverlap(confidence=0.9)
    found = by_confidence(search, WRAPPERS, CODE, enough=ENOUGH)(asking("find authenticate method with token validation"))
    assert len(search.asked) == 1
    assert found.trace["strategy"] == {
        "strategy": SELF_REFLECTIVE,
        "complexity": "high",
        "confidence": 0.9,
        "reason": "the first search is good enough",
    }


def test_poor_first_search() -> None:
    """However short the question, a first search that is not good enough is corrected, and is not made again."""
    search = TermOverlap(confidence=0.2)
    found = by_confidence(search, WRAPPERS, CODE, enough=ENOUGH)(asking("auth"))
    assert search.asked[0].text == "auth"
    assert len(search.asked) == len({query.text for query in search.asked}) == len(found.trace["rounds"]) == 3
    assert (found.trace["strategy"]["strategy"], found.trace["strategy"]["confidence"]) == (CORRECTIVE, 0.2)


def test_no_first_search() -> None:
    """A greeting is not searched for even once."""
    search = TermOverlap()
    found = by_confidence(search, WRAPPERS, CODE, enough=ENOUGH)(asking("good morning, thanks"))
    assert (found.status, found.tier, search.asked) == (Status.NOT_FOUND, "none", [])
    assert found.trace["strategy"]["reason"] == "there is nothing to search for"


@pytest.mark.parametrize("choose", ["length", "confidence"])
def test_outage_propagates(choose: str) -> None:
    """An outage of the first search is raised."""
    search = TermOverlap(out_from=1)
    chosen = adaptive(both(search), CODE) if choose == "length" else by_confidence(search, WRAPPERS, CODE, enough=ENOUGH)
    with pytest.raises(IndexUnavailableError):
        chosen(asking("authenticate user"))


def test_missing_wrapper() -> None:
    """A strategy that is missing is named."""
    with pytest.raises(UnknownPolicyError, match="strategy self_reflective is missing"):
        by_confidence(TermOverlap(), {CORRECTIVE: correcting}, CODE, enough=ENOUGH)


# All together


def test_self_reflective_pipeline() -> None:
    """Self-RAG from question to hits: decided, searched, graded, kept."""
    found = self_reflective(TermOverlap(), CODE)(asking("find authenticate user function", limit=5))
    assert (found.status, found.trace["decision"]["should_retrieve"]) == (Status.FOUND, True)
    assert "auth.authenticate" in ids(found)
    assert all(found.trace["relevance"][name] != "not_relevant" for name in ids(found))


def test_corrective_pipeline() -> None:
    """Corrective RAG from question to hits: asked several times, merged, cut."""
    found = correcting(TermOverlap())(asking("validate user credentials", limit=2))
    assert (found.status, len(found.hits)) == (Status.FOUND, 2)
    assert len(found.trace["rounds"]) > 1


def test_adaptive_pipeline() -> None:
    """Adaptive RAG serves a short and a long question."""
    search = adaptive(both(TermOverlap()), CODE)
    for text in ("authenticate", "hash the password with a salt"):
        assert search(asking(text)).status is Status.FOUND


@pytest.mark.parametrize("text", ["zzz", "zzz yyy xxx", "zzz or yyy or xxx"])
def test_empty_results(text: str) -> None:
    """A question that nothing answers is a miss by every strategy, with no hits and no error."""
    search = TermOverlap()
    strategies = {**both(search), "adaptive": adaptive(both(search), CODE)}
    for retrieve in (*strategies.values(), by_confidence(search, WRAPPERS, CODE, enough=ENOUGH)):
        found = retrieve(asking(text))
        assert (found.hits, found.status) == ((), Status.NOT_FOUND)


def test_consistency() -> None:
    """Every strategy finds the passage that the question names."""
    search = TermOverlap()
    question = asking("authenticate user", limit=5)
    retrievers = [*both(search).values(), adaptive(both(search), CODE), by_confidence(search, WRAPPERS, CODE, enough=ENOUGH)]
    assert all("auth.authenticate" in ids(retrieve(question)) for retrieve in retrievers)


@given(TEXTS, st.integers(1, 5))
def test_any_text(text: str, limit: int) -> None:
    """No text raises, the limit holds, and the confidence of a recommendation stays within 0 and 1."""
    search = TermOverlap()
    for retrieve in (adaptive(both(search), CODE), by_confidence(search, WRAPPERS, CODE, enough=ENOUGH)):
        found = retrieve(Query(text, "code", limit=limit))
        assert len(found.hits) <= limit
        assert len(set(ids(found))) == len(found.hits)
    assert 0 <= (recommendation(text, CODE).confidence or 0) <= 1
