"""How sure a mean, and a difference of means, is: resampling of questions, and tests that pair the runs by question.

Each test is of one measure alone. Who looks at twenty measures finds one below .05 by chance.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from clara.quality.measures import COVERED
from clara_lab.benchmark import Estimate

Floats = npt.NDArray[np.float64]

# The lower end of the interval of 387 hits (mean .80) moved by .010 between 30 seeds at 1,000 resamples, by .005 at 4,000.
RESAMPLES: Final = 4000
# Signs drawn by the randomisation test; the smallest p that it can give is one more than that, inverted.
FLIPS: Final = 9999
# Draws held at once, whatever the number of questions: 8 MB.
CELLS: Final = 1_000_000


def estimates(columns: Mapping[str, Sequence[float | None]], seed: int = 0) -> dict[str, Estimate]:
    """Give the mean of each measure with its bootstrap interval over questions; a measure without any value is left out.

    All columns are of the same questions in the same order; None is a value that is missing, and enters no mean. The
    questions drawn are the same for all columns. An interval of fewer than two values is the value itself.
    """
    named = {name: values for name, values in columns.items() if any(value is not None for value in values)}
    if not named:
        return {}
    table = np.array([[np.nan if value is None else value for value in values] for values in named.values()], np.float64).T
    present = ~np.isnan(table)
    filled = np.where(present, table, 0.0)
    drawn = np.concatenate([_means(weights, filled, present) for weights in _draws(len(table), seed)])
    ends = np.nanquantile(drawn, [(1 - COVERED) / 2, (1 + COVERED) / 2], axis=0)
    means = filled.sum(axis=0) / present.sum(axis=0)
    return {name: Estimate(*map(float, (means[at], ends[0, at], ends[1, at]))) for at, name in enumerate(named)}


def _draws(questions: int, seed: int) -> Iterator[Floats]:
    """Give how often each question was drawn, some resamples at a time: shape (resamples, questions)."""
    dice = np.random.default_rng(seed)
    at_once = max(1, CELLS // questions)
    for done in range(0, RESAMPLES, at_once):
        resamples = min(at_once, RESAMPLES - done)
        # One count for all resamples at once, each with numbers of its own: twice as fast as drawing multinomials.
        drawn = dice.integers(0, questions, (resamples, questions)) + np.arange(resamples)[:, None] * questions
        counted = np.bincount(drawn.ravel(), minlength=resamples * questions)
        yield counted.reshape(resamples, questions).astype(np.float64)


def _means(weights: Floats, filled: Floats, present: npt.NDArray[np.bool_]) -> Floats:
    counted = weights @ present.astype(np.float64)
    # A resample may hold no question that has the measure; it says nothing about it.
    means: Floats = np.divide(weights @ filled, counted, out=np.full(counted.shape, np.nan), where=counted > 0)
    return means


def randomisation_p(columns: Mapping[str, Sequence[float | None]], seed: int = 0) -> dict[str, float]:
    """Give for each column of differences the two-sided p under the hypothesis that each sign might as well be the other.

    Fisher's randomisation test with drawn signs, and one added to both counts (Phipson & Smyth 2010): never 0. Missing
    differences are as if there were none. The signs are the same for all columns.
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
    changed = gained + lost
    if not changed:
        return 1.0
    ways = tail = 1  # to choose none of the changed ones; then one more each time
    for number in range(min(gained, lost)):
        ways = ways * (changed - number) // (number + 1)
        tail += ways
    return min(1.0, 2 * tail / (1 << changed))  # whole numbers, however large, until this division
