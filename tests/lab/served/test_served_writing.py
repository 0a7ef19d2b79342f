"""Tests of writing, judging and comparing answers with served models: everything over HTTP, and with every fault."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass

import pytest

from clara_lab.bench.answers import semantic_similarities
from clara_lab.bench.dataset import BenchDocument, BenchQuestion
from clara_lab.bench.judge import CONTEXT_UTILISATION, FAITHFULNESS, UNREADABLE, AnswerJudge
from clara_lab.bench.prompts import context_of
from clara_lab.bench.record import Score
from clara_lab.bench.writers import ModelWriter, WrittenAnswer
from clara_lab.models.clients import EmbeddingManner, ServedChat, ServedEmbedder
from clara_lab.models.transport import RequestLimits, ServedEndpoint, ServedTransport
from clara_lab.stand_ins.model_server import ModelStandIn
from clara_lab.stand_ins.server import ScriptedReply
from clara_lab.stand_ins.speech import CANARY, faults_of, openai_text

OWLS = BenchDocument("owl", "Owls", "Owls hunt at night. They eat mice.")
BEES = BenchDocument("bee", "Bees", "Bees make honey from nectar.")
QUESTION = BenchQuestion("q", "Who makes honey?", "Bees make honey", gold=frozenset({"bee"}))
CONTEXT = context_of([OWLS, BEES])
FAULTS = {**faults_of("openai", "passing"), **faults_of("openai", "lasting"), **faults_of("openai", "declining")}


@dataclass
class Served:
    """The server, and its models, each asked once."""

    server: ModelStandIn
    chat: ServedChat
    embedder: ServedEmbedder


@pytest.fixture(scope="module")
def serving() -> Iterator[Served]:
    server = ModelStandIn(asymmetric=True).serve()
    url = f"{server.url}/v1"
    with closing(ServedTransport(RequestLimits(10, 4, 0))) as transport:
        embedder = ServedEmbedder(transport, ServedEndpoint(url, "embedder", settings="EMBEDDING"), EmbeddingManner())
        yield Served(server, ServedChat(transport, ServedEndpoint(url, "chat")), embedder)
    server.close()


@pytest.fixture
def served(serving: Served) -> Served:
    serving.server.requests.clear()
    serving.server.faults.clear()
    return serving


def test_an_answer_is_written_judged_and_compared(served: Served) -> None:
    """From a page to measures, as a run does it for one question."""
    written = ModelWriter(served.chat).write(QUESTION, CONTEXT)
    judge = AnswerJudge(served.chat)
    assert written == WrittenAnswer("Bees make honey from nectar.")
    assert judge.verdict(FAITHFULNESS, QUESTION, written.answer, CONTEXT) == Score(1.0)
    assert judge.verdict(CONTEXT_UTILISATION, QUESTION, written.answer, CONTEXT) == Score(1.0)
    (similar,) = semantic_similarities([(QUESTION, written.answer)], served.embedder)
    assert similar.value == pytest.approx((3 + 0.25) / ((3 + 0.25) ** 0.5 * (5 + 0.25) ** 0.5), abs=1e-6)


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_every_fault_is_a_failure_of_one_question(served: Served, fault: ScriptedReply) -> None:
    """No answer and no score, each with a reason that repeats nothing, and the next question is answered."""
    served.server.faults += [fault] * 3
    written = ModelWriter(served.chat).write(QUESTION, CONTEXT)
    judged = AnswerJudge(served.chat).verdict(FAITHFULNESS, QUESTION, "bees", CONTEXT)
    (similar,) = semantic_similarities([(QUESTION, "bees")], served.embedder)
    assert (written.answer, judged.value, similar.value) == (None, None, None)
    for reason in (written.failure, judged.error, similar.error):
        assert reason
        assert CANARY not in reason
        assert "honey" not in reason
    assert ModelWriter(served.chat).write(QUESTION, CONTEXT).answer


@pytest.mark.parametrize("verdict", ["10.5", '{"score": 7}', "It is good."])
def test_a_verdict_without_a_scale_is_no_verdict(served: Served, verdict: str) -> None:
    """DT-9, over HTTP."""
    served.server.faults.append(openai_text(verdict))
    assert AnswerJudge(served.chat).verdict(FAITHFULNESS, QUESTION, "bees", CONTEXT) == Score(None, UNREADABLE)
