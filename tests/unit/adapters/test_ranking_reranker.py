"""Tests of the two wire formats of reranking endpoints."""

import json
from collections.abc import Iterator
from contextlib import closing

import pytest

from clara.adapters.models.endpoint_reranker import RANKING, RERANK, Endpoint, EndpointReranker, WireFormat
from clara_lab.stand_ins.model_server import ModelStandIn
from clara_lab.stand_ins.server import ScriptedReply


@pytest.fixture
def server() -> Iterator[ModelStandIn]:
    server = ModelStandIn().serve()
    yield server
    server.close()


@pytest.mark.parametrize(
    ("wire", "path", "body"),
    [
        (RANKING, "/v1/ranking", {"query": {"text": "a"}, "passages": [{"text": "b"}, {"text": "c"}], "truncate": "END"}),
        (RERANK, "/v1/rerank", {"query": "a", "documents": ["b", "c"]}),
        (WireFormat("/nim/rerank", RERANK.body), "/v1/nim/rerank", {"query": "a", "documents": ["b", "c"]}),
    ],
    ids=["ranking", "rerank", "a path of its own"],
)
@pytest.mark.parametrize(("key", "sent"), [("key", "Bearer key"), ("", None)], ids=["key", "no key"])
def test_endpoints_are_asked_in_their_format(
    server: ModelStandIn, wire: WireFormat, path: str, body: dict[str, object], key: str, sent: str | None
) -> None:
    """Path, body and bearer key are those of NVIDIA's ranking and of Cohere's rerank."""
    with closing(EndpointReranker(Endpoint(f"{server.url}/v1/", "m", 30, key, wire))) as reranker:
        assert reranker.scores("a", ["b", "c"]) == [0, 0]
    (request,) = server.requests
    assert (request.path, request.document) == (path, {"model": "m", **body})
    assert request.headers.get("authorization") == sent


def test_either_form_of_answer_is_read(server: ModelStandIn) -> None:
    """A ranking endpoint may answer in Cohere's form, with fields of its own beside."""
    results = [{"index": 1, "relevance_score": 0.9, "document": {"text": "c"}}, {"index": 0, "relevance_score": 0.1}]
    server.faults.append(ScriptedReply(body=json.dumps({"id": "x", "results": results}).encode()))
    with closing(EndpointReranker(Endpoint(server.url, "m", 30))) as reranker:
        assert reranker.scores("a", ["b", "c"]) == [0.1, 0.9]
