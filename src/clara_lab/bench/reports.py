"""The files of a run: JSON without loss, two tables as CSV, the ranking as a TREC run, and pages that a browser opens.

A page needs no network: it is of one run, or of two runs beside each other.
"""

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from markupsafe import Markup

from clara_lab.bench import comparison
from clara_lab.bench.plots import Bar, histogram, intervals, lines, shares
from clara_lab.bench.ranking import DEPTHS, RERANKED, first_gold_rank
from clara_lab.bench.record import QuestionRecord, RunRecord, Score, run_json
from clara_lab.bench.summary import MEDIAN, TAIL, Figures, Summary, failures, figures_of, grouped, percentile, summarise, times
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
            (called, sorted([name, comparison.shown_value(value)] for name, value in held.items()))
            for called, held in (("Data", record.data), ("Plan", record.plan), ("Totals", record.totals))
        ],
    )


def comparison_page(compared: comparison.Comparison) -> str:
    """Give the page of a comparison."""
    drawn = {
        one.name: (one.worse, one.count - one.worse - one.better, one.better)
        for one in compared.differences
        if one.name in comparison.DRAWN
    }
    note = "From left to right: questions for which the second run is worse, the same, and better."
    title, *notes = comparison.notes_of(compared)
    return rendered(
        "comparison.html",
        title=title,
        notes=notes,
        drawn=[("Gains and losses", note, shares("Gains and losses", drawn))] if drawn else [],
        not_corrected=comparison.NOT_CORRECTED,
        heads=comparison.HEADS,
        differences=[comparison.cells_of(one) for one in compared.differences],
        settings=[[name, *map(comparison.shown_value, both)] for name, both in compared.settings.items()],
        changed=list(_changed(compared)),
    )


def _changed(compared: comparison.Comparison) -> Iterator[tuple[str, int, int, list[list[str]]]]:
    """Give one folded table a measure: all together they may be long."""
    for name, (gained, lost) in comparison.changed_by_measure(compared).items():
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


# A spreadsheet would take a cell that starts so for a formula; what models and questions say comes from outside.
_FORMULA: Final = re.compile(r"^[=+\-@\t\r](?!\d*\.?\d+$)")
_BLANK: Final = re.compile(r"\s")


def write_reports(record: RunRecord, folder: Path) -> tuple[Path, ...]:
    """Write all reports of a run into a folder; each file appears when it is complete. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    figures = figures_of(record.questions)
    files = (
        (".json", run_json(record)),
        ("_summary.csv", summary_csv(record, figures)),
        ("_detail.csv", detail_csv(record, figures)),
        (".trec", trec_run(record)),
        (".html", run_page(record, figures)),
    )
    return tuple(write_whole(folder / f"{record.run_id}{ending}", text) for ending, text in files)


def write_whole(file: Path, text: str) -> Path:
    """Write a file that is never seen half written. Half a surrogate pair becomes a question mark. Raises OSError."""
    piece = file.with_name(f".{file.name}.part")
    piece.write_bytes(text.encode("utf-8", "replace"))
    return piece.replace(file)


def summary_csv(record: RunRecord, figures: Figures) -> str:
    """Give one row: what the run was, each measure with interval, count and errors, times, totals, and the plan."""
    row: dict[str, Any] = {
        "run_id": record.run_id,
        "started": record.started,
        **{f"data_{name}": value for name, value in _flat(record.data).items()},
        "questions_with_failures": sum(bool(question.failures) for question in record.questions),
        "rerank_failures": sum(question.reranked is False for question in record.questions),
    }
    for name, one in figures.summaries.items():
        estimate = one.estimate
        row[name] = _figure(estimate.mean) if estimate else ""
        row[f"{name}_low"] = _figure(estimate.low) if estimate else ""
        row[f"{name}_high"] = _figure(estimate.high) if estimate else ""
        row[f"{name}_count"], row[f"{name}_errors"] = one.count, one.errors
    for stage, taken in times(record.questions).items():
        row.update({f"{stage}_p50_ms": _figure(taken.p50), f"{stage}_p95_ms": _figure(taken.p95)})
    row.update({f"total_{name}": value for name, value in _flat(record.totals).items()})
    row.update({f"plan_{name}": value for name, value in _flat(record.plan).items()})
    return csv_table([row])


def detail_csv(record: RunRecord, figures: Figures) -> str:
    """Give one row a question. Lists of ids are JSON; a measure that failed is empty, and named under `errors`."""
    names = list(figures.summaries)
    stages = list(dict.fromkeys(stage for question in record.questions for stage in question.milliseconds))
    found = zip(record.questions, figures.rows, strict=True)
    return csv_table([_detail(question, measures, names, stages) for question, measures in found])


def _detail(record: QuestionRecord, measures: Mapping[str, Score], names: list[str], stages: list[str]) -> dict[str, Any]:
    question = record.question
    values = {name: measures.get(name, Score(None)).value for name in names}
    return {
        "query_id": question.id,
        "question": question.text,
        "answer_type": question.answer_type,
        "question_type": question.question_type,
        "level": question.level,
        "expected": question.answer,
        "answer": "" if record.answer is None else record.answer,
        "reranked": "" if record.reranked is None else record.reranked,
        "first_gold_rank": first_gold_rank(record.retrieved, question.gold) or "",
        **{name: "" if value is None else _figure(value) for name, value in values.items()},
        "errors": "; ".join(f"{name}: {one.error}" for name, one in measures.items() if one.error),
        "failures": "; ".join(record.failures),
        **{f"{stage}_ms": _figure(taken) if (taken := record.milliseconds.get(stage)) is not None else "" for stage in stages},
        "gold": json.dumps(sorted(question.gold)),
        "retrieved": json.dumps(record.retrieved),
        "pre_rerank_candidate_ids": json.dumps(record.pre_rerank_candidate_ids),
        "context": json.dumps(record.context),
    }


def trec_run(record: RunRecord) -> str:
    """Give the ranking before reranking as trec_eval reads it. The score only repeats the rank; blanks in ids become %20.

    A question for which nothing was found has no line, which trec_eval counts as 0 with its option -c.
    """
    run = _without_blanks(record.run_id)
    lines = [
        f"{_without_blanks(one.question.id)} Q0 {_without_blanks(document)} {rank} {len(one.retrieved) - rank + 1} {run}"
        for one in record.questions
        for rank, document in enumerate(one.retrieved, 1)
    ]
    return "".join(f"{line}\n" for line in lines)


def _without_blanks(name: str) -> str:
    return _BLANK.sub(lambda found: f"%{ord(found.group()):02X}", name)


def _flat(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Give nested values under joined names; a list stays one value, as JSON."""
    flat: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, Mapping):
            flat.update(_flat(value, f"{prefix}{name}_"))
        else:
            flat[f"{prefix}{name}"] = json.dumps(value) if isinstance(value, list | tuple) else value
    return flat


def _figure(value: float) -> str:
    return f"{value:.6g}"


def csv_table(rows: list[dict[str, Any]]) -> str:
    """Write rows as CSV under the names that any of them has; what a spreadsheet takes for a formula is quoted."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    written = io.StringIO()
    writer = csv.DictWriter(written, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _cell(value) for name, value in row.items()} for row in rows)
    return written.getvalue()


def _cell(value: Any) -> Any:  # noqa: ANN401
    return f"'{value}" if isinstance(value, str) and _FORMULA.match(value) else value
