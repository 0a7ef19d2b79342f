"""The served models as a process has them: off, counted by the day in PostgreSQL, each behind guards of its own."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from threading import Thread
from typing import Any

import psycopg
import pytest
from tests.integration.wired import wired

from clara.answering.ports import ModelUnavailableError, Prompt
from clara.container import Container
from clara.retrieval.metrics import summary
from clara.retrieval.passage import Query, Status
from clara.settings import Settings
from clara_lab.stand_ins.model_server import ModelStandIn
from clara_lab.stand_ins.speech import gemini_refusal, gemini_text

PROMPT = Prompt("Answer from the page.", "El NIE cuesta 9,84 €.")
NOBODY = "postgresql://clara:clara@127.0.0.1:1/clara"
Opened = Callable[..., Container]


@pytest.fixture
def gemini() -> Iterator[ModelStandIn]:
    served = ModelStandIn("key").serve()
    yield served
    served.close()


@pytest.fixture
def opened(gemini: ModelStandIn) -> Iterator[Opened]:
    """Open services that ask the stand-in; they are closed when the test ends."""
    with ExitStack() as stack:

        def make(url: str | None, **settings: object) -> Container:
            return stack.enter_context(wired(url, gemini_api_key="key", gemini_base_url=gemini.url, **settings))

        yield make


def calls(services: Container) -> Any:
    return summary(services.metrics._fresh)["model_calls"]


def test_models_are_off_unless_asked_for_and_need_a_database(opened: Opened, empty_url: str) -> None:
    """Nothing is sent anywhere by default, and money is spent only where it is counted."""
    services = opened(empty_url)
    assert (services.models.text_model, services.models.transcriber, services.models.translator) == (None, None, None)
    everything = {"rag_writer": "gemini", "rag_transcriber": "gemini", "rag_translator": "gemini"}
    uncounted = opened(None, **everything)
    assert (uncounted.models.text_model, uncounted.models.transcriber, uncounted.models.translator) == (None, None, None)


def test_the_scripted_writer_needs_neither_key_nor_database() -> None:
    """It writes what it is shown, for whoever wants to see the writing without a provider."""
    with wired(None, rag_writer="scripted") as services:
        model = services.models.text_model
        assert model is not None
        assert model.name == "scripted"
        assert not services.settings.pays_for_answers


@pytest.mark.parametrize("name", ["rag_writer", "rag_transcriber", "rag_translator", "rag_reranker"])
def test_gemini_needs_its_key(name: str) -> None:
    """Whoever chooses Gemini is told at the start that the key is missing."""
    with pytest.raises(ValueError, match="GEMINI_API_KEY not set"):
        Settings(**{name: "gemini"})


def test_an_answer_of_a_model_takes_its_share_of_the_day() -> None:
    """The shares of answers with a paid model are counted as soon as one writes or translates."""
    assert not Settings().pays_for_answers
    assert Settings(rag_writer="gemini", gemini_api_key="k").pays_for_answers
    assert Settings(rag_translator="gemini", gemini_api_key="k").pays_for_answers


def test_writing_and_listening_work_through_the_wiring(opened: Opened, gemini: ModelStandIn, empty_url: str) -> None:
    """Each part asks its own model, and its calls are counted by part and outcome."""
    services = opened(empty_url, rag_writer="gemini", rag_transcriber="gemini", gemini_transcriber_model="gemini-2.5-pro")
    model, transcriber = services.models.text_model, services.models.transcriber
    assert model is not None
    assert transcriber is not None
    assert model.write(PROMPT, 9.0) == "El NIE cuesta 9,84 €. [C1]"
    assert transcriber.transcribe("¿cuánto?".encode(), "audio/ogg", 9.0) == "¿cuánto?"
    gemini.faults.append(gemini_text("", "SAFETY"))
    with pytest.raises(ModelUnavailableError):
        model.write(PROMPT, 9.0)
    assert [request.path.split("/")[-1].partition(":")[0] for request in gemini.requests] == [
        "gemini-2.5-flash", "gemini-2.5-pro", "gemini-2.5-flash",
    ]  # fmt: skip
    assert calls(services) == {"transcriber": {"answered": 1}, "writer": {"answered": 1, "declined": 1}}


def test_the_calls_of_a_day_are_counted_for_all_processes(opened: Opened, gemini: ModelStandIn, empty_url: str) -> None:
    """Two processes with eight threads make exactly as many calls as a day has; the breaker stays closed."""
    processes = [opened(empty_url, rag_writer="gemini", gemini_calls_per_day=10) for _ in range(2)]
    models = [services.models.text_model for services in processes] * 4
    answered: list[bool] = []

    def ask(number: int) -> None:
        for _ in range(4):
            try:
                answered.append(bool(models[number].write(PROMPT, 20.0)))  # type: ignore[union-attr]
            except ModelUnavailableError:
                answered.append(False)

    threads = [Thread(target=ask, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (sum(answered), len(answered), len(gemini.requests)) == (10, 32, 10)
    with psycopg.connect(empty_url) as connection:
        assert connection.execute("select scope, used from usage").fetchall() == [("calls:gemini", 10)]
    assert sum(calls(services)["writer"]["spent"] for services in processes) == 22


def test_a_day_without_calls_asks_nobody(opened: Opened, gemini: ModelStandIn, empty_url: str) -> None:
    """0 calls a day is a switch."""
    model = opened(empty_url, rag_writer="gemini", gemini_calls_per_day=0).models.text_model
    with pytest.raises(ModelUnavailableError, match="used up"):
        model.write(PROMPT, 9.0)  # type: ignore[union-attr]
    assert gemini.requests == []


def test_what_cannot_be_counted_is_not_spent(opened: Opened, gemini: ModelStandIn) -> None:
    """While the database is away no call is made."""
    model = opened(NOBODY, rag_writer="gemini").models.text_model
    with pytest.raises(ModelUnavailableError, match="cannot be counted now"):
        model.write(PROMPT, 9.0)  # type: ignore[union-attr]
    assert gemini.requests == []


def test_an_outage_of_one_part_is_not_the_others(opened: Opened, gemini: ModelStandIn, empty_url: str) -> None:
    """The breaker of the writer opens alone: quotas and outages are a model's."""
    services = opened(empty_url, rag_writer="gemini", rag_transcriber="gemini")
    gemini.faults += [gemini_refusal(503, "UNAVAILABLE")] * 5
    for _ in range(7):
        with pytest.raises(ModelUnavailableError):
            services.models.text_model.write(PROMPT, 9.0)  # type: ignore[union-attr]
    assert services.models.transcriber.transcribe(b"hola", "audio/ogg", 9.0) == "hola"  # type: ignore[union-attr]
    assert calls(services) == {"transcriber": {"answered": 1}, "writer": {"away": 2, "failed": 5}}


def test_what_is_not_found_is_asked_again_in_spanish(opened: Opened, gemini: ModelStandIn, knowledge_url: str) -> None:
    """A translation finds what the question does not; what was found is left alone, and an outage of the translator too."""
    services = opened(knowledge_url, rag_translator="gemini", gemini_calls_per_day=3)
    retrieve = services.retriever
    strange = Query("bei ya kadi ya mgeni ni ngapi", "clara", "en")
    spanish = gemini_text(json.dumps({"spanish": "¿Cuánto cuesta el NIE?", "english": "x"}))
    gemini.faults += [spanish, gemini_refusal(503, "UNAVAILABLE")]
    found = retrieve(strange)
    assert (found.status, [asked["kind"] for asked in found.trace["rounds"]]) == (Status.FOUND, ["question", "translation"])
    missed = retrieve(strange)
    assert (missed.status, missed.failures) == (Status.NOT_FOUND, ("translation: answered 503 (UNAVAILABLE)",))
    retrieve(Query("¿Cuánto cuesta el NIE?", "clara", "es"))
    assert len(gemini.requests) == 2
