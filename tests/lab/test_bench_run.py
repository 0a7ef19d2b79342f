"""A whole run of the bench on a real PostgreSQL: with the parts of this machine, with served ones, and with what goes wrong."""

import json
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from pathlib import Path

import pytest
from tests.integration.wired import CommandLine, WordEmbedder, bundled
from tests.journeys.talking import until

from clara.container import Container
from clara.retrieval.ports import Embedder, EmbedderUnavailableError, Role
from clara_lab.bench.plan import RunPlan, planned
from clara_lab.bench.record import QuestionRecord, ResumeError, RunRecord, read_events, read_run
from clara_lab.runner.run import EVENTS, Output, run
from clara_lab.stand_ins.model_server import ModelStandIn
from clara_lab.stand_ins.server import Delivery, ScriptedReply
from clara_lab.stand_ins.speech import quote

TOWNS = (
    "Almansa",
    "Baeza",
    "Calahorra",
    "Denia",
    "Estepona",
    "Fraga",
    "Guadix",
    "Huéscar",
    "Igualada",
    "Jaca",
    "Lorca",
    "Mula",
)
GARBAGE = ScriptedReply(body=b"<html>")


def jsonl(file: Path, rows: list[dict[str, object]]) -> None:
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A town a document, a question about each."""
    folder = tmp_path / "towns"
    folder.mkdir()
    documents = [
        {"id": f"d{number}", "title": town, "text": f"{town} is a town. The river of {town} is the Rio{number}."}
        for number, town in enumerate(TOWNS)
    ]
    questions = [
        {"id": f"q{number}", "question": f"Which river has {town}?", "answer": f"Rio{number}", "gold": [f"d{number}"]}
        for number, town in enumerate(TOWNS)
    ]
    jsonl(folder / "corpus.jsonl", documents)
    jsonl(folder / "queries.jsonl", questions)
    return folder


@pytest.fixture
def models() -> Iterator[ModelStandIn]:
    """Served models: they embed, write, judge and rerank, and refuse a text that does not say what it is."""
    stand_in = ModelStandIn(asymmetric=True).serve()
    yield stand_in
    stand_in.close()


class Failing:
    """An embedder that is out for its first questions."""

    def __init__(self, embedder: Embedder, fails: int) -> None:
        self.model, self.dimensions = embedder.model, embedder.dimensions
        self._embedder, self._fails = embedder, fails
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str], role: Role) -> list[list[float]]:
        self._fails -= 1
        self.asked.append(f"{len(texts)} failed" if self._fails >= 0 else str(len(texts)))
        if self._fails >= 0:
            raise EmbedderUnavailableError("is out")
        return self._embedder.embed(texts, role)


class Bench:
    """Runs the bench in one folder."""

    def __init__(self, services: Container, data: Path, folder: Path) -> None:
        self.services, self.data, self.folder = services, data, folder
        self.embedder = WordEmbedder()
        services.embedder = self.embedder
        services.migrate()
        self.said: list[str] = []

    def plan(self, **values: object) -> RunPlan:
        return planned({"BENCH_DATA": str(self.data), "MTEB_DATASET_NAME": "towns", **values})

    def run(self, resume: str = "", **values: object) -> RunRecord:
        output = Output(self.folder, resume)
        return run(self.services, self.plan(**values), output, self.said.append, lambda *_: None)

    def report(self, record: RunRecord) -> RunRecord:
        return read_run((self.folder / f"{record.run_id}.json").read_text("utf-8"))


@pytest.fixture
def bench(empty_url: str, services_on: Callable[..., Container], data: Path, tmp_path: Path) -> Bench:
    return Bench(services_on(empty_url), data, tmp_path / "out")


def served(models: ModelStandIn, **values: object) -> dict[str, object]:
    return {
        "EMBEDDING_MODEL_NAME": "embedder",
        "EMBEDDING_BASE_URL": f"{models.url}/v1",
        "LLM_MODEL_NAME": "chat",
        "LLM_BASE_URL": f"{models.url}/v1",
        "NIM_MAX_RETRIES": 0,
        **values,
    }


def reranking(models: ModelStandIn) -> dict[str, object]:
    return {
        "RERANKER_ENABLED": True,
        "RERANKER_BASE_URL": f"{models.url}/v1",
        "RERANKER_MODEL_NAME": "ranker",
        "RERANKER_TOP_N": 2,
    }


@pytest.mark.parametrize("strategy", ["SIMPLE_VECTOR", "CONTEXTUAL_HYBRID", "PROFILE:encyclopedia"])
def test_a_run_without_any_service(bench: Bench, strategy: str) -> None:
    """All reports are written, and the record reads as it was; the second run embeds no document and finds the same ids."""
    record = bench.run(RETRIEVAL_STRATEGY=strategy)
    assert bench.report(record) == record
    written = {file.name.removeprefix(record.run_id) for file in bench.folder.glob(f"{record.run_id}*")}
    assert written == {".json", "_summary.csv", "_detail.csv", ".trec", ".html", EVENTS}
    assert [one.question.id for one in record.questions if one.retrieved[0] == f"d{one.question.id[1:]}"]
    assert all(one.answer and one.measures["f1"].value is not None for one in record.questions)
    again = bench.run(RETRIEVAL_STRATEGY=strategy)
    assert again.totals["embedded_now"] == 0
    assert [one.retrieved for one in again.questions] == [one.retrieved for one in record.questions]
    assert again.run_id != record.run_id


def test_policies_wrap_the_search(bench: Bench) -> None:
    """Each policy of the engine can be measured; what it makes of a passage's relevance is said of the bundled model."""
    bench.services.embedder = bundled()
    for policy in ("self", "corrective", "adaptive"):
        record = bench.run(RETRIEVAL_POLICY=policy, GENERATION_ENABLED=False)
        assert any(one.retrieved for one in record.questions)
        assert not any(one.failures or one.answer for one in record.questions)


def test_every_order_of_the_engine(bench: Bench) -> None:
    """Each strategy that orders candidates can be measured; with the nearest alone the ids are those of the vectors."""
    found = {
        order: [one.retrieved for one in bench.run(RETRIEVAL_ORDER=order, GENERATION_ENABLED=False).questions]
        for order in ("hybrid", "similarity", "mmr", "boosted", "rrf")
    }
    assert found["similarity"] == found["hybrid"]
    assert found["mmr"] != found["hybrid"]


def test_a_run_with_served_models(bench: Bench, models: ModelStandIn) -> None:
    """Everything is asked over HTTP, and every request is an event; the judge reads what the writer read."""
    record = bench.run(**served(models, RETRIEVAL_STRATEGY="CONTEXTUAL_HYBRID", NIM_API_KEY="a-key"), **reranking(models))
    assert record.totals["questions_with_failures"] == 0
    assert all(one.reranked and len(one.context) == 2 for one in record.questions)
    assert all(set(one.context) <= set(one.pre_rerank_candidate_ids) for one in record.questions)
    assert {"faithfulness", "context_utilisation", "semantic_similarity"} <= set(record.questions[0].measures)
    kinds = {event["event"] for event in read_events(bench.folder / f"{record.run_id}{EVENTS}").events}
    assert kinds == {"run_start", "query_result", "embedding_batch", "llm_request", "run_complete"}
    assert {request.headers["authorization"] for request in models.requests} == {"Bearer a-key"}
    everything = "".join(file.read_text("utf-8") for file in bench.folder.iterdir())
    assert "a-key" not in everything
    assert "is a town" not in (bench.folder / f"{record.run_id}.json").read_text("utf-8")  # ids, no contents


def test_a_sentence_is_asked_for_once(bench: Bench, models: ModelStandIn) -> None:
    """Another run of the same documents asks the model for no sentence again, even when its corpus was dropped."""
    values = served(models, RETRIEVAL_STRATEGY="CONTEXTUAL_HYBRID", GENERATION_ENABLED=False)
    record = bench.run(**values)
    asked = sum(request.path.endswith("/chat/completions") for request in models.requests)
    assert asked == len(TOWNS)
    assert bench.services.passages().drop(record.totals["corpus"])
    assert bench.run(**values).totals["unenriched"] == 0
    assert sum(request.path.endswith("/chat/completions") for request in models.requests) == asked


def test_failures_are_counted_and_lose_no_run(bench: Bench, models: ModelStandIn) -> None:
    """A reranker and a writer that answer garbage cost their part of the questions; the report says how many."""
    plan = served(models, EMBEDDING_MODEL_NAME="local", EMBEDDING_BASE_URL="", JUDGE_ENABLED=False)
    plan["GENERATION_MAX_CONTEXT_CHARS"] = 1000  # so that nobody asks how much the model reads
    models.faults = [GARBAGE] * 5
    record = bench.run(**plan, **reranking(models))
    assert record.totals["rerank_failures"] == 5
    assert sum(one.reranked is False for one in record.questions) == 5
    models.standing = ScriptedReply(status=500)
    record = bench.run(**plan)
    assert all(one.answer is None and one.measures["f1"].value is None for one in record.questions)
    assert record.totals["questions_with_failures"] == len(TOWNS)
    assert all("500" in " ".join(one.failures) for one in record.questions)


def test_a_passage_without_sentence_is_told(bench: Bench, models: ModelStandIn) -> None:
    """The next run asks for what is missing, and does not take the corpus with a gap for the whole one."""
    values = served(models, RETRIEVAL_STRATEGY="CONTEXTUAL_HYBRID", GENERATION_ENABLED=False)
    values |= {"EMBEDDING_MODEL_NAME": "local", "EMBEDDING_BASE_URL": ""}
    models.faults = [ScriptedReply(status=500)]
    broken = bench.run(**values)
    assert broken.totals["unenriched"] == 1
    mended = bench.run(**values)
    assert mended.totals["unenriched"] == 0
    assert mended.totals["corpus"] != broken.totals["corpus"]


def test_questions_that_could_not_be_embedded_beforehand(bench: Bench) -> None:
    """A batch that fails twice is counted, and its questions are embedded when they are asked."""
    whole = bench.run(GENERATION_ENABLED=False)
    failing = Failing(bench.embedder, fails=2)
    bench.services.embedder = failing
    record = bench.run(GENERATION_ENABLED=False, EMBEDDING_BATCH_SIZE=6)
    assert record.totals["failed_query_batches"] == 1
    assert [one.retrieved for one in record.questions] == [one.retrieved for one in whole.questions]
    assert failing.asked == ["6 failed", "6 failed", *["6"], *["1"] * 6]


def test_runs_that_cannot_be_taken_up(bench: Bench) -> None:
    """Another plan, other data and an unknown run are refused by name."""
    record = bench.run(GENERATION_ENABLED=False)
    with pytest.raises(ResumeError, match="RETRIEVAL_K"):
        bench.run(record.run_id, GENERATION_ENABLED=False, RETRIEVAL_K=5)
    with pytest.raises(ResumeError, match=record.run_id):
        bench.run("unknown", GENERATION_ENABLED=False)
    jsonl(bench.data / "queries.jsonl", [{"id": "q", "question": "?", "answer": "", "gold": ["d1"]}])
    with pytest.raises(ResumeError, match="other data"):
        bench.run(record.run_id, GENERATION_ENABLED=False)


def test_a_run_that_was_killed_is_taken_up(
    empty_url: str, services_on: Callable[..., Container], data: Path, tmp_path: Path, models: ModelStandIn
) -> None:
    """Kill -9 in the middle of generation: what was answered is not asked again, and at most one batch is."""
    services_on(empty_url).migrate()
    rows = [
        {"id": f"q{number}", "question": f"Which river has {TOWNS[number % 12]}?", "answer": "Rio1", "gold": ["d1"]}
        for number in range(64)
    ]
    jsonl(data / "queries.jsonl", rows)
    out = tmp_path / "out"
    values = served(models, LLM_MODEL_NAME="chat", BENCH_DATA=str(data), NIM_MAX_CONCURRENT_REQUESTS=2, JUDGE_ENABLED=False)
    line = CommandLine(empty_url, "clara_lab.cli", **{name: str(value) for name, value in values.items()})
    writing = count(1)

    def write(instruction: str, page: str) -> str:
        if next(writing) == 24:
            models.standing = ScriptedReply(Delivery.HANG)  # so that it is still at work when it is killed
        return quote(instruction, page)

    models.write = write
    line.begin("bench", "run", "--out", out)
    until(lambda: len(_results(out)) >= 16)
    line.kill()
    models.standing, models.write = None, quote
    log = _log(out)
    assert log is not None
    done = {record.question.id for record in read_events(log).results()}
    assert 16 <= len(done) < 64
    models.requests.clear()
    line = CommandLine(empty_url, "clara_lab.cli", **{name: str(value) for name, value in values.items()})
    ran = line("bench", "run", "--out", out, "--resume", log.name.removesuffix(EVENTS))
    line.close()
    assert ran.code == 0, ran
    asked = [request for request in models.requests if request.path.endswith("/chat/completions")]
    assert len(asked) == 64 - len(done)
    record = read_run(next(out.glob("*.json")).read_text("utf-8"))
    assert len(record.questions) == 64
    assert record.totals["resumed_questions"] == len(done)


def _results(out: Path) -> list[QuestionRecord]:
    log = _log(out)
    return list(read_events(log).results()) if log else []


def _log(out: Path) -> Path | None:
    return next(out.glob(f"*{EVENTS}"), None)
