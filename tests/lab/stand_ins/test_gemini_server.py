"""Tests of Gemini's stand-in: as a command, and what it says and does not say."""

import json
import subprocess
import sys
from collections.abc import Iterator

import httpx
import pytest

from clara_lab.stand_ins.model_server import ModelStandIn
from clara_lab.stand_ins.server import Delivery
from clara_lab.stand_ins.speech import embedding_faults, faults_of

MODEL = "/v1beta/models/gemini-test"
ASKED = {"contents": [{"role": "user", "parts": [{"text": "¿Cuánto cuesta?"}]}]}


def test_the_command_serves_and_fails_as_told() -> None:
    """A person can start it, and point Clara at it: first the faults that were named, then answers."""
    command = [
        sys.executable,
        "-m",
        "clara_lab.stand_ins.gemini_server",
        "--port",
        "0",
        "--key",
        "k",
        "--fault",
        "quota-day",
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        url = process.stdout.readline().split()[-1]
        headers = {"x-goog-api-key": "k"}
        refused = httpx.post(f"{url}{MODEL}:generateContent", json=ASKED, headers=headers, timeout=20)
        answered = httpx.post(f"{url}{MODEL}:generateContent", json=ASKED, headers=headers, timeout=20)
        strange = httpx.post(f"{url}{MODEL}:generateContent", json=ASKED, timeout=20)
    finally:
        process.terminate()
        process.communicate(timeout=20)
    assert (refused.status_code, refused.json()["error"]["details"][0]["retryDelay"]) == (429, "68940s")
    assert answered.json()["candidates"][0]["content"]["parts"][0]["text"] == "¿Cuánto cuesta? [C1]"
    assert strange.status_code == 401


@pytest.fixture(scope="module")
def server() -> Iterator[ModelStandIn]:
    served = ModelStandIn().serve()
    yield served
    served.close()


def vectors(server: ModelStandIn, *texts: str, dimensions: int | None = 768) -> list[list[float]]:
    wanted = {"outputDimensionality": dimensions} if dimensions else {}
    requests = [{"model": "models/m", "content": {"parts": [{"text": text}]}, **wanted} for text in texts]
    answer = httpx.post(f"{server.url}{MODEL}:batchEmbedContents", json={"requests": requests}, timeout=20).json()
    return [held["values"] for held in answer["embeddings"]]


def test_embeddings_are_of_the_wanted_size_and_near_for_the_same_words(server: ModelStandIn) -> None:
    """Like Gemini's, vectors of 768 dimensions are not normalised, and without a wish they have 3,072."""
    same, other, far = vectors(server, "pedir el NIE", "el NIE, pedir", "subsidio de desempleo")

    def product(left: list[float], right: list[float]) -> float:
        return sum(a * b for a, b in zip(left, right, strict=True))

    assert product(same, other) == pytest.approx(product(same, same)) != pytest.approx(1.0)
    assert product(same, far) < 0.5 * product(same, other)
    assert [len(vector) for vector in vectors(server, "a", "", dimensions=None)] == [3_072, 3_072]


def test_tokens_are_counted_and_unknown_addresses_refused(server: ModelStandIn) -> None:
    """Four characters are about a token."""
    counted = httpx.post(f"{server.url}{MODEL}:countTokens", json=ASKED, timeout=20)
    missing = httpx.post(f"{server.url}/v1beta/files", json={}, timeout=20)
    assert (counted.json(), missing.status_code) == ({"totalTokens": 4}, 404)


def test_every_fault_has_a_plain_name_and_a_body_of_its_kind() -> None:
    """Names can be typed; what is answered with an error is JSON as Google writes it, unless it is meant not to be."""
    known = {**faults_of("gemini"), **embedding_faults(1)}
    assert all(name.replace("-", "").isalnum() for name in known)
    errors = [fault for fault in known.values() if fault.delivery is Delivery.ANSWER and fault.status >= 400]
    assert {json.loads(fault.body)["error"]["code"] for fault in errors if b"<html>" not in fault.body} == {400, 429, 500, 503}
