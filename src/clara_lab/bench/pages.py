"""The pages that a browser opens without a network: of one run, and of two runs beside each other."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from markupsafe import Markup

from clara_lab.bench.comparison import (
    DRAWN,
    HEADS,
    NOT_CORRECTED,
    Comparison,
    cells_of,
    changed_by_measure,
    notes_of,
    shown_value,
)
from clara_lab.bench.plots import Bar, histogram, intervals, lines, shares
from clara_lab.bench.ranking import DEPTHS, RERANKED, first_gold_rank
from clara_lab.bench.record import QuestionRecord, RunRecord, Score
from clara_lab.bench.summary import MEDIAN, TAIL, Figures, Summary, failures, grouped, percentile, summarise, times
from clara_lab.templates import rendered

# Measures that head the page and are told by type and level, where the run has them.
HEADLINES: Final = (
    *("recall@5", "hit@1", "mrr", "ndcg@10"), f"{RERANKED}recall@5", *("f1", "exact_match", "accuracy", "faithfulness"),
)  # fmt: skip
BY_GROUP: Final = ("recall@5", "f1", "accuracy")
# The questions that went worst, and the most that a cell says of one.
WORST: Final = 25
CELL_LETTERS: Final = 240

Rows = Sequence[Mapping[str, Score]]
# A plot under its title, with a note of how to read it.
Plot = tuple[str, str, Markup]


def run_page(record: RunRecord, figures: Figures) -> str:
    """Give the page of a run. It holds questions, expected and written answers and ids, no contents of documents."""
    questions, rows, summaries = record.questions, figures.rows, figures.summaries
    moved = None if all(question.reranked is None for question in questions) else _moved(rows)
    note = "From left to right: questions that lost, stayed and gained by the reranker's order."
    title = "Gains and losses by reranking"
    taken = times(questions)
    return rendered(
        "run.html",
        title=f"Run {record.run_id}",
        data=record.data,
        questions=len(questions),
        started=record.started,
        tiles=_tiles(record, summaries),
        quality=[*_curves(summaries), *_groups(questions, rows)],
        measures=[[name, *_bounds(one), str(one.count), str(one.errors)] for name, one in summaries.items()],
        reranked=None if moved is None else [(title, note, shares(title, moved))] if moved else [],
        reranked_rows=[[name, *map(str, numbers)] for name, numbers in (moved or {}).items()],
        rerank_failures=sum(question.reranked is False for question in questions),
        latencies=list(_latencies(questions)),
        times=[
            [stage, str(one.count), *(f"{value:.1f}" for value in (one.mean, one.p50, one.p95, one.longest))]
            for stage, one in taken.items()
        ],
        failures=[[_shortened(reason), str(count)] for reason, count in failures(questions).most_common(WORST)],
        worst=_worst(questions, rows),
        settings=[
            (called, sorted([name, shown_value(value)] for name, value in held.items()))
            for called, held in (("Data", record.data), ("Plan", record.plan), ("Totals", record.totals))
        ],
    )


def comparison_page(compared: Comparison) -> str:
    """Give the page of a comparison."""
    drawn = {
        one.name: (one.worse, one.count - one.worse - one.better, one.better)
        for one in compared.differences
        if one.name in DRAWN
    }
    note = "From left to right: questions for which the second run is worse, the same, and better."
    title, *notes = notes_of(compared)
    return rendered(
        "comparison.html",
        title=title,
        notes=notes,
        drawn=[("Gains and losses", note, shares("Gains and losses", drawn))] if drawn else [],
        not_corrected=NOT_CORRECTED,
        heads=HEADS,
        differences=[cells_of(one) for one in compared.differences],
        settings=[[name, *map(shown_value, both)] for name, both in compared.settings.items()],
        changed=list(_changed(compared)),
    )


def _changed(compared: Comparison) -> Iterator[tuple[str, int, int, list[list[str]]]]:
    """Give one folded table a measure: all together they may be long."""
    for name, (gained, lost) in changed_by_measure(compared).items():
        rows = [
            [one.question, one.text, f"{one.first:.2f}", f"{one.second:.2f}", _rank(one.first_rank), _rank(one.second_rank)]
            for one in compared.changed
            if one.measure == name
        ]
        yield name, len(gained), len(lost), rows


def _tiles(record: RunRecord, summaries: Mapping[str, Summary]) -> list[tuple[str, str, str]]:
    """Give the headline figures: name, figure, and a line below."""
    found = {name: summaries[name].estimate for name in HEADLINES if name in summaries}
    tiles = [(name, f"{one.mean:.3f}", f"{one.low:.3f} to {one.high:.3f}") for name, one in found.items() if one]
    shown = {stage: one for stage, one in times(record.questions).items() if stage in {"retrieve", "generate"}}
    tiles += [(f"{stage}, p50", f"{one.p50:.1f} ms", f"p95 {one.p95:.1f} ms") for stage, one in shown.items()]
    failed = sum(bool(question.failures) for question in record.questions)
    return [*tiles, ("questions with a failure", str(failed), f"of {len(record.questions)}")]


def _curves(summaries: Mapping[str, Summary]) -> Iterator[Plot]:
    series = {}
    for family in ("hit", "recall", "ndcg"):
        found = [one.estimate for depth in DEPTHS if (one := summaries.get(f"{family}@{depth}")) and one.estimate]
        if len(found) == len(DEPTHS):
            series[family] = found
    if series:
        note = "The search's own list, before reranking. Bands: 95 % intervals over questions."
        yield "By depth", note, lines("Quality by depth", DEPTHS, series)


def _groups(questions: Sequence[QuestionRecord], rows: Rows) -> Iterator[Plot]:
    for by, called in (("question_type", "type"), ("level", "level")):
        places = grouped(questions, by)
        if len(places) < 2:  # noqa: PLR2004  nothing to tell apart
            continue
        for name in BY_GROUP:
            found = {group: summarise([rows[at] for at in held], [name])[name] for group, held in places.items()}
            bars = [Bar(group, one.estimate, one.count) for group, one in found.items() if one.estimate]
            if len(bars) > 1:
                title = f"{name} by {called}"
                yield title, "Mean with its 95 % interval.", intervals(title, bars)


def _bounds(summary: Summary) -> tuple[str, str, str]:
    one = summary.estimate
    return (f"{one.mean:.4f}", f"{one.low:.4f}", f"{one.high:.4f}") if one else ("–", "–", "–")


def _moved(rows: Rows) -> dict[str, tuple[int, int, int]]:
    """Count for each measure the questions that lost, stayed and gained by reranking."""
    counted = {}
    for name in rows[0] if rows else ():
        after = f"{RERANKED}{name}"
        pairs = [(row[name].value, row[after].value) for row in rows if name in row and after in row]
        moved = [second - first for first, second in pairs if first is not None and second is not None]
        if moved and not name.startswith(("failure", "complement", "ndcg")):
            lost, gained = sum(change < 0 for change in moved), sum(change > 0 for change in moved)
            counted[name] = (lost, len(moved) - lost - gained, gained)
    return counted


def _latencies(questions: Sequence[QuestionRecord]) -> Iterator[Plot]:
    for stage in times(questions):
        ordered = sorted(question.milliseconds[stage] for question in questions if stage in question.milliseconds)
        marks = {"p50": percentile(ordered, MEDIAN), "p95": percentile(ordered, TAIL)}
        yield stage, "Questions by milliseconds.", histogram(f"Latency of {stage}", ordered, marks, "ms")


def _worst(questions: Sequence[QuestionRecord], rows: Rows) -> list[list[str]]:
    """Order: what was not searched, then by the answer, then by the ranking. What has no such measure counts as good."""

    def worth(at: int) -> tuple[bool, float, float, int]:
        record, row = questions[at], rows[at]
        ranked = row.get("mrr", Score(1.0)).value
        searched = bool(record.retrieved) or not record.failures
        return (searched, _answer_value(row, 1.0), 1.0 if ranked is None else ranked, at)

    return [_question_cells(questions[at], rows[at]) for at in sorted(range(len(questions)), key=worth)[:WORST]]


def _answer_value(row: Mapping[str, Score], missing: float) -> float:
    value = next((row[name].value for name in ("accuracy", "f1") if name in row), None)
    return missing if value is None else value


def _question_cells(record: QuestionRecord, row: Mapping[str, Score]) -> list[str]:
    question, recall = record.question, row.get("recall@5", Score(None)).value
    answered = _answer_value(row, -1.0)
    return [
        question.id,
        _shortened(question.text),
        _shortened(question.answer),
        "(nothing)" if record.answer is None else _shortened(record.answer),
        "–" if answered < 0 else f"{answered:.2f}",
        "–" if recall is None else f"{recall:.2f}",
        _rank(first_gold_rank(record.retrieved, question.gold)),
        _shortened("; ".join(record.failures)),
    ]


def _rank(rank: int | None) -> str:
    return str(rank or "–")


def _shortened(words: str) -> str:
    return words if len(words) <= CELL_LETTERS else words[:CELL_LETTERS] + "…"
