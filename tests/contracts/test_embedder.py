"""What every Embedder promises."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.retrieval.dict_memory import DictMemory

from clara.adapters.models.gemini import GeminiTransport
from clara.adapters.models.gemini_embedder import GeminiEmbedder
from clara.adapters.models.local import LocalEmbedder
from clara.retrieval.embedders import RememberingEmbedder, digest_of
from clara.retrieval.embedding_memory import MemorisingEmbedder
from clara.retrieval.ports import Embedder, Role
from clara_lab.models.clients import EmbeddingManner, ServedEmbedder
from clara_lab.models.transport import RequestLimits, ServedEndpoint, ServedTransport
from clara_lab.stand_ins.model_server import ModelStandIn

LOCAL = LocalEmbedder()
KNOWN = ["hola", "空", "el padrón", " \t\n", "La tasa del NIE es de 9,84 €."]
REMEMBERED = {
    digest_of(text, role): np.array(vector, dtype=np.float16)
    for role in ("query", "passage")
    for text, vector in zip(KNOWN, LOCAL.embed(KNOWN, role), strict=True)
}


def legacy_client(url: str) -> tuple[Any, Embedder] | None:
    """Open the ended SDK's client and embedder; None where the extra is not installed."""
    try:
        from clara.adapters.models.gemini_legacy import LegacyClient, LegacyEmbedder  # noqa: PLC0415  an extra
    except ImportError:
        return None
    client = LegacyClient("key", deadline_seconds=30, base_url=url)
    return client, LegacyEmbedder(client, "gemini-embedding-001")


@pytest.fixture(scope="module")
def embedders() -> Iterator[dict[str, Embedder]]:
    """Open them anew for each visit to this module: who runs its tests in two goes closes them twice."""
    server = ModelStandIn("key").serve()
    gemini, served = GeminiTransport("key", deadline_seconds=30, base_url=server.url), ServedTransport(RequestLimits(30, 4, 0))
    legacy = legacy_client(server.url)
    yield {
        "gemini": GeminiEmbedder(gemini, "gemini-embedding-001"),
        **({"legacy": legacy[1]} if legacy else {}),
        "served": ServedEmbedder(served, ServedEndpoint(f"{server.url}/v1", "embedder", "key"), EmbeddingManner()),
        "local": LOCAL,
        "remembering": RememberingEmbedder(LOCAL, REMEMBERED),
        "memorising": MemorisingEmbedder(LOCAL, DictMemory(), pytest.fail, remember_queries=True),
    }
    gemini.close()
    served.close()
    if legacy:
        legacy[0].close()
    server.close()


@pytest.fixture(params=["gemini", "legacy", "local", "memorising", "remembering", "served"])
def embedder(request: pytest.FixtureRequest, embedders: dict[str, Embedder]) -> Embedder:
    if request.param not in embedders:
        pytest.skip("the extra gemini-legacy is not installed: pip install 'clara-tramites[gemini-legacy]'")
    return embedders[request.param]


def norm(vector: list[float]) -> float:
    return math.sqrt(sum(axis * axis for axis in vector))


@pytest.mark.parametrize("role", ["query", "passage"])
def test_one_unit_vector_for_each_text(embedder: Embedder, role: Role) -> None:
    """As many vectors as texts, in order, of the promised size and of length 1."""
    texts = ["¿Cuánto cuesta el NIE?", "كيف أحصل على رقم NIE؟", "hola", "空", "hola"]
    vectors = embedder.embed(texts, role)
    assert [len(vector) for vector in vectors] == [embedder.dimensions] * 5
    assert [norm(vector) for vector in vectors] == pytest.approx([1.0] * 5, abs=1e-3)
    assert vectors[2] == pytest.approx(vectors[4], abs=1e-5)
    assert vectors[0] != pytest.approx(vectors[1], abs=1e-2)


def test_roles_differ(embedder: Embedder) -> None:
    """A question and a passage with the same words are not the same thing."""
    (query,), (passage,) = embedder.embed(["el padrón"], "query"), embedder.embed(["el padrón"], "passage")
    assert query != pytest.approx(passage, abs=1e-3)


def test_nothing_to_embed_gives_the_zero_vector(embedder: Embedder) -> None:
    """Blank texts among others keep their place."""
    vectors = embedder.embed(["", "hola", " \t\n", "\x00"], "query")
    assert [round(norm(vector)) for vector in vectors] == [0, 1, 0, 0]
    assert embedder.embed([], "query") == []


@settings(max_examples=40, deadline=None)  # a strange character is several tokens: longer texts only take longer
@given(texts=st.lists(st.text(st.characters(codec=None), max_size=30), min_size=1, max_size=3))
def test_no_text_breaks_it(embedders: dict[str, Embedder], texts: list[str]) -> None:
    """Any text at all gives a unit vector or the zero vector, never NaN."""
    for embedder in embedders.values():
        for vector in embedder.embed(texts, "query"):
            assert round(norm(vector), 2) in {0.0, 1.0}


def test_similar_texts_are_near(embedder: Embedder) -> None:
    """A question is nearer to its answer in another language than to something else."""
    (question,) = embedder.embed(["How much does the NIE cost?"], "query")
    right, wrong = embedder.embed(["La tasa del NIE es de 9,84 €.", "El padrón se pide en el ayuntamiento."], "passage")

    def similarity(other: list[float]) -> float:
        return sum(a * b for a, b in zip(question, other, strict=True))

    assert similarity(right) > similarity(wrong)
