"""The ablation on a tiny benchmark: every stored variant runs, and what links and names are for shows in the figures."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.integration.wired import CommandLine, WordEmbedder, database, wired

from clara.adapters.postgres.embedded import EmbeddedServer
from clara.container import Container
from clara.settings import resources
from clara_lab.ablation import AblationRow, Variant, load, main, markdown, measure, plot, read_variants
from clara_lab.benchmark import Benchmark, BenchmarkError, read_benchmark

ABOUT = """
profile = "encyclopedia"
measures = ["R@2", "R@5", "MRR"]
goals = { "R@2" = 0.9 }
[corpus]
file = "corpus.jsonl"
title = "title"
text = "text"
language = "en"
[questions]
file = "queries.jsonl"
where = {}
"""
# Each question's second passage shares no word with it: only its name, in the first passage, leads there.
TEXTS = {
    "Arthur Ashby": "He painted the great bridge and later married Clara Dorn.",
    "Clara Dorn": "Singer, born at Vienna during winter.",
    "Blue Harbour": "The oldest port, designed by Emil Frey.",
    "Emil Frey": "Born in Bern, dead at forty.",
    "Green Valley": "Farmers grow wheat, barley and oats here.",
    "The Oats Prize": "Awarded every spring for poems about rain.",
}
QUESTIONS = {
    "Who was the wife of the man who painted the great bridge?": ["Arthur Ashby", "Clara Dorn"],
    "Which engineer designed the oldest port?": ["Blue Harbour", "Emil Frey"],
    "For what is The Oats Prize awarded?": ["The Oats Prize"],
    "Where do farmers grow wheat and barley?": ["Green Valley"],
}
VARIANTS = read_variants(resources() / "eval" / "variants.toml")
BY_NAME = {variant.name: variant for variant in VARIANTS}


@pytest.fixture(scope="module")
def benchmark(tmp_path_factory: pytest.TempPathFactory) -> Benchmark:
    folder = tmp_path_factory.mktemp("benchmark")
    passages = [{"id": title, "title": title, "text": text} for title, text in TEXTS.items()]
    questions = [{"id": question, "question": question, "gold": gold} for question, gold in QUESTIONS.items()]
    for name, lines in (("corpus", passages), ("queries", questions)):
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, lines)))
    (folder / "tiny.toml").write_text(ABOUT)
    return read_benchmark(folder / "tiny.toml", folder)


@pytest.fixture(scope="module")
def embedder() -> WordEmbedder:
    return WordEmbedder()


@pytest.fixture(scope="module")
def services(
    server: EmbeddedServer, templates: dict[str, str], benchmark: Benchmark, embedder: WordEmbedder
) -> Iterator[Container]:
    """Container on a database that holds the benchmark."""
    with database(server, templates["schema"]) as url, wired(url) as made:
        made.embedder = embedder
        load(made, benchmark, quiet)
        yield made


def quiet(_done: int, _total: int) -> None:
    """Say nothing of progress."""


@pytest.mark.parametrize("variant", VARIANTS, ids=[variant.name for variant in VARIANTS])
def test_every_variant_runs(services: Container, benchmark: Benchmark, variant: Variant) -> None:
    """Each stored variant asks every question, and its figures are possible ones."""
    if not variant.fits(benchmark.name):
        assert variant.only
        return
    seen: list[tuple[int, int]] = []
    row = measure(services, benchmark, variant, lambda done, total: seen.append((done, total)))
    assert (row.benchmark, row.variant, row.questions) == ("tiny", variant.name, 4)
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert list(row.measures) == ["R@2", "R@5", "MRR"]
    assert all(0 <= estimated.low <= estimated.mean <= estimated.high <= 1 for estimated in row.measures.values())
    assert row.measures["R@2"].mean <= row.measures["R@5"].mean
    assert row.measures["R@5"].mean > 0
    assert 0 < row.p50 <= row.p95
    assert row.memory > 0


def recall(services: Container, benchmark: Benchmark, name: str) -> float:
    return measure(services, benchmark, BY_NAME[name], quiet).measures["R@2"].mean


def test_links_and_names_are_what_finds_the_second_passage(services: Container, benchmark: Benchmark) -> None:
    """With links every passage is found; without them those are missed that share no word with their question."""
    whole, unlinked = (recall(services, benchmark, name) for name in ("profile", "profile without links"))
    assert whole == 1
    assert unlinked == 0.75
    assert recall(services, benchmark, "both, .7 + .3") <= unlinked


def test_repeating_embeds_nothing(services: Container, benchmark: Benchmark, embedder: WordEmbedder) -> None:
    """Passages and questions are remembered in the database: a second run computes no vector."""
    measure(services, benchmark, BY_NAME["profile"], quiet)
    before = len(embedder.embedded)
    load(services, benchmark, quiet)
    measure(services, benchmark, BY_NAME["profile, mmr"], quiet)
    assert len(embedder.embedded) == before


def test_the_report(services: Container, benchmark: Benchmark, tmp_path: Path) -> None:
    """What was measured can be written as a table and as a plot."""
    rows: list[AblationRow] = [measure(services, benchmark, BY_NAME[name], quiet) for name in ("profile", "dense only")]
    goals = {benchmark.name: benchmark.goals}
    table = markdown(rows, goals)
    plot(rows, goals, tmp_path)
    assert "## tiny, 4 questions" in table
    assert "Goal: R@2 0.90." in table
    assert "| profile | **1.000 (1.000-1.000)** |" in table
    assert (tmp_path / "ablation.png").stat().st_size > 5_000


@pytest.mark.parametrize(
    ("content", "said"),
    [("", "'variant'"), ("[[variant]]\nname = 1\ncolour = 2", "colour"), ("[[variant]]\nchange = {}", "name"), ("=", "line 1")],
    ids=["empty", "unknown-field", "no-name", "not-toml"],
)
def test_faulty_variants(tmp_path: Path, content: str, said: str) -> None:
    """A file of variants that cannot be read is named, with what is wrong."""
    file = tmp_path / "variants.toml"
    file.write_text(content)
    with pytest.raises(BenchmarkError, match=r"variants\.toml: ") as caught:
        read_variants(file)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        pytest.param(["--only", "hotpot"], "--only: hotpot; choose of clara, cosqa", id="benchmark"),
        pytest.param(["--variant", "best"], "--variant: best; choose of dense only", id="variant"),
    ],
)
def test_unknown_names(tmp_path: Path, options: list[str], said: str) -> None:
    """A misspelt benchmark or variant is refused before anything is loaded, with the names there are."""
    ran = CliRunner().invoke(main, ["--data", str(tmp_path), *options])
    assert ran.exit_code == 2
    assert said in " ".join(ran.output.split())


def test_missing_data_is_said_before_anything_runs(tmp_path: Path) -> None:
    """The folder, each file that it lacks and the remedy are named, with exit code 2; no database was started for it."""
    home, out = tmp_path / "home", tmp_path / "out"
    line = CommandLine("", "clara_lab.ablation:main", CLARA_HOME=str(home))
    ran = line("--data", tmp_path / "data", "--out", out)
    line.close()
    assert ran.code == 2
    assert f"{tmp_path / 'data'} lacks cosqa/corpus.jsonl, cosqa/queries.dev.jsonl, hotpotqa/" in ran.err
    assert "make ablation DATA=FOLDER" in ran.err
    assert ran.err.count("xquad/corpus.es.jsonl") == 1
    assert not home.exists()
    assert not out.exists()
