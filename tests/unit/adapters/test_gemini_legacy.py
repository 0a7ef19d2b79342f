"""Tests of embedding through the SDK that Google has ended, where it is installed: what is asked, and what is not believed."""

from collections.abc import Iterator
from time import perf_counter
from traceback import format_exception
from typing import Any

import pytest

from clara.adapters.models.guards import CallOutcome, PatientGuard, ProviderUnavailableError
from clara.container import Container
from clara.retrieval.ports import EmbedderUnavailableError
from clara.settings import Settings
from clara_lab.stand_ins.model_server import ModelStandIn
from clara_lab.stand_ins.speech import embedding_faults, faults_of, gemini_refusal

client = pytest.importorskip(
    "clara.adapters.models.gemini_legacy", reason="needs pip install 'clara-tramites[gemini-legacy]'", exc_type=ImportError
)
embedders = pytest.importorskip("clara.adapters.models.gemini_legacy", exc_type=ImportError)

KEY, MODEL, TEXTS = "test-key", "gemini-embedding-001", ["el padrón", "la tasa", "la cita"]
ENDLESS = {"hang", "drip-headers", "drip-body"}
# Answers without vectors, each as good as the other.
SAME = {"too-long", "unfinished", "safety", "blocked", "recitation", "unknown-enum", "no-text", "huge"}


@pytest.fixture(scope="module")
def server() -> Iterator[ModelStandIn]:
    served = ModelStandIn(KEY).serve()
    yield served
    served.close()


@pytest.fixture(autouse=True)
def _fresh(server: ModelStandIn) -> None:
    server.requests.clear()
    server.faults.clear()


@pytest.fixture
def legacy(server: ModelStandIn) -> Iterator[Any]:
    made = client.LegacyClient(KEY, deadline_seconds=20, base_url=server.url, wait=lambda _seconds: None)
    yield embedders.LegacyEmbedder(made, MODEL)
    made.close()


def test_the_same_vectors_are_asked_for(legacy: Any, server: ModelStandIn) -> None:
    """Model, size and task are those of the other SDK, so both fill the same space; the key travels in a header."""
    legacy.embed(["hola", ""], "passage")
    (request,) = server.requests
    assert request.path == f"/v1beta/models/{MODEL}:batchEmbedContents"
    (part,) = request.document["requests"]
    assert (part["content"]["parts"], part["outputDimensionality"]) == ([{"text": "hola"}], 768)
    assert part["taskType"] in (2, "RETRIEVAL_DOCUMENT")  # this SDK writes the number that the API has for it
    assert legacy.model == f"{MODEL}-768"


FAULTS = {
    **{name: fault for name, fault in embedding_faults(len(TEXTS)).items() if name != "texts"},
    **{name: fault for name, fault in faults_of("gemini", "failing").items() if name not in ENDLESS | SAME},
    "invalid": faults_of("gemini", "declining")["invalid"],
}


@pytest.mark.parametrize("name", sorted(FAULTS))
def test_a_wrong_answer_is_unavailability(legacy: Any, server: ModelStandIn, name: str) -> None:
    """No wrong vectors and no refusal pass for an embedding, and no word of a text or of an answer is repeated."""
    server.faults += [FAULTS[name]] * 2
    with pytest.raises(EmbedderUnavailableError, match=f"^{MODEL}-768 ") as refusal:
        legacy.embed(TEXTS, "passage")
    shown = "".join(format_exception(refusal.value))
    assert not any(word in shown.replace("TEXTS", "") for word in ("padrón", "la tasa", "la cita", "canary"))


@pytest.mark.parametrize("name", sorted(ENDLESS))
def test_the_deadline_is_for_the_whole_exchange(server: ModelStandIn, name: str) -> None:
    """A server that hangs or drips holds nobody longer than that."""
    server.faults.append(faults_of("gemini", "failing")[name])
    made = client.LegacyClient(KEY, deadline_seconds=0.4, base_url=server.url)
    started = perf_counter()
    with pytest.raises(EmbedderUnavailableError, match=r"did not answer within the deadline|could not be reached"):
        embedders.LegacyEmbedder(made, MODEL).embed(TEXTS, "query")
    assert perf_counter() - started < 5


def test_waits_and_refusals_are_understood(server: ModelStandIn) -> None:
    """What Gemini asks to wait is waited by whoever has patience; a bad request is declined, and a wrong key is a failure."""
    waited: list[float] = []
    server.faults.append(gemini_refusal(429, "RESOURCE_EXHAUSTED", "43s"))
    made = client.LegacyClient(KEY, deadline_seconds=20, base_url=server.url, guard=PatientGuard(wait=waited.append))
    embedders.LegacyEmbedder(made, MODEL).embed(TEXTS, "query")
    assert waited == [43.0]
    for name, outcome in (("invalid", CallOutcome.DECLINED), ("wrong-key", CallOutcome.FAILED)):
        server.faults += [{**faults_of("gemini", "failing"), **faults_of("gemini", "declining")}[name]]
        plain = client.LegacyClient(KEY, deadline_seconds=20, base_url=server.url)
        with pytest.raises(ProviderUnavailableError, match="answered 400") as caught:
            plain.ask(lambda sdk, options: sdk.batch_embed_contents({"model": f"models/{MODEL}"}, **options))
        assert caught.value.outcome is outcome
    with pytest.raises(ProviderUnavailableError, match="no time was left"):
        made.ask(lambda _sdk, _options: None, 0.0)
    for opened in (made, plain):
        opened.close()


def test_a_setting_chooses_it(server: ModelStandIn) -> None:
    """With the setting, corpora are embedded through the ended SDK, into the same vector space."""
    settings = Settings(gemini_embedding_sdk="legacy", gemini_api_key=KEY, gemini_base_url=server.url)
    services = Container(settings, None)
    made = services.embedders.filling(services.embedders.model_of("gemini"))
    assert (type(made).__name__, made.model) == ("LegacyEmbedder", f"{MODEL}-768")
    assert any(made.embed(["hola"], "passage")[0])
    services.close()
