"""Benchmarks of retrieval: a corpus, questions, and which passages answer each; measures over the ranked passages."""

import json
import random
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from clara.errors import Invalid
from clara.quality.measures import COVERED, RESAMPLES
from clara.retrieval.passage import Passage


class BenchmarkError(Invalid):
    """A benchmark cannot be read. The message names the file, the place and the remedy."""


@dataclass(frozen=True, slots=True)
class BenchmarkQuestion:
    """One question and the ids of all passages that answer it."""

    id: str
    text: str
    gold: frozenset[str]


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A corpus with its questions; `goals` says what each measure should reach."""

    name: str
    profile: str
    passages: tuple[Passage, ...]
    questions: tuple[BenchmarkQuestion, ...]
    measures: tuple[str, ...]
    goals: Mapping[str, float]

    def sampled(self, most: int) -> "Benchmark":
        """Keep at most so many questions, always the same ones."""
        dice = random.Random(0)  # noqa: S311  a sample, nothing secret
        kept = self.questions if len(self.questions) <= most else tuple(dice.sample(self.questions, most))
        return replace(self, questions=kept)


def read_benchmark(file: Path, data: Path) -> Benchmark:
    """Read a benchmark's TOML and, from the folder `data`, its corpus and questions in JSON Lines. Raises BenchmarkError."""
    try:
        about = tomllib.loads(file.read_text("utf-8"))
        name = file.stem
        fields, asked = about["corpus"], about["questions"]
        passages = tuple(_passage(f"bench-{name}", fields, line) for line in _lines(data / fields["file"]))
        kept = [
            line for line in _lines(data / asked["file"]) if all(line[key] == value for key, value in asked["where"].items())
        ]
        questions = tuple(_asked(line) for line in kept)
        measures = tuple(about["measures"])
        unknown = sorted(set(measures) - MEASURES.keys())
        if unknown:
            raise BenchmarkError(f"{file}: unknown measures {', '.join(unknown)}; known are {', '.join(MEASURES)}")
        if not passages or not questions:
            raise BenchmarkError(f"{file}: {len(passages)} passages and {len(questions)} questions; check 'file' and 'where'")
        return Benchmark(name, about["profile"], passages, questions, measures, about.get("goals", {}))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise BenchmarkError(f"{file}: {type(error).__name__}: {error}; is the data folder {data} complete?") from error


def missing_files(files: Iterable[Path], data: Path) -> list[str]:
    """Name the files of benchmarks that the folder `data` lacks, each once. Raises BenchmarkError."""
    missing: dict[str, None] = {}
    for file in files:
        try:
            about = tomllib.loads(file.read_text("utf-8"))
            wanted = [about[part]["file"] for part in ("corpus", "questions")]
            missing |= dict.fromkeys(name for name in wanted if not (data / name).is_file())
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise BenchmarkError(f"{file}: {type(error).__name__}: {error}; correct it") from error
    return list(missing)


def _lines(file: Path) -> list[dict[str, Any]]:
    # Not splitlines: U+2028 and its kind may stand inside a text.
    return [json.loads(line) for line in file.read_text("utf-8").split("\n") if line.strip()]


def _asked(line: Mapping[str, Any]) -> BenchmarkQuestion:
    if not isinstance(line["gold"], list) or not line["gold"]:
        raise ValueError(f"question {line['id']}: 'gold' must be a list of one passage or more")
    return BenchmarkQuestion(line["id"], line["question"], frozenset(line["gold"]))


def _passage(corpus: str, fields: Mapping[str, str], line: Mapping[str, Any]) -> Passage:
    title = line.get(fields.get("title", ""), "")
    text = line[fields["text"]].lstrip("\ufeff")
    return Passage(line["id"], corpus, "default", line["id"], "", (title,) if title else (), text, fields["language"])


Value = Callable[[Sequence[str], frozenset[str]], float]


def recall_at(k: int) -> Value:
    """Share of the answering passages among the first k."""
    return lambda ranked, gold: len(gold & set(ranked[:k])) / len(gold)


def reciprocal_rank(ranked: Sequence[str], gold: frozenset[str]) -> float:
    """1 / rank of the first answering passage, 0 where there is none."""
    return next((1 / rank for rank, name in enumerate(ranked, 1) if name in gold), 0.0)


MEASURES: Mapping[str, Value] = {
    "R@1": recall_at(1),
    "R@2": recall_at(2),
    "R@5": recall_at(5),
    "R@10": recall_at(10),
    "MRR": reciprocal_rank,
}


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over questions with its bootstrap interval: resampled with replacement, the middle 95 %."""

    mean: float
    low: float
    high: float


def estimate(values: Sequence[float], seed: int = 0) -> Estimate:
    """Give the mean of one value a question, with its interval. Needs at least one value."""
    dice = random.Random(seed)  # noqa: S311  resampling, nothing secret
    drawn = sorted(fmean(dice.choices(values, k=len(values))) for _ in range(RESAMPLES))
    cut = int(RESAMPLES * (1 - COVERED) / 2)
    return Estimate(fmean(values), drawn[cut], drawn[-1 - cut])
