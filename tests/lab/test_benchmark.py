"""Tests of reading benchmarks and of the measures over ranked passages."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clara.settings import resources
from clara_lab.bench.dataset import BenchQuestion
from clara_lab.bench.ranking import recall_at, reciprocal_rank
from clara_lab.bench.summary import estimate
from clara_lab.benchmark import MEASURES, BenchmarkError, read_benchmark

ABOUT = """
profile = "encyclopedia"
measures = ["R@2", "MRR"]
goals = { "R@2" = 0.75 }
[corpus]
file = "corpus.jsonl"
title = "title"
text = "body"
language = "en"
[questions]
file = "queries.jsonl"
where = { split = "dev" }
"""
PASSAGES = [
    {"id": "p1", "title": "Lima", "body": "\ufeffA city by the sea.\u2028Much fog."},
    {"id": "p2", "body": "A city in the mountains."},
]
QUESTIONS = [
    {"id": "q1", "question": "Where is fog?", "gold": ["p1"], "split": "dev"},
    {"id": "q2", "question": "Which cities are there?", "gold": ["p1", "p2"], "split": "dev"},
    {"id": "q3", "question": "Kept for the end?", "gold": ["p1"], "split": "test"},
]


def benchmark(folder: Path, about: str = ABOUT, passages: Any = PASSAGES, questions: Any = QUESTIONS) -> Path:
    """Write a benchmark's files; what is not a list of objects is written as it is."""
    file = folder / "cities.toml"
    file.write_text(about)
    for name, held in (("corpus", passages), ("queries", questions)):
        lines = held if isinstance(held, str) else "\n\n".join(json.dumps(line, ensure_ascii=False) for line in held)
        (folder / f"{name}.jsonl").write_text(lines, "utf-8")
    return file


def test_reading(tmp_path: Path) -> None:
    """Corpus, questions of the split, measures and goals are read; texts stay whole and lose their byte order mark."""
    read = read_benchmark(benchmark(tmp_path), tmp_path)
    assert (read.name, read.profile, read.measures, read.goals) == ("cities", "encyclopedia", ("R@2", "MRR"), {"R@2": 0.75})
    assert read.questions == (
        BenchQuestion("q1", "Where is fog?", gold=frozenset({"p1"})),
        BenchQuestion("q2", "Which cities are there?", gold=frozenset({"p1", "p2"})),
    )
    first, second = read.passages
    assert (first.id, first.document_id, first.corpus, first.language) == ("p1", "p1", "bench-cities", "en")
    assert (first.heading, first.text) == (("Lima",), "A city by the sea.\u2028Much fog.")
    assert second.heading == ()


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        pytest.param({"about": "profile ="}, "TOMLDecodeError", id="not-toml"),
        pytest.param({"about": ABOUT.replace("profile", "kind")}, "profile\n  Field required", id="no-profile"),
        pytest.param({"about": ABOUT.replace("where = ", "when = ")}, "questions.where\n  Field required", id="no-condition"),
        pytest.param({"about": ABOUT.replace("MRR", "NDCG")}, "unknown measures NDCG; known are R@1", id="unknown-measure"),
        pytest.param({"about": ABOUT.replace("corpus.jsonl", "gone.jsonl")}, "gone.jsonl", id="no-corpus"),
        pytest.param({"about": ABOUT.replace('split = "dev"', 'lang = "en"')}, "no questions: in all of it", id="no-field"),
        pytest.param({"about": ABOUT.replace('"dev"', '"dve"')}, "no questions: in all of it", id="no-question-left"),
        pytest.param({"passages": []}, "no documents: in all of it", id="empty-corpus"),
        pytest.param({"passages": '{"id": "p1", "bo'}, "corpus.jsonl:1 (JSONDecodeError", id="cut-short"),
        pytest.param({"passages": [{"id": "p1"}]}, "no field 'body'", id="no-text"),
        pytest.param({"passages": [{"id": "p1", "body": None}]}, "no field 'body'", id="text-is-nothing"),
        pytest.param({"passages": [["p1"]]}, "corpus.jsonl:1 (not an object)", id="passage-is-a-list"),
        pytest.param({"questions": [{**QUESTIONS[0], "gold": []}]}, "question q1 has no passage that answers it", id="no-gold"),
        pytest.param({"questions": [{**QUESTIONS[0], "gold": "p1"}]}, "'gold' must be a list", id="gold-is-a-text"),
        pytest.param({"questions": [{**QUESTIONS[0], "gold": ["p9"]}]}, "absent documents: p9", id="gold-is-not-there"),
        pytest.param({"questions": [{"id": "q1", "gold": ["p1"], "split": "dev"}]}, "no field 'question'", id="no-question"),
    ],
)
def test_faults(tmp_path: Path, wrong: dict[str, Any], said: str) -> None:
    """A benchmark that cannot be read is refused by the name of its file, with what is wrong."""
    file = benchmark(tmp_path, **wrong)
    with pytest.raises(BenchmarkError) as caught:
        read_benchmark(file, tmp_path)
    assert str(caught.value).startswith(f"{file}: ")
    assert said in str(caught.value)


def test_no_such_benchmark(tmp_path: Path) -> None:
    """A file that is not there is named."""
    with pytest.raises(BenchmarkError, match=r"gone\.toml: FileNotFoundError"):
        read_benchmark(tmp_path / "gone.toml", tmp_path)


@pytest.mark.parametrize("file", sorted((resources() / "eval" / "benchmarks").glob("*.toml")), ids=lambda file: file.stem)
def test_stored_benchmarks(file: Path, tmp_path: Path) -> None:
    """Each stored description fails for want of its data only."""
    with pytest.raises(BenchmarkError, match="FileNotFoundError"):
        read_benchmark(file, tmp_path)


@pytest.mark.parametrize(("most", "kept"), [(1, 1), (2, 2), (500, 2)])
def test_sampling(tmp_path: Path, most: int, kept: int) -> None:
    """At most so many questions are kept, the same each time; the corpus stays."""
    read = read_benchmark(benchmark(tmp_path), tmp_path)
    sampled = read.sampled(most)
    assert len(sampled.questions) == kept
    assert set(sampled.questions) <= set(read.questions)
    assert (sampled, sampled.passages) == (read.sampled(most), read.passages)


@pytest.mark.parametrize(
    ("ranked", "gold", "expected"),
    [
        pytest.param(["a", "b", "c"], {"a"}, {"R@1": 1, "R@2": 1, "MRR": 1}, id="first"),
        pytest.param(["a", "b", "c"], {"c"}, {"R@1": 0, "R@2": 0, "R@5": 1, "MRR": 1 / 3}, id="third"),
        pytest.param(["a", "b", "c"], {"a", "x"}, {"R@1": 0.5, "R@10": 0.5, "MRR": 1}, id="half"),
        pytest.param(["a", "b"], {"x"}, {"R@10": 0, "MRR": 0}, id="none"),
        pytest.param([], {"x"}, {"R@1": 0, "MRR": 0}, id="nothing-found"),
        pytest.param(["a", "a", "b"], {"a", "b"}, {"R@2": 0.5, "R@5": 1}, id="twice"),
    ],
)
def test_measures(ranked: list[str], gold: set[str], expected: dict[str, float]) -> None:
    """Recall is the share of the answers among the first k; the reciprocal rank is that of the first answer."""
    assert {name: MEASURES[name](ranked, frozenset(gold)) for name in expected} == pytest.approx(expected)


@given(st.lists(st.sampled_from("abcdef"), max_size=8), st.frozensets(st.sampled_from("abcdef"), min_size=1))
def test_measures_stay_in_their_range(ranked: list[str], gold: frozenset[str]) -> None:
    """Every measure is between 0 and 1, and looking further never lowers recall."""
    values = [measure(ranked, gold) for measure in MEASURES.values()]
    assert all(0 <= value <= 1 for value in values)
    assert recall_at(2)(ranked, gold) <= recall_at(5)(ranked, gold)
    assert (reciprocal_rank(ranked, gold) > 0) is bool(gold & set(ranked))


@settings(max_examples=25, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_intervals(values: list[float]) -> None:
    """The interval holds the mean, stays within the values, and is the same each time."""
    estimated = estimate(values)
    assert estimated == estimate(values)
    assert min(values) - 1e-9 <= estimated.low <= estimated.high <= max(values) + 1e-9
    assert estimated.mean == pytest.approx(sum(values) / len(values))


def test_more_questions_make_narrower_intervals() -> None:
    """Four times the questions halve the interval, more or less."""
    few, many = estimate([0.0, 1.0] * 25), estimate([0.0, 1.0] * 100)
    assert (many.high - many.low) / (few.high - few.low) == pytest.approx(0.5, abs=0.12)
    assert few.low < 0.5 < few.high
