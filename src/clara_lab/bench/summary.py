"""A run in figures: the mean of each measure with its interval, how sure a difference is, and what failed.

Questions are resampled, and tests pair the runs by question. Each test is of one measure alone: who looks at twenty measures
finds one below .05 by chance.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.stats import binomtest, bootstrap

from clara.quality.measures import COVERED
from clara_lab.bench.ranking import measures_of, reranked_depth
from clara_lab.bench.record import QuestionRecord, Score

# The lower end of the interval of 387 hits (mean .80) moved by .010 between 30 seeds at 1,000 resamples, by .005 at 4,000.
RESAMPLES: Final = 4000
# Signs drawn by the randomisation test; the smallest p that it can give is one more than that, inverted.
FLIPS: Final = 9999
# Draws held at once, whatever the number of questions: 8 MB.
CELLS: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over questions with its bootstrap interval: resampled with replacement, the middle 95 %."""

    mean: float
    low: float
    high: float


def estimate(values: Sequence[float], seed: int = 0) -> Estimate:
    """Give the mean of one value a question, with its interval; that of a single value is the value itself."""
    mean = float(np.mean(values))
    if len(values) == 1:
        return Estimate(mean, mean, mean)
    batch = max(1, CELLS // len(values))
    options = {"n_resamples": RESAMPLES, "batch": batch, "confidence_level": COVERED, "method": "percentile", "rng": seed}
    ends = bootstrap((np.asarray(values, np.float64),), np.mean, vectorized=True, **options).confidence_interval
    return Estimate(mean, float(ends.low), float(ends.high))


def estimates(columns: Mapping[str, Sequence[float | None]], seed: int = 0) -> dict[str, Estimate]:
    """Give the mean of each measure with its interval; None is no value, and a measure without any is left out."""
    present = {name: [value for value in values if value is not None] for name, values in columns.items()}
    return {name: estimate(values, seed) for name, values in present.items() if values}


def randomisation_p(columns: Mapping[str, Sequence[float | None]], seed: int = 0) -> dict[str, float]:
    """Give for each column of differences the two-sided p under the hypothesis that each sign might as well be the other.

    Fisher's randomisation test with drawn signs, and one added to both counts (Phipson & Smyth 2010): never 0. Missing
    differences are as if there were none. The signs are the same for all columns: SciPy's permutation of pairs, which sorts
    them anew for each, takes minutes for the measures of 7,405 questions.
    """
    if not columns:
        return {}
    table = np.array([[value or 0.0 for value in values] for values in columns.values()], np.float64).T
    questions = len(table)
    # Sums that are equal on paper may differ in the last bit.
    seen = np.abs(table.sum(axis=0)) - 1e-9
    dice = np.random.default_rng(seed)
    extreme, at_once = np.zeros(len(columns), np.int64), max(1, CELLS // max(1, questions))
    for done in range(0, FLIPS, at_once):
        signs = dice.integers(0, 2, (min(at_once, FLIPS - done), questions), np.int8).astype(np.float64) * 2 - 1
        extreme += (np.abs(signs @ table) >= seen).sum(axis=0)
    return {name: float((count + 1) / (FLIPS + 1)) for name, count in zip(columns, extreme, strict=True)}


def mcnemar_p(gained: int, lost: int) -> float:
    """Give the exact two-sided p of McNemar's test: so many questions gained a hit and so many lost it."""
    return float(binomtest(gained, gained + lost).pvalue) if gained + lost else 1.0


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
