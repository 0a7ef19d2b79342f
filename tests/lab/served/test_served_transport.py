"""Tests of asking served models: what is tried again, what is final and what it says, how many at a time, what is counted."""

import asyncio
import copy
from collections.abc import Callable, Iterator
from dataclasses import FrozenInstanceError
from threading import Lock
from time import perf_counter, sleep

import pytest

from clara_lab.bench.prompts import ChatPrompt, ChatUnavailableError
from clara_lab.models.clients import ServedChat
from clara_lab.models.transport import RequestEvent, RequestLimits, ServedEndpoint, ServedTransport, Usage
from clara_lab.stand_ins.model_server import ModelStandIn
from clara_lab.stand_ins.server import ScriptedReply
from clara_lab.stand_ins.speech import CANARY, faults_of, openai_refusal, openai_text

ASKED = ChatPrompt("Repeat.", "secreto")
ANSWER = "«secreto»"
LIMITS = RequestLimits(10, 4, 3)


class Bench:
    """A server, a transport that does not sleep but remembers how long it would, and a chat model."""

    def __init__(self, server: ModelStandIn, limits: RequestLimits) -> None:
        self.server = server
        self.waits: list[float] = []
        self.events: list[RequestEvent] = []
        self.transport = ServedTransport(limits, self.events.append, self.waits.append)
        self.chat = ServedChat(self.transport, ServedEndpoint(f"{server.url}/v1", "chat"))


@pytest.fixture
def bench() -> Iterator[Callable[..., Bench]]:
    made: list[Bench] = []

    def make(limits: RequestLimits = LIMITS, write: Callable[[str, str], str] | None = None) -> Bench:
        made.append(Bench(ModelStandIn(write=write or (lambda _instruction, page: f"«{page}»")).serve(), limits))
        return made[-1]

    yield make
    for each in made:
        each.transport.close()
        each.server.close()


@pytest.mark.parametrize("fault", faults_of("openai", "passing").values(), ids=faults_of("openai", "passing"))
def test_what_may_pass_is_tried_again(bench: Callable[..., Bench], fault: ScriptedReply) -> None:
    """Overload, broken exchanges and unreadable answers cost tries, with growing waits, and no answer."""
    tried = bench()
    tried.server.faults += [fault, fault]
    assert tried.chat.complete(ASKED).text == ANSWER
    assert tried.waits == ([1.0, 1.0] if "Retry-After" in fault.headers else [2.0, 4.0])
    assert (tried.events[0].retries, tried.events[0].failure) == (2, "")


def test_after_the_last_try_it_has_failed(bench: Callable[..., Bench]) -> None:
    """NIM_MAX_RETRIES are tries beyond the first; the failure is an event and a number, and the next request is served."""
    tried = bench()
    tried.server.faults += [openai_refusal(503, "away")] * 4
    with pytest.raises(ChatUnavailableError, match="chat answered 503"):
        tried.chat.complete(ASKED)
    assert tried.waits == [2.0, 4.0, 8.0]
    assert tried.chat.complete(ASKED).text == ANSWER
    usage = tried.transport.usage()["chat"]
    assert (usage.requests, usage.failures, usage.retries) == (2, 1, 3)
    assert [event.failure for event in tried.events] == ["answered 503", ""]


def test_a_quota_that_opens_late_is_not_waited_for(bench: Callable[..., Bench]) -> None:
    """Who is told to come back tomorrow gives up today."""
    tried = bench()
    tried.server.faults.append(ScriptedReply(status=429, headers={"Retry-After": "86400"}))
    with pytest.raises(ChatUnavailableError, match="answered 429"):
        tried.chat.complete(ASKED)
    assert tried.waits == []


@pytest.mark.parametrize("fault", faults_of("openai", "slow").values(), ids=faults_of("openai", "slow"))
def test_the_deadline_is_for_each_whole_exchange(bench: Callable[..., Bench], fault: ScriptedReply) -> None:
    """Silence and dripping end at NIM_REQUEST_TIMEOUT, and are tried again."""
    tried = bench(RequestLimits(0.3, 4, 1))
    tried.server.faults.append(fault)
    started = perf_counter()
    assert tried.chat.complete(ASKED).text == ANSWER
    assert 0.25 < perf_counter() - started < 2


@pytest.mark.parametrize(
    ("fault", "remedy"),
    [
        ("invalid", "its own log says why"),
        ("too-long", "lower EMBEDDING_BATCH_SIZE or GENERATION_MAX_CONTEXT_CHARS"),
        ("unauthorized", "set NIM_API_KEY"),
        ("forbidden", "set NIM_API_KEY to a key that may use LLM_MODEL_NAME"),
        ("not-found", "correct LLM_BASE_URL, which ends in /v1, or LLM_MODEL_NAME"),
        ("too-large", "lower EMBEDDING_BATCH_SIZE"),
        ("redirect", "set LLM_BASE_URL"),
    ],
)
def test_what_will_not_pass_says_what_to_change(bench: Callable[..., Bench], fault: str, remedy: str) -> None:
    """Refusals are final, name the setting, and repeat nothing of what the service says."""
    tried = bench()
    tried.server.faults.append(faults_of("openai", "lasting")[fault])
    with pytest.raises(ChatUnavailableError, match=remedy) as caught:
        tried.chat.complete(ASKED)
    assert CANARY not in str(caught.value)
    assert (tried.waits, len(tried.server.requests)) == ([], 1)


@pytest.mark.parametrize("fault", faults_of("openai", "declining").values(), ids=faults_of("openai", "declining"))
def test_an_answer_that_nobody_can_use_is_not_asked_for_again(bench: Callable[..., Bench], fault: ScriptedReply) -> None:
    """At temperature 0 the model would say the same."""
    tried = bench()
    tried.server.faults.append(fault)
    with pytest.raises(ChatUnavailableError, match=r"withheld|wrote nothing|did not finish"):
        tried.chat.complete(ASKED)
    assert len(tried.server.requests) == 1


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://127.0.0.1:1/v1", "could not be reached.*check LLM_BASE_URL"),
        ("ftp://127.0.0.1", "LLM_BASE_URL"),
        ("127.0.0.1:80", "LLM_BASE_URL"),
        ("", "LLM_BASE_URL"),
    ],
)
def test_a_wrong_address_names_its_setting(url: str, reason: str) -> None:
    """Nobody there, an unknown scheme, none, and nothing at all."""
    transport = ServedTransport(RequestLimits(2, 1, 0))
    with pytest.raises(ChatUnavailableError, match=reason):
        ServedChat(transport, ServedEndpoint(url, "chat")).complete(ASKED)
    transport.close()


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("<think>Is it? It is.</think>\n\nYes.", "Yes."),
        ("It is. It is not.\n</think>Yes.", "Yes."),
        ("No thought, <b>only</b> an answer.", "No thought, <b>only</b> an answer."),
    ],
)
def test_thoughts_are_no_part_of_an_answer(bench: Callable[..., Bench], written: str, text: str) -> None:
    """Reasoning models think aloud before they answer, and some templates open the thought in the prompt."""
    tried = bench()
    tried.server.faults.append(openai_text(written))
    assert tried.chat.complete(ASKED).text == text


def test_a_service_without_json_mode_is_asked_without_it(bench: Callable[..., Bench]) -> None:
    """The refusal costs one request, once."""
    tried = bench()
    tried.server.faults.append(openai_refusal(400, "response_format must be text"))
    for _ in range(2):
        assert tried.chat.complete(ChatPrompt("Give JSON.", "secreto", json=True)).text == ANSWER
    assert ["response_format" in request.document for request in tried.server.requests] == [True, False, False]


def test_the_context_length_is_read_from_the_list_of_models(bench: Callable[..., Bench]) -> None:
    """NIM and vLLM call it max_model_len, others otherwise, many do not say; a model that is not listed has none."""
    tried = bench()
    assert tried.chat.context_length() == 8192
    for body, length in [
        (b'{"data": [{"id": "other", "max_model_len": 1}, {"id": "chat", "context_length": 4096}]}', 4096),
        (b'{"data": [{"id": "chat", "max_context_length": 32768}]}', 32768),
        (b'{"data": [{"id": "chat"}]}', None),
        (b'{"data": []}', None),
        (b'{"data": [{"id": 7}, {"id": "chat", "max_model_len": "many", "context_length": -1}]}', None),
    ]:
        tried.server.faults.append(ScriptedReply(body=body))
        assert tried.chat.context_length() == length
    tried.server.faults.append(faults_of("openai", "lasting")["not-found"])
    with pytest.raises(ChatUnavailableError, match="LLM_BASE_URL"):
        tried.chat.context_length()


@pytest.mark.parametrize(
    "usage", [b"null", b"[]", b'{"prompt_tokens": null, "completion_tokens": "many"}', b'{"prompt_tokens": -5}']
)
def test_tokens_that_are_not_said_cost_no_answer(bench: Callable[..., Bench], usage: bytes) -> None:
    """Gateways count as they like, and the answer is there all the same."""
    tried = bench()
    tried.server.faults.append(ScriptedReply(body=b'{"choices": [{"message": {"content": "Yes"}}], "usage": ' + usage + b"}"))
    completion = tried.chat.complete(ASKED)
    assert (completion.text, completion.prompt_tokens, completion.completion_tokens) == ("Yes", 0, 0)


class Crowd:
    """Writes slowly, and remembers how many prompts it had at the same time."""

    def __init__(self) -> None:
        self.lock, self.now, self.most = Lock(), 0, 0

    def __call__(self, _instruction: str, page: str) -> str:
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)
        sleep(0.05)
        with self.lock:
            self.now -= 1
        return page


def test_the_bound_holds_inside_a_running_event_loop(bench: Callable[..., Bench]) -> None:
    """DTm-3: asked from a loop and from its threads, never more requests are under way than are allowed."""
    crowd = Crowd()
    tried = bench(RequestLimits(10, 3, 0), crowd)

    async def ask_many() -> list[str]:
        directly = tried.chat.complete(ChatPrompt("s", "here")).text
        asked = [asyncio.to_thread(tried.chat.complete, ChatPrompt("s", f"n{number}")) for number in range(12)]
        return [directly, *(completion.text for completion in await asyncio.gather(*asked))]

    assert asyncio.run(ask_many()) == ["here", *(f"n{number}" for number in range(12))]
    assert crowd.most == 3


def test_usage_is_a_value_of_its_moment(bench: Callable[..., Bench]) -> None:
    """DTm-11: a snapshot holds no lock, can be copied, does not change, and later requests do not change it."""
    tried = bench()
    tried.chat.complete(ASKED)
    usage = tried.transport.usage()["chat"]
    tried.chat.complete(ASKED)
    assert copy.copy(usage) == copy.deepcopy(usage) == usage != tried.transport.usage()["chat"]
    assert usage.requests == 1
    assert usage.prompt_tokens > 0
    assert usage.completion_tokens == 3
    assert 0 < usage.p50_seconds <= usage.p95_seconds <= usage.max_seconds
    with pytest.raises(FrozenInstanceError):
        usage.requests = 5  # type: ignore[misc]


def test_percentiles_are_of_the_nearest_rank(bench: Callable[..., Bench]) -> None:
    """Of a hundred values the fiftieth, the ninety-fifth and the last."""
    transport = bench().transport
    transport._seconds["chat"].extend(map(float, range(100, 0, -1)))
    transport._totals["chat"].update(requests=100)
    assert transport.usage()["chat"] == Usage(requests=100, p50_seconds=50.0, p95_seconds=95.0, max_seconds=100.0)
