"""The files of a run: JSON without loss, two tables as CSV, the ranking as a TREC run, and the page."""

import csv
import io
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from clara_lab.bench.pages import run_page
from clara_lab.bench.ranking import first_gold_rank
from clara_lab.bench.record import QuestionRecord, RunRecord, Score, run_json
from clara_lab.bench.summary import Figures, figures_of, times

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
