"""The table of peers, as Markdown for reading, and as CSV and JSON for computing with."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np

from clara_lab.bench.dataset import BenchQuestion
from clara_lab.bench.peers import PeerOutcome
from clara_lab.bench.ranking import Value, recall_at, reciprocal_rank
from clara_lab.bench.record import finite
from clara_lab.bench.reports import csv_table
from clara_lab.bench.summary import MEDIAN, TAIL, Estimate, estimates, randomisation_p
from clara_lab.templates import rendered

MEASURES: Final[Mapping[str, Value]] = {
    "R@2": recall_at(2),
    "R@5": recall_at(5),
    "R@10": recall_at(10),
    "MRR": reciprocal_rank,
}
# The measure by which rows are tested against the first one.
TESTED: Final = "R@5"
MEGABYTE: Final = 1_000_000
HEADS: Final = ("search", *MEASURES, "p", "p50 ms", "p95 ms", "questions/s", "index s", "peak MB", "installed MB", "packages")


@dataclass(frozen=True, slots=True)
class PeersTable:
    """All that was found: `data` as in the report of a run, `depth` how many documents were asked for."""

    started: str
    data: Mapping[str, Any]
    depth: int
    outcomes: tuple[PeerOutcome, ...]
    questions: tuple[BenchQuestion, ...]


@dataclass(frozen=True, slots=True)
class PeerRow:
    """The figures of one contender; `p` is of the difference of R@5 from `against`, None where that is this row itself."""

    name: str
    about: str
    version: str
    quality: Mapping[str, Estimate]
    p: float | None
    against: str
    p50_ms: float
    p95_ms: float
    questions_per_second: float
    open_seconds: float
    index_seconds: float
    peak_mb: float
    installed_mb: float
    packages: int


def rows_of(table: PeersTable) -> list[PeerRow]:
    """Give a row for each contender that was measured, tested against the first of them."""
    rows: list[PeerRow] = []
    base: Sequence[float] = ()
    answerable = [question for question in table.questions if question.gold]
    for outcome in table.outcomes:
        if (timed := outcome.timed) is None:
            continue
        columns = {
            name: [measure(timed.ranked[question.id], question.gold) for question in answerable]
            for name, measure in MEASURES.items()
        }
        tested = columns[TESTED]
        differences = {TESTED: [value - other for value, other in zip(tested, base, strict=True)]} if rows else {}
        base = base or tested
        p, against = randomisation_p(differences).get(TESTED), rows[0].name if rows else outcome.name
        p50, p95 = np.quantile(list(timed.milliseconds.values()), [MEDIAN, TAIL]).tolist()
        costs = (timed.questions_per_second, timed.open_seconds, timed.index_seconds)
        space = (timed.peak_bytes / MEGABYTE, timed.installed_bytes / MEGABYTE, timed.packages)
        row = PeerRow(outcome.name, outcome.about, timed.version, estimates(columns), p, against, p50, p95, *costs, *space)
        rows.append(row)
    return rows


def peers_markdown(table: PeersTable) -> str:
    """Give the table for reading, who is behind each name, and who is not in it and why."""
    absent = [outcome for outcome in table.outcomes if outcome.timed is None]
    about = {"data": table.data, "started": table.started, "depth": table.depth, "tested": TESTED}
    return rendered("peers.md", **about, heads=HEADS, measures=MEASURES, rows=rows_of(table), absent=absent)


def peers_csv(table: PeersTable) -> str:
    """Give one row a contender; of one that was not measured its name and the reason."""
    measured = {row.name: row for row in rows_of(table)}
    return csv_table([_flat(outcome, measured.get(outcome.name)) for outcome in table.outcomes])


def _flat(outcome: PeerOutcome, row: PeerRow | None) -> dict[str, Any]:
    flat: dict[str, Any] = {"name": outcome.name, "about": outcome.about}
    if row is not None:
        flat |= {name: value for name, value in asdict(row).items() if name != "quality"}
        for name, one in row.quality.items():
            flat |= {name: one.mean, f"{name}_low": one.low, f"{name}_high": one.high}
    return {**flat, "failure": outcome.failure, "remedy": outcome.remedy}


def peers_json(table: PeersTable) -> str:
    """Give everything: figures, and each ranking and time by question. No text of a document or question."""
    held = {
        "started": table.started,
        "data": dict(table.data),
        "depth": table.depth,
        "rows": [asdict(row) for row in rows_of(table)],
        "outcomes": [asdict(outcome) for outcome in table.outcomes],
    }
    return json.dumps(finite(held), indent=1) + "\n"
