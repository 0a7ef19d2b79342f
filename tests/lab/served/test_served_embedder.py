"""Tests of embedding with a served model: both manners of asking, batches, and what becomes of one that fails."""

import json
from collections.abc import Callable, Iterator

import pytest

from clara.retrieval.ports import EmbedderUnavailableError
from clara_lab.models.clients import EmbeddingManner, ServedEmbedder
from clara_lab.models.transport import RequestLimits, ServedEndpoint, ServedTransport
from clara_lab.stand_ins.model_server import ModelStandIn
from clara_lab.stand_ins.server import Delivery, ScriptedReply
from clara_lab.stand_ins.speech import faults_of, openai_refusal

TEXTS = [f"text number {number}" for number in range(12)]


class Bench:
    """A server that wants an input_type or does not, and a transport that never sleeps."""

    def __init__(self, *, asymmetric: bool = True, concurrent: int = 1, retries: int = 2) -> None:
        self.server = ModelStandIn(asymmetric=asymmetric).serve()
        self.transport = ServedTransport(RequestLimits(10, concurrent, retries), wait=lambda _seconds: None)

    def embedder(self, *, asymmetric: bool = True, batch: int = 5) -> ServedEmbedder:
        """Connect to the server."""
        endpoint = ServedEndpoint(f"{self.server.url}/v1", "embedder", settings="EMBEDDING")
        return ServedEmbedder(self.transport, endpoint, EmbeddingManner(asymmetric, batch))


@pytest.fixture
def bench() -> Iterator[Callable[..., Bench]]:
    made: list[Bench] = []

    def make(**options: int) -> Bench:
        made.append(Bench(**options))  # type: ignore[arg-type]
        return made[-1]

    yield make
    for each in made:
        each.transport.close()
        each.server.close()


def test_it_asks_as_nim_wants_it(bench: Callable[..., Bench]) -> None:
    """An asymmetric model is told what a text is, and to cut one that is too long."""
    served = bench()
    embedder = served.embedder(batch=2)
    assert (embedder.dimensions, embedder.model) == (256, "embedder")
    served.server.requests.clear()
    embedder.embed(["a", "b", "c"], "passage")
    assert [request.document for request in served.server.requests] == [
        {"model": "embedder", "input": texts, "encoding_format": "float", "input_type": "passage", "truncate": "END"}
        for texts in (["a", "b"], ["c"])
    ]


def test_a_symmetric_model_is_told_nothing(bench: Callable[..., Bench]) -> None:
    """Query and passage are the same to it, and its vectors are another space."""
    served = bench(asymmetric=False)
    embedder = served.embedder(asymmetric=False)
    assert embedder.embed(["a"], "query") == embedder.embed(["a"], "passage")
    assert embedder.model == "embedder-symmetric"
    assert all(request.document.keys() == {"model", "input", "encoding_format"} for request in served.server.requests)


@pytest.mark.parametrize(("asymmetric", "setting"), [(True, "asymmetric"), (False, "symmetric")])
def test_the_wrong_manner_is_named_at_once(bench: Callable[..., Bench], asymmetric: bool, setting: str) -> None:
    """A model that misses input_type, or does not know it, says which EMBEDDING_MODEL_TYPE to set, before any work."""
    served = bench(asymmetric=asymmetric)
    if not asymmetric:
        served.server.faults.append(openai_refusal(400, "Unrecognized request argument supplied: input_type"))
    with pytest.raises(EmbedderUnavailableError, match=f"EMBEDDING_MODEL_TYPE={setting}$"):
        served.embedder(asymmetric=not asymmetric)


@pytest.mark.parametrize("concurrent", [1, 4])
def test_order_and_length_do_not_depend_on_batches(bench: Callable[..., Bench], concurrent: int) -> None:
    """The server answers last text first and batches end as they like: each text has the vector it has alone."""
    served = bench(concurrent=concurrent)
    embedder = served.embedder()
    together = embedder.embed(TEXTS, "query")
    assert together == [embedder.embed([text], "query")[0] for text in TEXTS]
    assert [sum(axis * axis for axis in vector) for vector in together] == pytest.approx([1.0] * 12)


@pytest.mark.parametrize(
    "fault",
    [ScriptedReply(status=429), ScriptedReply(status=500), ScriptedReply(Delivery.RESET), ScriptedReply(body=b"<html>")],
    ids=["rate", "error", "reset", "garbage"],
)
def test_a_batch_is_tried_again_for_itself(bench: Callable[..., Bench], fault: ScriptedReply) -> None:
    """DTm-6: one bad moment costs one batch one more try, and nothing else is asked twice."""
    served = bench()
    embedder = served.embedder()
    served.server.requests.clear()
    served.server.faults += [fault]
    assert len(embedder.embed(TEXTS, "query")) == 12
    assert [len(request.document["input"]) for request in served.server.requests] == [5, 5, 5, 2]
    assert served.transport.usage()["embedding"].retries == 1


def test_a_batch_that_fails_for_good_is_named(bench: Callable[..., Bench]) -> None:
    """The error says which texts are meant, so that they can be embedded one by one; the next call is served."""
    served = bench(retries=1)
    embedder = served.embedder()
    served.server.standing = ScriptedReply(status=500)
    with pytest.raises(EmbedderUnavailableError, match=r"embedder answered 500; batch 1 of 3 \(texts 2 to 6\)"):
        embedder.embed(["", *TEXTS], "query")
    served.server.standing = None
    assert len(embedder.embed(TEXTS, "query")) == 12


def made(*rows: tuple[object, object]) -> ScriptedReply:
    return ScriptedReply(body=json.dumps({"data": [{"index": index, "embedding": row} for index, row in rows]}).encode())


UNIT = [1.0] + [0.0] * 255


@pytest.mark.parametrize(
    "fault",
    [
        made((0, UNIT)),
        made((0, UNIT), (0, UNIT)),
        made((0, UNIT), (2, UNIT)),
        made((0, UNIT), (1, UNIT[:128])),
        made((0, UNIT), (1, [0.0] * 256)),
        made((0, UNIT), (1, [float("nan"), *UNIT[1:]])),
        made((0, UNIT), (1, ["1.0"] * 256)),
        made((0, UNIT), (True, UNIT)),
        made((0, UNIT), (1, "AACAPw==")),
    ],
    ids=["few", "doubled", "beyond", "short", "zero", "nan", "texts", "bool", "base64"],
)
def test_vectors_that_do_not_fit_are_refused(bench: Callable[..., Bench], fault: ScriptedReply) -> None:
    """Every text needs one vector of the promised size; nothing is guessed, converted or filled in."""
    served = bench(retries=0)
    embedder = served.embedder()
    served.server.faults.append(fault)
    with pytest.raises(EmbedderUnavailableError, match=r"gave|something else than"):
        embedder.embed(["a", "b"], "query")


def test_a_model_that_does_not_answer_is_an_error_at_the_start(bench: Callable[..., Bench]) -> None:
    """Learning the dimensions is the first request, and a wrong key shows there."""
    served = bench()
    served.server.faults.append(faults_of("openai", "lasting")["unauthorized"])
    with pytest.raises(EmbedderUnavailableError, match="set NIM_API_KEY"):
        served.embedder()
