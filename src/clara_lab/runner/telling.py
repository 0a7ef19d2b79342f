"""What the bench says on the command line: the figures of a run, and what changed from one to another."""

from collections.abc import Iterator
from pathlib import Path

from clara_lab.bench.comparing import compare
from clara_lab.bench.comparison_report import comparison_json, comparison_page, comparison_text
from clara_lab.bench.record import RunRecord
from clara_lab.bench.reports import write_whole
from clara_lab.bench.serialising import RunUnreadableError, read_run
from clara_lab.bench.summary import measured_rows, summarise, times


def told(record: RunRecord) -> str:
    """Give the measures of a run with their intervals, its times and its failures."""
    return "\n".join(_lines(record))


def _lines(record: RunRecord) -> Iterator[str]:
    yield f"{record.run_id}: {len(record.questions)} questions, {record.data['documents']} documents"
    for name, summary in summarise(measured_rows(record.questions)).items():
        one = summary.estimate
        figure = f"{one.mean:.3f}  {one.low:.3f} - {one.high:.3f}" if one else "-"
        errors = f", {summary.errors} could not be measured" if summary.errors else ""
        yield f"  {name:<28} {figure}  (of {summary.count}{errors})"
    for stage, spent in times(record.questions).items():
        yield f"  {stage:<28} p50 {spent.p50:.1f}  p95 {spent.p95:.1f} ms"
    totals = record.totals
    yield f"  seconds: {', '.join(f'{phase} {seconds:.1f}' for phase, seconds in totals['seconds'].items())}"
    yield f"  peak memory: {totals['peak_memory_bytes'] / 2**20:.0f} MB"
    for name in ("questions_with_failures", "rerank_failures", "failed_query_batches", "unenriched"):
        if totals[name]:
            yield f"  {name.replace('_', ' ')}: {totals[name]}"
    if record.data["relative_only"]:
        yield "  Not the whole corpus: these figures compare strategies on it, and nothing else."


def compared(first: Path, second: Path, *, as_json: bool, page: Path | None, force: bool) -> str:
    """Compare two runs by their JSON files, and write a page where one is wanted.

    Raises RunUnreadableError, IncomparableRunsError.
    """
    found = compare(_read(first), _read(second), forced=force)
    if page is not None:
        write_whole(page, comparison_page(found))
    return comparison_json(found) if as_json else comparison_text(found)


def _read(file: Path) -> RunRecord:
    try:
        return read_run(file.read_text("utf-8"))
    except (RunUnreadableError, UnicodeDecodeError) as error:
        raise RunUnreadableError(f"{file}: {error}") from error
