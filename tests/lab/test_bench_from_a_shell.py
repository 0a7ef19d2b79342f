"""The bench as an engineer uses it: a template, a dry run, a data set packed, two runs, and what changed between them."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from moto.server import ThreadedMotoServer
from tests.integration.wired import CommandLine, Ran, database
from tests.lab.test_bench_datasets import server as storage
from tests.lab.test_bench_datasets import store_of
from tests.lab.test_bench_run import TOWNS, jsonl, models, served

from clara.adapters.postgres.embedded import EmbeddedServer
from clara.container import Container
from clara_lab.stand_ins.model_server import ModelStandIn

__all__ = ["models", "storage"]

Shell = Callable[..., Ran]


@pytest.fixture(scope="module")
def shell(server: EmbeddedServer, templates: dict[str, str]) -> Iterator[Shell]:
    """One process on one database for all: a corpus of the bench is known by what is in it."""
    with database(server, templates["schema"]) as url:
        line = CommandLine(url, "clara_lab.cli")

        def clara(*arguments: object) -> Ran:
            ran = line("bench", *arguments)
            assert ran.raised is None, ran
            return ran

        yield clara
        line.close()


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "towns"
    folder.mkdir()
    jsonl(folder / "corpus.jsonl", [{"id": town, "title": town, "text": f"{town} has a mill."} for town in TOWNS])
    asked = [{"id": town, "question": f"What has {town}?", "answer": "a mill", "gold": [town]} for town in TOWNS]
    jsonl(folder / "queries.jsonl", asked)
    return folder


def variables(file: Path, **values: object) -> Path:
    file.write_text("".join(f"{name}={value}\n" for name, value in values.items()), "utf-8")
    return file


def test_from_a_template_to_a_comparison(shell: Shell, source: Path, tmp_path: Path) -> None:
    """Everything that the documentation shows works on a database, without any service."""
    packed = shell("pack", source, tmp_path / "packed", "--name", "towns")
    assert (packed.code, "12 documents, 12 questions" in packed.out) == (0, True), packed
    template = shell("variables")
    assert "# Documents that the retrieval measures are of.\nRETRIEVAL_K=20\n" in template.out
    values = {"BENCH_DATA": tmp_path / "packed", "MTEB_DATASET_NAME": "towns", "EVAL_MAX_QUERIES": 6}
    env = variables(tmp_path / "run.env", **values)
    dry = shell("run", "--env", env, "--dry-run")
    assert dry.code == 0
    assert "towns: 6 questions, 12 documents" in dry.out
    assert "embedding (local): 18 texts" in dry.out
    out = tmp_path / "out"
    assert not out.exists()
    for strategy in ("SIMPLE_VECTOR", "CONTEXTUAL_HYBRID"):
        ran = shell("run", "--env", variables(env, **values, RETRIEVAL_STRATEGY=strategy), "--out", out)
        assert (ran.code, "recall@5" in ran.out) == (0, True), ran
    first, second = sorted(out.glob("*.json"))
    compared = shell("compare", first, second, "--html", tmp_path / "compared.html")
    assert (compared.code, "recall@5" in compared.out) == (0, True), compared
    assert json.loads(shell("compare", first, second, "--json").out)
    page = (tmp_path / "compared.html").read_text("utf-8")
    assert "<svg" in page
    assert "://" not in page.replace("http://www.w3.org/2000/svg", "")  # it opens without a network


def test_data_on_storage_and_models_elsewhere(
    empty_url: str,
    services_on: Callable[..., Container],
    source: Path,
    tmp_path: Path,
    storage: ThreadedMotoServer,
    models: ModelStandIn,
) -> None:
    """The data set is packed to S3 and read from there, and everything that is a model is asked over HTTP."""
    services_on(empty_url).migrate()
    store = store_of(storage)
    minio = {
        "MINIO_ENDPOINT": store.endpoint,
        "MINIO_ACCESS_KEY": "the-access-key",
        "MINIO_SECRET_KEY": "the-secret-key",
        "MINIO_BUCKET_NAME": store.bucket,
        "S3_DATASETS_PREFIX": "sets",
        "MTEB_DATASET_NAME": "towns",
    }
    values = {**served(models), **minio, "XDG_CACHE_HOME": tmp_path / "cache"}
    bucket = values.pop("MINIO_BUCKET_NAME")
    env = variables(tmp_path / "run.env", MINIO_BUCKET_NAME=bucket)
    line = CommandLine(empty_url, "clara_lab.cli", **{name: str(value) for name, value in values.items()})
    packed = line("bench", "pack", source, f"s3://{store.bucket}/sets/towns", "--env", env)
    assert packed.code == 0, packed
    assert "the-secret-key" not in packed.out + packed.err
    ran = line("bench", "run", "--env", env, "--out", tmp_path / "out")
    assert (ran.code, "faithfulness" in ran.out) == (0, True), ran
    run = json.loads(next((tmp_path / "out").glob("*.json")).read_text("utf-8"))
    assert (run["data"]["documents"], run["data"]["origin"]["copy"]) == (12, "fetched")
    assert {"chat", "embedding", "models"} == set(run["totals"]["requests"])
    missing = line("bench", "run", "--env", variables(env, MINIO_BUCKET_NAME="none"), "--out", tmp_path / "out")
    line.close()
    assert (missing.code, "MINIO_BUCKET_NAME" in missing.err) == (2, True), missing


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"EMBEDING_BATCH_SIZE": 1}, "do you mean EMBEDDING_BATCH_SIZE?"),
        ({"BENCH_DATA": "/nowhere"}, "/nowhere: does not exist"),
        ({}, "MINIO_ENDPOINT: missing"),
        ({"DEV_MODE": "true", "DEV_QUERIES": 12, "DEV_CORPUS_SIZE": 3}, "DEV_CORPUS_SIZE"),
    ],
)
def test_what_cannot_run_says_why(shell: Shell, source: Path, tmp_path: Path, values: dict[str, object], named: str) -> None:
    """Exit code 2, and every fault by its name."""
    given = {"BENCH_DATA": source, **values} if values else values
    ran = shell("run", "--env", variables(tmp_path / "run.env", **given), "--out", tmp_path / "out")
    assert (ran.code, named in ran.err) == (2, True), ran
    assert not list(tmp_path.glob("out/*"))


def test_files_that_are_none(shell: Shell, source: Path, tmp_path: Path) -> None:
    """A configuration that is not there, one that is no TOML, a run that is none, and a run that was never begun."""
    assert "python -m clara_lab bench variables" in shell("run", "--env", tmp_path / "none.env").err
    (tmp_path / "run.toml").write_text("RETRIEVAL_K = \n")
    assert shell("run", "--env", tmp_path / "run.toml").code == 2
    (tmp_path / "list.toml").write_text("RETRIEVAL_K = [1]\nBENCH_DATA = 3\n")
    ran = shell("run", "--env", tmp_path / "list.toml")
    assert (ran.code, "RETRIEVAL_K:" in ran.err, "BENCH_DATA:" in ran.err) == (2, True, True), ran
    other = variables(tmp_path / "other.json", a=1)
    ran = shell("compare", other, other)
    assert (ran.code, "other.json" in ran.err) == (2, True), ran
    env = variables(tmp_path / "run.env", BENCH_DATA=source)
    ran = shell("run", "--env", env, "--resume", "never", "--out", tmp_path / "out")
    assert (ran.code, "there are: none" in ran.err) == (2, True), ran


def test_an_unknown_peer_is_refused(shell: Shell, source: Path, tmp_path: Path) -> None:
    """A misspelt name ends with 2 and the names there are, before anything is embedded."""
    env = variables(tmp_path / "run.env", BENCH_DATA=source, GENERATION_ENABLED="false")
    done = shell("peers", "--env", env, "--only", "nobody", "--out", tmp_path / "out")
    assert (done.code, "there is no nobody; choose from" in done.err) == (2, True), done
