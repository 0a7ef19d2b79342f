"""The page of one run: how good, how fast, what reranking changed, what failed, and which questions went worst."""

import json
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, Final

from clara_lab.bench.page import figure, page, paragraph, plots, section, table, tiles
from clara_lab.bench.plots import Bar, histogram, intervals, lines, shares
from clara_lab.bench.ranking import DEPTHS, RERANKED, first_gold_rank
from clara_lab.bench.record import QuestionRecord, RunRecord, Score
from clara_lab.bench.summary import MEDIAN, TAIL, Figures, Summary, failures, grouped, percentile, summarise, times

# Measures that head the page and are told by type and level, where the run has them.
HEADLINES: Final = (
    "recall@5",
    "hit@1",
    "mrr",
    "ndcg@10",
    f"{RERANKED}recall@5",
    "f1",
    "exact_match",
    "accuracy",
    "faithfulness",
)
BY_GROUP: Final = ("recall@5", "f1", "accuracy")
# The questions that went worst, and the most that a cell says of one.
WORST: Final = 25
CELL_LETTERS: Final = 240

RELATIVE_ONLY: Final = (
    "Relative only: this corpus is cut, or built around its own answers, so absolute figures are too good. Compare runs over "
    "the same data with each other, and with nothing published."
)

Rows = Sequence[Mapping[str, Score]]


def run_page(record: RunRecord, figures: Figures) -> str:
    """Give the page. It holds questions, expected and written answers and ids, no contents of documents."""
    rows, summaries = figures.rows, figures.summaries
    return page(
        f"Run {record.run_id}",
        [
            *_head(record, summaries),
            section("Quality", plots(_curves(summaries), *_groups(record.questions, rows)), _measures(summaries)),
            section("Reranking", *_reranking(record.questions, rows)),
            section("Time", plots(*_latencies(record.questions)), _time_table(record.questions)),
            section("Failures", _failures(record.questions)),
            section("Questions that went worst", _worst(record.questions, rows)),
            section(
                "What was run", *(_settings(called, getattr(record, called.lower())) for called in ("Data", "Plan", "Totals"))
            ),
        ],
    )


def _head(record: RunRecord, summaries: Mapping[str, Summary]) -> list[str]:
    data = record.data
    name, documents = data.get("name", "unnamed data"), data.get("documents", "?")
    head = [
        f"<header><h1>{escape(f'Run {record.run_id}')}</h1>",
        paragraph(f"{name}: {len(record.questions)} questions over {documents} documents. Started {record.started}.", "muted"),
        paragraph(f"Data {data.get('digest', 'without a digest')}", "muted"),
    ]
    if data.get("relative_only"):
        head.append(paragraph(RELATIVE_ONLY, "notice"))
    taken = times(record.questions)
    figures = [(name, *_told(summaries[name])) for name in HEADLINES if name in summaries and summaries[name].estimate]
    shown = {stage: one for stage, one in taken.items() if stage in {"retrieve", "generate"}}
    figures += [(f"{stage}, p50", f"{one.p50:.1f} ms", f"p95 {one.p95:.1f} ms") for stage, one in shown.items()]
    failed = sum(bool(question.failures) for question in record.questions)
    figures.append(("questions with a failure", str(failed), f"of {len(record.questions)}"))
    return [*head, tiles(figures), "</header>"]


def _told(summary: Summary) -> tuple[str, str]:
    estimate = summary.estimate
    if estimate is None:
        return "–", "no value"
    return f"{estimate.mean:.3f}", f"{estimate.low:.3f} to {estimate.high:.3f}"


def _curves(summaries: Mapping[str, Summary]) -> str:
    series = {}
    for family in ("hit", "recall", "ndcg"):
        found = [one.estimate for depth in DEPTHS if (one := summaries.get(f"{family}@{depth}")) and one.estimate]
        if len(found) == len(DEPTHS):
            series[family] = found
    note = "The search's own list, before reranking. Bands: 95 % intervals over questions."
    return figure("By depth", note, lines("Quality by depth", DEPTHS, series)) if series else ""


def _groups(questions: Sequence[QuestionRecord], rows: Rows) -> list[str]:
    drawn = []
    for by, called in (("question_type", "type"), ("level", "level")):
        places = grouped(questions, by)
        if len(places) < 2:  # noqa: PLR2004  nothing to tell apart
            continue
        for name in BY_GROUP:
            found = {group: summarise([rows[at] for at in held], [name])[name] for group, held in places.items()}
            bars = [Bar(group, one.estimate, one.count) for group, one in found.items() if one.estimate]
            if len(bars) > 1:
                title = f"{name} by {called}"
                drawn.append(figure(title, "Mean with its 95 % interval.", intervals(title, bars)))
    return drawn


def _measures(summaries: Mapping[str, Summary]) -> str:
    rows = [[name, *_cells(one), str(one.count), str(one.errors)] for name, one in summaries.items()]
    note = "Means with 95 % bootstrap intervals; a measure that failed enters no mean and is counted under errors"
    told = table(note, ("measure", "mean", "low", "high", "questions", "errors"), rows)
    return f"<details><summary>All measures</summary>{told}</details>" if told else ""


def _cells(summary: Summary) -> tuple[str, str, str]:
    one = summary.estimate
    return (f"{one.mean:.4f}", f"{one.low:.4f}", f"{one.high:.4f}") if one else ("–", "–", "–")


def _reranking(questions: Sequence[QuestionRecord], rows: Rows) -> list[str]:
    if all(question.reranked is None for question in questions):
        return []
    counted = {}
    for name in rows[0] if rows else ():
        after = f"{RERANKED}{name}"
        pairs = [(row[name].value, row[after].value) for row in rows if name in row and after in row]
        moved = [second - first for first, second in pairs if first is not None and second is not None]
        if moved and not name.startswith(("failure", "complement", "ndcg")):
            lost, gained = sum(change < 0 for change in moved), sum(change > 0 for change in moved)
            counted[name] = (lost, len(moved) - lost - gained, gained)
    failed = sum(question.reranked is False for question in questions)
    told = f"The reranker failed for {failed} of {len(questions)} questions; for these the order of the search stood."
    note = "From left to right: questions that lost, stayed and gained by the reranker's order."
    drawn = figure("Gains and losses by reranking", note, shares("Gains and losses by reranking", counted)) if counted else ""
    cells = [[name, *map(str, numbers)] for name, numbers in counted.items()]
    return [
        paragraph(told),
        plots(drawn),
        table("Questions by what reranking changed", ("measure", "lost", "same", "gained"), cells),
    ]


def _latencies(questions: Sequence[QuestionRecord]) -> list[str]:
    drawn = []
    for stage in times(questions):
        ordered = sorted(question.milliseconds[stage] for question in questions if stage in question.milliseconds)
        marks = {"p50": percentile(ordered, MEDIAN), "p95": percentile(ordered, TAIL)}
        drawn.append(figure(stage, "Questions by milliseconds.", histogram(f"Latency of {stage}", ordered, marks, "ms")))
    return drawn


def _time_table(questions: Sequence[QuestionRecord]) -> str:
    rows = [
        [stage, str(one.count), *(f"{value:.1f}" for value in (one.mean, one.p50, one.p95, one.longest))]
        for stage, one in times(questions).items()
    ]
    return table("Milliseconds a question, by stage", ("stage", "questions", "mean", "p50", "p95", "longest"), rows)


def _failures(questions: Sequence[QuestionRecord]) -> str:
    rows = [[_shortened(reason), str(count)] for reason, count in failures(questions).most_common(WORST)]
    return table("Reasons and the questions that each concerns", ("reason", "questions"), rows) or paragraph("Nothing failed.")


def _worst(questions: Sequence[QuestionRecord], rows: Rows) -> str:
    order = sorted(range(len(questions)), key=lambda at: (_worth(questions[at], rows[at]), at))[:WORST]
    cells = [_question_cells(questions[at], rows[at]) for at in order]
    heads = ("question", "asked", "expected", "written", "right or F1", "recall@5", "first gold", "failures")
    note = "First what was not searched, then by the answer, then by the ranking"
    return table(note, heads, cells, wide=("asked", "written"))


def _worth(record: QuestionRecord, row: Mapping[str, Score]) -> tuple[bool, float, float]:
    """Order: what was not searched, then by the answer, then by the ranking. What has no such measure counts as good."""
    ranked = row.get("mrr", Score(1.0)).value
    return (bool(record.retrieved) or not record.failures, _answer_value(row, 1.0), 1.0 if ranked is None else ranked)


def _answer_value(row: Mapping[str, Score], missing: float) -> float:
    for name in ("accuracy", "f1"):
        if name in row:
            value = row[name].value
            return missing if value is None else value
    return missing


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
        str(first_gold_rank(record.retrieved, question.gold) or "–"),
        _shortened("; ".join(record.failures)),
    ]


def _settings(called: str, values: Mapping[str, Any]) -> str:
    told = {name: value if isinstance(value, str) else json.dumps(value, sort_keys=True) for name, value in values.items()}
    return table(called, ("name", "value"), [list(row) for row in sorted(told.items())])


def _shortened(words: str) -> str:
    return words if len(words) <= CELL_LETTERS else words[:CELL_LETTERS] + "…"
