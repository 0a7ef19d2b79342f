"""A run in figures: the mean of each measure with its interval, how many questions it is of, and what failed."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from clara_lab.bench.ranking import measures_of, reranked_depth
from clara_lab.bench.record import QuestionRecord, Score
from clara_lab.bench.significance import Estimate, estimates

# Percentiles that are reported of times.
MEDIAN, TAIL = 0.50, 0.95
# What a question's type or level is called where the source says none.
UNNAMED: Final = "(none)"
# Names that have an order of their own; all others follow by the alphabet.
ORDERED: Final = ("easy", "medium", "hard")


@dataclass(frozen=True, slots=True)
class Summary:
    """One measure over questions: `count` had a value, for `errors` measuring failed. Without a value there is no estimate."""

    estimate: Estimate | None
    count: int
    errors: int


@dataclass(frozen=True, slots=True)
class Times:
    """Milliseconds of one stage over questions."""

    count: int
    mean: float
    p50: float
    p95: float
    longest: float


@dataclass(frozen=True, slots=True)
class Figures:
    """The measures of each question of a run, in their order, and the summary of each measure."""

    rows: Sequence[Mapping[str, Score]]
    summaries: Mapping[str, Summary]


def figures_of(questions: Sequence[QuestionRecord]) -> Figures:
    """Measure a run for all of its reports: of thousands of questions that takes seconds."""
    rows = measured_rows(questions)
    return Figures(rows, summarise(rows))


def measured_rows(questions: Sequence[QuestionRecord]) -> list[dict[str, Score]]:
    """Give the measures of each question, in their order."""
    depth = reranked_depth(questions)
    return [measures_of(question, depth) for question in questions]


def summarise(rows: Sequence[Mapping[str, Score]], names: Sequence[str] = ()) -> dict[str, Summary]:
    """Give the summary of each measure (or of those named), in the order in which they first occur."""
    wanted = names or list(dict.fromkeys(name for row in rows for name in row))
    absent = Score(None)
    columns = {name: [row.get(name, absent).value for row in rows] for name in wanted}
    found = estimates(columns)
    return {
        name: Summary(
            found.get(name),
            sum(value is not None for value in columns[name]),
            sum(bool(row.get(name, absent).error) for row in rows),
        )
        for name in wanted
    }


def grouped(questions: Sequence[QuestionRecord], by: str) -> dict[str, list[int]]:
    """Give the places of the questions by their `question_type`, `level` or `answer_type`: easy before hard, else by name."""
    groups: dict[str, list[int]] = {}
    for place, record in enumerate(questions):
        groups.setdefault(str(getattr(record.question, by)) or UNNAMED, []).append(place)
    first = {name: place for place, name in enumerate(ORDERED)}
    return {name: groups[name] for name in sorted(groups, key=lambda name: (first.get(name, len(first)), name))}


def times(questions: Sequence[QuestionRecord]) -> dict[str, Times]:
    """Give the times of each stage."""
    stages = dict.fromkeys(stage for record in questions for stage in record.milliseconds)
    found = {}
    for stage in stages:
        taken = sorted(record.milliseconds[stage] for record in questions if stage in record.milliseconds)
        mean = sum(taken) / len(taken)
        found[stage] = Times(len(taken), mean, percentile(taken, MEDIAN), percentile(taken, TAIL), taken[-1])
    return found


def percentile(values: Sequence[float], share: float) -> float:
    """Give the value below or at which that share of the values lies (nearest rank)."""
    return float(np.quantile(values, share, method="inverted_cdf"))


def failures(questions: Sequence[QuestionRecord]) -> Counter[str]:
    """Count questions by what failed: reasons of the run, and measures that have an error."""
    counted: Counter[str] = Counter()
    for record in questions:
        counted.update(set(record.failures))
        counted.update({f"measure {name}: {one.error}" for name, one in record.measures.items() if one.error})
    return counted
