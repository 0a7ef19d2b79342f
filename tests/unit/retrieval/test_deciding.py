"""Tests of deciding whether to search and what to keep."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from term_overlap import TermOverlap, asking, ids, vocabulary_of

from clara.retrieval.options.policies import BOUNDS, by_policy
from clara.retrieval.options.self_rag import STRICT, RetrievalDecision, self_reflective, should_retrieve
from clara.retrieval.passage import Found, Query, Retrieve, Status
from clara.retrieval.ports import IndexUnavailableError

CODE = vocabulary_of("code")
TRAMITES = vocabulary_of("tramites")


def giving(found: Found) -> Retrieve:
    """Make a retriever that always gives the same."""
    return lambda _query: found


@pytest.mark.parametrize("text", ["find authenticate function", "how is a token validated"])
def test_specific_query(text: str) -> None:
    """A specific question is searched for, more confidently than the base."""
    decision = should_retrieve(text, CODE)
    assert decision.should_retrieve
    assert 0.5 < decision.confidence <= 1


def test_technical_query() -> None:
    """A technical term counts for the decision, and the reason says so."""
    decision, plain = should_retrieve("handler", CODE), should_retrieve("gadget", CODE)
    assert (decision.should_retrieve, decision.reason) == (True, "a word of the subject")
    assert decision.confidence > plain.confidence
    assert plain == RetrievalDecision(should_retrieve=True, confidence=0.5, reason="something is said")


def test_search_and_grading() -> None:
    """The hits come back in order with the decision and the relevance of each."""
    found = self_reflective(TermOverlap(), CODE)(asking("authenticate user", limit=10))
    assert found.status is Status.FOUND
    assert set(ids(found)[:2]) == {"auth.authenticate", "auth.AuthHandler"}
    assert found.trace["decision"]["should_retrieve"] is True
    assert found.trace["relevance"]["auth.authenticate"] == "highly_relevant"
    json.dumps(found.trace)


def test_only_relevant_hits_stay() -> None:
    """What shares only stop words or too little is dropped; the search itself had found it."""
    search = TermOverlap()
    question = asking("where is the authenticate handler of the login", limit=10)
    raw, kept = search(question), self_reflective(search, CODE, STRICT)(question)
    assert 0 < len(kept.hits) < len(raw.hits)
    assert ids(kept) == ["auth.AuthHandler"]
    assert kept.trace["relevance"]["utils.Cache"] == "not_relevant"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param(" \n\t", id="blank"),
        pytest.param("👍🙏", id="emoji"),
        pytest.param("¿¡...!?", id="signs"),
        pytest.param("¡Hola, buenos días!", id="es"),
        pytest.param("muchísimas gracias por tu ayuda Clara", id="es-thanks"),
        pytest.param("vale, perfecto, hasta luego", id="es-goodbye"),
        pytest.param("Hello there, how are you?", id="en"),
        pytest.param("Bonjour, merci beaucoup", id="fr"),
        pytest.param("bon dia, moltes gràcies", id="ca"),
        pytest.param("oi, tudo bem? obrigada", id="pt"),
        pytest.param("buna ziua, multumesc frumos", id="ro-without-accents"),
        pytest.param("السلام عليكم، شكرا جزيلا", id="ar"),
        pytest.param("здравствуйте, спасибо большое", id="ru"),
        pytest.param("добрий день! щиро дякую", id="uk"),
        pytest.param("你好，谢谢你的帮助！", id="zh"),
    ],
)
def test_nothing_to_search_for(text: str) -> None:
    """Greetings, thanks and texts without words are not searched for, and the retriever is left alone."""
    search = TermOverlap()
    found = self_reflective(search, TRAMITES)(asking(text))
    assert (found.status, found.tier, found.hits, found.confidence) == (Status.NOT_FOUND, "none", (), None)
    assert found.trace["decision"]["should_retrieve"] is False
    assert search.asked == []


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("hola, ¿cómo pido el paro?", id="es"),
        pytest.param("buenas, el NIE", id="two-words"),
        pytest.param("gracias, ¿y cuánto cobro?", id="thanks-and-more"),
        pytest.param("hello, I need a doctor", id="en"),
        pytest.param("你好，我想申请居留", id="zh"),
        pytest.param("السلام عليكم كيف أطلب النيي", id="ar"),
        pytest.param("привет, как получить NIE", id="ru"),
        pytest.param("016", id="a-number"),
        pytest.param("ayuda", id="a-cry-for-help"),
    ],
)
def test_courtesy_does_not_hide_a_question(text: str) -> None:
    """A question with a greeting in front is a question."""
    assert should_retrieve(text, TRAMITES).should_retrieve


def test_nothing_relevant_is_a_miss() -> None:
    """When no hit is left, nothing was found, and the confidence in the first hit is gone with it."""
    hit = replace(TermOverlap()(asking("date")).hits[0], cosine=0.05, coverage=0.0)
    found = self_reflective(giving(Found(Status.FOUND, "x", (hit,), confidence=0.9)), CODE)(asking("date"))
    assert (found.status, found.hits, found.confidence) == (Status.NOT_FOUND, (), None)


def test_nothing_relevant_after_an_outage() -> None:
    """When a tier could not be asked, hits that are dropped leave an outage, no miss."""
    hit = replace(TermOverlap()(asking("date")).hits[0], cosine=0.05, coverage=0.0)
    found = self_reflective(giving(Found(Status.FOUND, "x", (hit,), outages=("pgvector",))), CODE)(asking("date"))
    assert (found.status, found.hits, found.outages) == (Status.OUTAGE, (), ("pgvector",))


@pytest.mark.parametrize("status", [Status.NOT_FOUND, Status.OUTAGE])
def test_directory_is_not_graded(status: Status) -> None:
    """What a miss or an outage brings along is a directory: it stays as it is."""
    given_ = Found(status, "directory", TermOverlap()(asking("date")).hits, outages=("x",), confidence=0.1)
    found = self_reflective(giving(given_), CODE, STRICT)(asking("gadget"))
    assert replace(found, trace={}) == given_


@pytest.mark.parametrize(("dropped", "confidence"), [pytest.param(0, None, id="first"), pytest.param(1, 0.8, id="second")])
def test_confidence_belongs_to_the_first_hit(dropped: int, confidence: float | None) -> None:
    """The confidence stays as long as the first hit, of which it speaks, stays."""
    hits = list(TermOverlap()(asking("authenticate", limit=2)).hits)
    hits[dropped] = replace(hits[dropped], cosine=0.0, coverage=0.0)
    found = self_reflective(giving(Found(Status.FOUND, "x", tuple(hits), confidence=0.8)), CODE)(asking("authenticate"))
    assert (len(found.hits), found.confidence) == (1, confidence)


def test_outage_propagates() -> None:
    """An outage is raised, never turned into a miss."""
    with pytest.raises(IndexUnavailableError):
        self_reflective(TermOverlap(out_from=1), CODE)(asking("authenticate"))


@given(st.text(st.characters(exclude_categories=()), max_size=80), st.integers(1, 5))
def test_any_text(text: str, limit: int) -> None:
    """No text raises; the decision is confident between .5 and 1 and tells nothing of the text; the limit holds."""
    found = self_reflective(TermOverlap(), CODE)(Query(text, "code", limit=limit))
    assert len(found.hits) <= limit
    assert 0.5 <= found.trace["decision"]["confidence"] <= 1


@pytest.mark.parametrize(("bounds", "kept"), [("lenient", 2), ("default", 2), ("strict", 1), ("measured", 0)])
def test_the_bounds_of_a_policy_are_chosen_by_name(bounds: str, kept: int) -> None:
    """The same hits are relevant or not by the bounds that a search names."""
    near, far = (replace(hit, coverage=0.0) for hit in TermOverlap()(asking("authenticate", limit=2)).hits)
    found = Found(Status.FOUND, "x", (replace(near, cosine=0.4), replace(far, cosine=0.2)))
    chosen = by_policy("self_reflective", giving(found), CODE, 1.0, BOUNDS[bounds])
    assert len(chosen(asking("authenticate")).hits) == kept
