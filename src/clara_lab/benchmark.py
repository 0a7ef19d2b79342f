"""Benchmarks of the ablation: a corpus, questions and which passages answer each, from data sets that a TOML file names."""

import random
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from pydantic import BaseModel

from clara.errors import Invalid
from clara.retrieval.passage import Passage
from clara_lab.bench.dataset import BenchDataError, BenchQuestion, assemble
from clara_lab.bench.formats import read_json_lines
from clara_lab.bench.ranking import Value, recall_at, reciprocal_rank

MEASURES: Final[Mapping[str, Value]] = {**{f"R@{k}": recall_at(k) for k in (1, 2, 5, 10)}, "MRR": reciprocal_rank}


class BenchmarkError(Invalid):
    """A benchmark cannot be read. The message names the file, the place and the remedy."""


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A corpus with its questions; `goals` says what each measure should reach."""

    name: str
    profile: str
    passages: tuple[Passage, ...]
    questions: tuple[BenchQuestion, ...]
    measures: tuple[str, ...]
    goals: Mapping[str, float]

    def sampled(self, most: int) -> "Benchmark":
        """Keep at most so many questions, always the same ones."""
        dice = random.Random(0)  # noqa: S311  a sample, nothing secret
        kept = self.questions if len(self.questions) <= most else tuple(dice.sample(self.questions, most))
        return replace(self, questions=kept)


class _CorpusFile(BaseModel):
    file: str
    language: str
    text: str
    title: str | None = None


class _QuestionsFile(BaseModel):
    file: str
    where: dict[str, str]


class _Description(BaseModel):
    profile: str
    measures: tuple[str, ...]
    goals: dict[str, float] = {}
    corpus: _CorpusFile
    questions: _QuestionsFile


def read_benchmark(file: Path, data: Path) -> Benchmark:
    """Read a benchmark's TOML and, from the folder `data`, its corpus and questions in JSON Lines. Raises BenchmarkError."""
    about = _read(file)
    if unknown := sorted(set(about.measures) - MEASURES.keys()):
        raise BenchmarkError(f"{file}: unknown measures {', '.join(unknown)}; known are {', '.join(MEASURES)}")
    corpus, asked = about.corpus, about.questions
    try:
        held = assemble(file.stem, read_json_lines(data / corpus.file, data / asked.file, asked.where, corpus.text))
    except BenchDataError as error:
        raise BenchmarkError(f"{file}: {error}; is the data folder {data} complete, and is 'where' right?") from error
    if bare := [question.id for question in held.questions if not question.gold]:
        raise BenchmarkError(f"{file}: question {bare[0]} has no passage that answers it; 'gold' must name one or more")
    passages = tuple(
        Passage(
            one.id, f"bench-{held.name}", "default", one.id, "", (one.title,) if corpus.title and one.title else (), one.text,
            corpus.language,
        )
        for one in held.documents
    )  # fmt: skip
    return Benchmark(file.stem, about.profile, passages, held.questions, about.measures, about.goals)


def missing_files(files: Iterable[Path], data: Path) -> list[str]:
    """Name the files of benchmarks that the folder `data` lacks, each once. Raises BenchmarkError."""
    named = (name for about in map(_read, files) for name in (about.corpus.file, about.questions.file))
    return list(dict.fromkeys(name for name in named if not (data / name).is_file()))


def _read(file: Path) -> _Description:
    try:
        return _Description.model_validate(tomllib.loads(file.read_text("utf-8")))
    except (OSError, ValueError) as error:
        raise BenchmarkError(f"{file}: {type(error).__name__}: {error}; correct it") from error
