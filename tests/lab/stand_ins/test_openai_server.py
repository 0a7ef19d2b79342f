"""Tests of the stand-in that speaks OpenAI's wire format: as a command, and what it says."""

import json
import subprocess
import sys
from collections.abc import Iterator

import httpx
import pytest

from clara_lab.stand_ins.model_server import ModelStandIn
from clara_lab.stand_ins.server import Delivery
from clara_lab.stand_ins.speech import faults_of

DOCUMENTS = "[Doc 1] Owls\nOwls hunt at night. They eat mice.\n\n[Doc 2] Bees\nBees make honey from nectar."


@pytest.fixture(scope="module")
def server() -> Iterator[ModelStandIn]:
    served = ModelStandIn().serve()
    yield served
    served.close()


def written(url: str, page: str) -> str:
    document = {"model": "chat", "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": page}]}
    answer = httpx.post(f"{url}/v1/chat/completions", json=document, timeout=20)
    return str(answer.json()["choices"][0]["message"]["content"])


def test_the_command_serves_and_fails_as_told() -> None:
    """A person can start it, and point the bench at it: first the faults that were named, then answers."""
    options = ["--port", "0", "--key", "k", "--asymmetric", "--fault", "rate-second"]
    command = [sys.executable, "-m", "clara_lab.stand_ins.model_server", *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    asked = {"model": "embedder", "input": ["a"]}
    try:
        assert process.stdout is not None
        url, headers = process.stdout.readline().split()[-1], {"Authorization": "Bearer k"}
        refused = httpx.post(f"{url}/embeddings", json=asked, headers=headers, timeout=20)
        untold = httpx.post(f"{url}/embeddings", json=asked, headers=headers, timeout=20)
        answered = httpx.post(f"{url}/embeddings", json={**asked, "input_type": "query"}, headers=headers, timeout=20)
        strange = httpx.get(f"{url}/models", timeout=20)
        listed = httpx.get(f"{url}/models", headers=headers, timeout=20)
    finally:
        process.terminate()
        process.communicate(timeout=20)
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "1")
    assert (untold.status_code, "input_type" in untold.text) == (400, True)
    assert len(answered.json()["data"][0]["embedding"]) == 256
    assert strange.status_code == 401
    assert listed.json()["data"][0]["max_model_len"] == 8192


@pytest.mark.parametrize(
    ("page", "answer"),
    [
        (f"{DOCUMENTS}\n\nQuestion: Who makes honey?", "Bees make honey from nectar."),
        (f"{DOCUMENTS}\n\nQuestion: What do they eat?", "They eat mice."),
        ("Question: Who?", "unknown"),
        ("Situate this passage.\nOwls hunt.", "Situate this passage. [C1]"),
    ],
    ids=["nearest", "second sentence", "no documents", "no question"],
)
def test_it_answers_from_its_page(server: ModelStandIn, page: str, answer: str) -> None:
    """A question is answered with the nearest sentence of the page; what asks nothing is quoted."""
    assert written(server.url, page) == answer


@pytest.mark.parametrize(("answer", "score"), [("honey from nectar", 1.0), ("honey from trees", 2 / 3), ("no idea", 0.0)])
def test_it_judges_by_the_words_of_the_page(server: ModelStandIn, answer: str, score: float) -> None:
    """An answer to judge has the share of its words that the documents have."""
    verdict = json.loads(written(server.url, f"{DOCUMENTS}\n\nQuestion: Who makes honey?\nAnswer to judge: {answer}"))
    assert verdict["score"] == pytest.approx(score)


def test_every_fault_has_a_plain_name() -> None:
    """Names can be typed; a refusal is JSON, unless it is meant not to be."""
    known = faults_of("openai")
    assert all(name.replace("-", "").isalnum() for name in known)
    refusals = [fault for fault in known.values() if fault.delivery is Delivery.ANSWER and fault.status >= 400]
    assert all(json.loads(fault.body) is not None for fault in refusals if b"<html>" not in fault.body)
