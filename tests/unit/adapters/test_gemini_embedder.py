"""Tests of the Gemini embedder, the real SDK against a local server: what is asked, what is counted, what is not believed."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from clara.adapters.models.gemini import GeminiTransport
from clara.adapters.models.gemini_embedder import GeminiEmbedder, text_pace
from clara.adapters.models.guards import CallOutcome, PatientGuard, ProviderUnavailableError
from clara.retrieval.ports import EmbedderUnavailableError
from clara_lab.stand_ins.model_server import ModelStandIn
from clara_lab.stand_ins.speech import embedding_faults, faults_of, gemini_refusal

KEY, MODEL = "test-key", "gemini-embedding-001"
# What is wrong with a vector is wrong with the last one too, so that looking at the first is not enough.
TEXTS = ["el padrón", "la tasa", "la cita"]
# These would wait out a deadline or fill the memory; the transport's own tests try them.
SLOW = {"hang", "drip-headers", "drip-body", "huge"}
NO_FAULT = {"too-long", "unfinished", "safety", "blocked", "recitation", "unknown-enum", "no-candidates", "no-text"}


@dataclass
class Gemini:
    """The embedder, the server it asks, and how many texts it said it would send."""

    embedder: GeminiEmbedder
    server: ModelStandIn
    paced: list[int] = field(default_factory=list)


@pytest.fixture(scope="module")
def served() -> Iterator[Gemini]:
    server, paced = ModelStandIn(KEY).serve(), []
    transport = GeminiTransport(KEY, deadline_seconds=30, base_url=server.url, wait=lambda _seconds: None)
    yield Gemini(GeminiEmbedder(transport, MODEL, paced.append), server, paced)
    transport.close()
    server.close()


@pytest.fixture
def gemini(served: Gemini) -> Gemini:
    served.server.requests.clear()
    served.server.faults.clear()
    served.paced.clear()
    return served


@pytest.mark.parametrize(("role", "task"), [("query", "RETRIEVAL_QUERY"), ("passage", "RETRIEVAL_DOCUMENT")])
def test_gemini_is_asked_for_vectors_of_a_size_for_a_task(gemini: Gemini, role: str, task: str) -> None:
    """Each text is a content of its own, with the task of its role and the size of the space; the name says the size."""
    gemini.embedder.embed(TEXTS[:2], role)
    (request,) = gemini.server.requests
    assert request.path == f"/v1beta/models/{MODEL}:batchEmbedContents"
    assert gemini.embedder.model == f"{MODEL}-768"
    asked = [{key: part[key] for key in ("model", "taskType", "outputDimensionality")} for part in request.document["requests"]]
    assert asked == [{"model": f"models/{MODEL}", "taskType": task, "outputDimensionality": 768}] * 2
    assert [part["content"]["parts"] for part in request.document["requests"]] == [[{"text": text}] for text in TEXTS[:2]]


def test_batches_hold_a_hundred_texts_and_the_quota_counts_texts(gemini: Gemini) -> None:
    """205 texts, five of them blank, are two requests that cost 100 each; order is kept across them."""
    texts = [f"palabra{number}" for number in range(200)]
    mixed = ["", *texts[:100], " \n", "\x00", *texts[100:], "\u200b", "\t"]
    vectors = gemini.embedder.embed(mixed, "passage")
    assert [len(request.document["requests"]) for request in gemini.server.requests] == gemini.paced == [100, 100]
    assert [place for place, vector in enumerate(vectors) if not any(vector)] == [0, 101, 102, 203, 204]
    assert vectors[103] == gemini.embedder.embed(["palabra100"], "passage")[0]


def test_what_is_blank_is_not_sent(gemini: Gemini) -> None:
    """Texts with nothing to embed cost no request."""
    assert not any(map(any, gemini.embedder.embed(["", " \t\n", "\x00"], "query")))
    assert gemini.embedder.embed([], "query") == []
    assert gemini.server.requests == []


def test_a_text_is_sent_as_far_as_the_model_reads(gemini: Gemini) -> None:
    """What no model reads is not sent, and neither is what cannot be."""
    gemini.embedder.embed(["x\ud800\x00y " + "palabra " * 10_000], "passage")
    (request,) = gemini.server.requests
    (part,) = request.document["requests"][0]["content"]["parts"]
    assert part["text"].startswith("x? y palabra")
    assert len(part["text"]) <= 8_000


FAULTS = {
    # Numerals as texts are numbers to the SDK, and to us.
    **{name: fault for name, fault in embedding_faults(len(TEXTS)).items() if name != "texts"},
    **{name: fault for name, fault in faults_of("gemini", "failing").items() if name not in SLOW | NO_FAULT},
    "invalid": faults_of("gemini", "declining")["invalid"],
}


@pytest.mark.parametrize("name", sorted(FAULTS))
def test_a_wrong_answer_is_unavailability(gemini: Gemini, name: str) -> None:
    """No wrong number, size or length of vectors, and no refusal, passes for an embedding; no word of a text is repeated."""
    gemini.server.faults += [FAULTS[name]] * 2  # a short wait may be followed by one more try
    with pytest.raises(EmbedderUnavailableError, match=f"^{MODEL}-768 ") as refusal:
        gemini.embedder.embed(TEXTS, "passage")
    assert not any(word in str(refusal.value) for word in ("padrón", "tasa", "cita", "canary"))


def test_vectors_are_scaled_to_length_1(gemini: Gemini) -> None:
    """The API's shortened vectors are of any length; those that come out are not."""
    assert [math.hypot(*vector) for vector in gemini.embedder.embed(TEXTS, "query")] == pytest.approx([1.0] * 3)


def test_a_quota_a_minute_is_spent_evenly() -> None:
    """Batches of 100 at 600 a minute start ten seconds apart, however fast they are served; a pause earns nothing extra."""
    now, waits = [100.0], []

    def wait(seconds: float) -> None:
        waits.append(seconds)
        now[0] += seconds

    pace = text_pace(600, lambda: now[0], wait)
    for _ in range(3):
        pace(100)
        now[0] += 1
    assert waits == pytest.approx([9.0, 9.0])
    now[0] += 60
    pace(100)
    pace(1)
    assert waits == pytest.approx([9.0, 9.0, 10.0])


def busy(retry_seconds: float | None, outcome: CallOutcome = CallOutcome.FAILED) -> ProviderUnavailableError:
    return ProviderUnavailableError("busy", retry_seconds, outcome)


@pytest.mark.parametrize(
    ("failures", "waits", "answered"),
    [
        pytest.param([], [], True, id="none"),
        pytest.param([busy(45.0), busy(None), busy(1.5)], [45.0, 4.0, 1.5], True, id="as-asked-else-longer"),
        pytest.param([busy(None)] * 6, [2.0, 4.0, 8.0, 16.0, 32.0], False, id="six-times-at-most"),
        pytest.param([busy(68_940.0)], [], False, id="not-for-the-quota-of-a-day"),
        pytest.param([busy(1.0, CallOutcome.DECLINED)], [], False, id="not-when-declined"),
    ],
)
def test_patience(failures: list[ProviderUnavailableError], waits: list[float], answered: bool) -> None:
    """Work that nobody waits for waits as long as it is asked to, each time with the whole deadline, and not for ever."""
    left, waited, given = list(failures), [], []

    def call(seconds: float) -> str:
        given.append(seconds)
        if left:
            raise left.pop(0)
        return "done"

    guard = PatientGuard(wait=waited.append)
    if answered:
        assert guard(call, 60.0) == "done"
    else:
        with pytest.raises(ProviderUnavailableError, match="busy"):
            guard(call, 60.0)
    assert waited == waits
    assert set(given) == {60.0}


def test_patience_on_the_wire(gemini: Gemini) -> None:
    """A build outlasts a quota of a minute: the same batch is sent again, and counted again."""
    waited: list[float] = []
    transport = GeminiTransport(KEY, deadline_seconds=30, base_url=gemini.server.url, guard=PatientGuard(wait=waited.append))
    gemini.server.faults += [gemini_refusal(429, "RESOURCE_EXHAUSTED", "43s"), gemini_refusal(503, "UNAVAILABLE")]
    GeminiEmbedder(transport, MODEL, gemini.paced.append).embed(TEXTS, "passage")
    assert (waited, gemini.paced) == ([43.0, 4.0], [3, 3, 3])
    transport.close()
