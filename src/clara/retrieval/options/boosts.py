"""Raising hits whose metadata speaks for them: checked by a person, often used, of a handy length, recent."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from clara.retrieval.passage import Hit, Passage


@dataclass(frozen=True, slots=True)
class Boosts:
    """How much each signal raises a score. The defaults are DevMatrix's; a factor of 1 or a share of 0 switches one off.

    `approved` multiplies the score of a passage whose metadata has `approved` true. `usage_count` adds a hundredth for each
    use, up to the share `most_usage`. `handy` multiplies where the text has `shortest` to `longest` characters. `indexed_at`
    (ISO 8601; UTC where it names no zone) adds up to the share `recent`, halved every `half_life_days`.
    Raises ValueError for factors below 1, shares below 0, a half life that is not above 0, or what is no finite number.
    """

    approved: float = 1.2
    most_usage: float = 0.3
    handy: float = 1.1
    shortest: int = 50
    longest: int = 500
    # The source names recency without a value, and none was measured here: off until an ablation shows a gain.
    recent: float = 0.0
    half_life_days: float = 90.0

    def __post_init__(self) -> None:
        numbers = (self.approved, self.handy, self.most_usage, self.recent, self.half_life_days)
        if not all(math.isfinite(number) for number in numbers):
            msg = f"{self}: every number must be finite"
            raise ValueError(msg)
        if min(self.approved, self.handy) < 1 or min(self.most_usage, self.recent) < 0 or self.half_life_days <= 0:
            msg = f"{self}: a boost only raises; give factors from 1, shares from 0 and a half life above 0"
            raise ValueError(msg)


def boosted(hits: Sequence[Hit], boosts: Boosts, now: datetime) -> list[Hit]:
    """Raise the fused score of each hit by what its metadata says, in the order given. `now` needs a zone.

    Metadata is whatever JSON its owner wrote: a value of another type than expected raises nothing and is no error. There is
    no cap at 1.0 as in the source: the best candidates would all reach it, and tie.
    """
    return [replace(hit, score=_raised(hit.score, _factor(hit.passage, boosts, now))) for hit in hits]


def _raised(score: float, factor: float) -> float:
    return score * factor if score >= 0 else score / factor  # multiplying would push a score below zero further down


def _factor(passage: Passage, boosts: Boosts, now: datetime) -> float:
    approved = boosts.approved if passage.metadata.get("approved") is True else 1.0
    handy = boosts.handy if boosts.shortest <= len(passage.text) <= boosts.longest else 1.0
    used = min(_uses(passage.metadata) / 100, boosts.most_usage)
    return approved * handy * (1 + used) * (1 + boosts.recent * _freshness(passage.metadata, boosts.half_life_days, now))


def _uses(metadata: Mapping[str, Any]) -> float:
    count = metadata.get("usage_count")
    if isinstance(count, bool) or not isinstance(count, int | float) or not count > 0:
        return 0.0
    return float(min(count, 1e9))  # JSON allows integers that no float can hold


def _freshness(metadata: Mapping[str, Any], half_life_days: float, now: datetime) -> float:
    """Give 1 for what was indexed now (or later, where clocks disagree), halved every half life; 0 where unknown."""
    written = metadata.get("indexed_at")
    if not isinstance(written, str):
        return 0.0
    try:
        indexed = datetime.fromisoformat(written)
    except ValueError:
        return 0.0
    indexed = indexed if indexed.tzinfo is not None else indexed.replace(tzinfo=UTC)
    age: float = max(0.0, (now - indexed) / timedelta(days=1))
    return float(0.5 ** (age / half_life_days))
