"""Tests of what Gemini is asked for: thinking and filters by model, translations, and what counts as its failure."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clara.adapters.models.gemini import GeminiTransport, GeminiUnavailableError, refusal_of, text_of
from clara.adapters.models.gemini_generation import GeminiTextModel, GeminiTranslator
from clara.adapters.models.guards import Breaker, CallOutcome
from clara.answering.ports import ModelUnavailableError, Prompt
from clara.retrieval.options.corrective import QueryWriterUnavailableError
from clara_lab.stand_ins.model_server import ModelStandIn
from clara_lab.stand_ins.server import Delivery, ScriptedReply
from clara_lab.stand_ins.speech import faults_of, gemini_refusal, gemini_text

SLOW = {Delivery.HANG, Delivery.DRIP_HEADERS, Delivery.DRIP_BODY}
QUESTION = "combien coûte le NIE"


@dataclass
class Gemini:
    """The server, a transport to it, and its last request."""

    server: ModelStandIn
    transport: GeminiTransport

    @property
    def asked(self) -> Any:
        return self.server.requests[-1].document


@pytest.fixture(scope="module")
def served() -> Iterator[Gemini]:
    server = ModelStandIn().serve()
    transport = GeminiTransport("any", deadline_seconds=20, base_url=server.url, wait=lambda _seconds: None)
    yield Gemini(server, transport)
    transport.close()
    server.close()


@pytest.fixture
def gemini(served: Gemini) -> Gemini:
    served.server.requests.clear()
    served.server.faults.clear()
    return served


@pytest.mark.parametrize(
    ("model", "thinking", "temperature"),
    [
        ("gemini-2.5-flash", {"thinking_budget": 0}, 0),
        ("gemini-2.5-flash-lite", {"thinking_budget": 0}, 0),
        ("gemini-2.5-pro", {"thinking_budget": 128}, 0),
        ("gemini-3-flash-preview", {"thinking_level": "LOW"}, None),
        ("gemini-2.0-flash", None, 0),
    ],
)
def test_a_model_thinks_as_little_as_it_allows(gemini: Gemini, model: str, thinking: object, temperature: object) -> None:
    """Thoughts cost time that a person waits: each family has its own way to be told so, and older ones refuse both."""
    GeminiTextModel(gemini.transport, model).write(Prompt("i", "p"), 9.0)
    wanted = gemini.asked["generationConfig"]
    assert (wanted.get("thinkingConfig"), wanted.get("temperature")) == (thinking, temperature)
    assert wanted["maxOutputTokens"] == 2_500


def test_filters_do_not_silence_people(gemini: Gemini) -> None:
    """Every filter that can be set is off: people write about violence and suicide, and need an answer."""
    GeminiTextModel(gemini.transport, "gemini-2.5-flash").write(Prompt("i", "p"), 9.0)
    assert {filter_["threshold"] for filter_ in gemini.asked["safetySettings"]} == {"BLOCK_NONE"}
    assert len(gemini.asked["safetySettings"]) == 4


@pytest.mark.parametrize(("wanted", "kind"), [(True, "application/json"), (False, None)])
def test_json_is_asked_for_where_it_is_wanted(gemini: Gemini, wanted: bool, kind: object) -> None:
    """The prompt says which form the answer has; instruction and page stay apart."""
    GeminiTextModel(gemini.transport, "gemini-2.5-flash").write(Prompt("orders", "page", json=wanted), 9.0)
    assert gemini.asked["generationConfig"].get("responseMimeType") == kind
    assert gemini.asked["systemInstruction"]["parts"] == [{"text": "orders"}]
    assert gemini.asked["contents"][0]["parts"] == [{"text": "page"}]


@pytest.mark.parametrize("name", [*faults_of("gemini", "failing"), *faults_of("gemini", "declining")])
def test_only_failures_of_the_provider_count_as_such(gemini: Gemini, name: str) -> None:
    """A blocked or over-long text, and a bad request, are the request's own; all else opens the breaker."""
    faults = {**faults_of("gemini", "failing"), **faults_of("gemini", "declining")}
    gemini.server.faults += [faults[name]] * 2  # a second one for the try that Gemini itself asks for
    with pytest.raises(ModelUnavailableError) as caught:
        GeminiTextModel(gemini.transport, "m").write(Prompt("i", "p"), 0.3 if faults[name].delivery in SLOW else 20.0)
    cause = caught.value.__cause__
    assert isinstance(cause, GeminiUnavailableError)
    assert cause.outcome is (CallOutcome.DECLINED if name in faults_of("gemini", "declining") else CallOutcome.FAILED)


def test_what_a_guard_refuses_is_unavailability_too(gemini: Gemini) -> None:
    """An open breaker looks to its caller like any other failure, and costs no request."""
    transport = GeminiTransport("any", deadline_seconds=9, base_url=gemini.server.url, guard=Breaker(failures=1))
    gemini.server.faults.append(gemini_refusal(503, "UNAVAILABLE"))
    reasons = []
    for _ in range(2):
        with pytest.raises(ModelUnavailableError) as caught:
            GeminiTextModel(transport, "m").write(Prompt("i", "p"), 9.0)
        reasons.append(str(caught.value))
    assert reasons == ["answered 503 (UNAVAILABLE)", "is kept away from after failures"]
    assert len(gemini.server.requests) == 1
    transport.close()


def translated(spanish: object, english: object) -> ScriptedReply:
    return gemini_text(json.dumps({"spanish": spanish, "english": english}))


def test_a_question_is_asked_in_spanish_then_in_english(gemini: Gemini) -> None:
    """Each query is one line without hidden characters; the question itself is not asked again."""
    translator = GeminiTranslator(gemini.transport, "gemini-2.5-flash-lite")
    gemini.server.faults += [translated(" cuánto\ncuesta\u200b el NIE ", "how much is the NIE"), translated(QUESTION, "x")]
    assert translator.write(QUESTION, 2) == ["cuánto cuesta el NIE", "how much is the NIE"]
    assert translator.write(QUESTION.upper(), 1) == ["x"]
    assert gemini.asked["contents"][0]["parts"] == [{"text": QUESTION.upper()}]


@pytest.mark.parametrize("pair", [("", "x"), ("x" * 501, "x"), (None, "x"), (["x"], "x")])
def test_what_is_no_translation_is_unavailability(gemini: Gemini, pair: tuple[object, object]) -> None:
    """An empty, endless or oddly shaped translation is not looked for."""
    gemini.server.faults.append(translated(*pair))
    with pytest.raises(QueryWriterUnavailableError, match="something else than translations"):
        GeminiTranslator(gemini.transport, "m").write(QUESTION, 2)


def test_what_says_who_somebody_is_stays_here(gemini: Gemini) -> None:
    """Numbers and names of people are hidden before a question leaves; without words or a wish nothing is asked."""
    translator = GeminiTranslator(gemini.transport, "m")
    translator.write("je m'appelle Awa Diop, NIE X1234567L, combien coûte la carte ?", 2)
    sent = json.dumps(gemini.asked, ensure_ascii=False)
    assert "combien coûte la carte" in sent
    assert not any(name in sent for name in ("Awa", "Diop", "1234567"))
    assert translator.write(" ", 2) == translator.write(QUESTION, 0) == []
    assert len(gemini.server.requests) == 1


ODD = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "candidates",
                    "content",
                    "parts",
                    "text",
                    "finishReason",
                    "promptFeedback",
                    "blockReason",
                    "error",
                    "details",
                    "@type",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


def reason_for(answer: str) -> str:
    """Give why an answer cannot be read; nothing where it can."""
    try:
        text_of(answer)
    except GeminiUnavailableError as error:
        return str(error)
    return ""


@given(ODD, st.text(max_size=30), st.integers(400, 599), st.text(max_size=10))
def test_nothing_that_is_answered_breaks_the_reading(odd: object, body: str, code: int, header: str) -> None:
    """Whatever JSON or text comes, it is a text or one short reason that repeats nothing of it."""
    for answer in (json.dumps(odd), body):
        assert len(reason_for(answer)) < 80
    refusal = refusal_of(code, None, odd, header)
    assert str(refusal) == f"answered {code}"
    assert refusal.retry_seconds is None or 0 <= refusal.retry_seconds < 1_000_000
