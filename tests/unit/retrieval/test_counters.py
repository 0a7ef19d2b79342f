"""Tests of reading histograms and rates off counters."""

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clara.retrieval.metrics import BOUNDS_MS, Histogram, Series, bucket_of, histograms, summary


def histogram_of(*milliseconds: float) -> Histogram:
    """Make the histogram of these durations as they would be counted."""
    counters: dict[Series, float] = {Series("stage_ms", ("s",)): sum(milliseconds)}
    for taken in milliseconds:
        series = Series("stage_buckets", ("s", bucket_of(taken)))
        counters[series] = counters.get(series, 0) + 1
    return histograms(counters)["s"]


@pytest.mark.parametrize(
    ("milliseconds", "bucket"),
    [(0.0, "1"), (1.0, "1"), (1.01, "2.5"), (2.5, "2.5"), (999.0, "1000"), (10_000.0, "10000"), (10_000.1, "inf")],
)
def test_buckets(milliseconds: float, bucket: str) -> None:
    """A duration is in the first bucket whose bound it does not exceed."""
    assert bucket_of(milliseconds) == bucket


def test_quantiles_are_interpolated() -> None:
    """Ten durations evenly in (10, 25]: the middle is estimated in the middle of the bucket."""
    histogram = histogram_of(*[12.0] * 10)
    assert histogram.quantile(0.5) == pytest.approx(17.5)
    assert histogram.quantile(1.0) == pytest.approx(25.0)


def test_beyond_the_last_bound_only_the_bound_is_known() -> None:
    """A quantile above every finite bound is given as the last of them, which is JSON; infinity is not."""
    assert histogram_of(20_000.0).quantile(0.95) == 10_000.0


def test_nothing_measured() -> None:
    """An empty histogram has mean and quantiles 0."""
    empty = Histogram(tuple((bound, 0) for bound in BOUNDS_MS), 0.0)
    assert (empty.count, empty.mean_ms, empty.quantile(0.5)) == (0, 0.0, 0.0)


@given(
    milliseconds=st.lists(st.floats(0, 9_999), min_size=1, max_size=60),
    share=st.sampled_from([0.01, 0.5, 0.95, 1.0]),
)
def test_an_estimate_is_in_the_bucket_of_the_true_quantile(milliseconds: list[float], share: float) -> None:
    """Whatever was measured, the estimate is no further off than the bucket that holds the true quantile is wide."""
    rank = max(1, -int(-share * len(milliseconds) // 1))
    true = sorted(milliseconds)[rank - 1]
    upper = next(bound for bound in BOUNDS_MS if true <= bound)
    lower = max((bound for bound in BOUNDS_MS if bound < upper), default=0.0)
    assert lower <= histogram_of(*milliseconds).quantile(share) <= upper + 1e-9


def test_bounds_of_an_earlier_release_still_count() -> None:
    """A bucket whose bound is no longer in use stays part of the histogram."""
    histogram = histograms({Series("stage_buckets", ("s", "40")): 3.0, Series("stage_buckets", ("s", "50")): 1.0})["s"]
    assert histogram.count == 4
    assert [bound for bound, count in histogram.counts if count] == [40.0, 50.0]
    assert histogram.counts[-1][0] == inf


def test_unknown_counters_are_passed_over() -> None:
    """A counter of a newer release does not disturb the summary of an older one."""
    known = {Series("retrievals", ("pgvector", "found")): 2.0}
    assert summary({**known, Series("novelty", ("x",)): 1.0}) == summary(known)
