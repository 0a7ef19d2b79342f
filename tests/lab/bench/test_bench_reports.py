"""Tests of the files that a run leaves behind: nothing is lost, nothing hostile passes, and others can read them."""

import csv
import io
import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import ir_measures
import pytest
from bench_builders import broken, run

from clara_lab.bench.record import EventLog, RunRecord, RunUnreadableError, Score, read_events, read_run, run_json
from clara_lab.bench.reports import detail_csv, run_page, summary_csv, trec_run, write_reports
from clara_lab.bench.summary import failures, figures_of, grouped, measured_rows, percentile, summarise, times

RUN = run()
ODD = broken(RUN)
EMPTY = RunRecord("none", "2026-11-20", {}, {}, ())
PLAIN = run(reranks=False)


@cache
def page_of(number: int) -> str:
    """Draw the page of a record once."""
    record = (RUN, ODD, EMPTY, PLAIN)[number]
    return run_page(record, figures_of(record.questions))


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.parametrize("record", [RUN, ODD, EMPTY, run(reranks=False)], ids=["whole", "odd", "empty", "not reranked"])
def test_json_loses_nothing(record: RunRecord) -> None:
    """What is written reads as the same record, odd characters included."""
    assert read_run(run_json(record)) == record


def test_figures_that_json_does_not_have() -> None:
    """Not a number becomes an error of the measure, and null in the totals."""
    odd = replace(RUN.questions[0], measures={"f1": Score(float("nan"))})
    read = read_run(run_json(replace(RUN, questions=(odd,), totals={"rate": [float("inf")]})))
    assert read.questions[0].measures == {"f1": Score(None, "not a finite number")}
    assert read.totals == {"rate": [None]}


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 9}', '{"format": 1}', run_json(RUN)[:-40]])
def test_what_is_no_run_is_refused(text: str) -> None:
    """A file that is something else, of another release or cut short is named as such."""
    with pytest.raises(RunUnreadableError, match=r"no run of the bench|written in format 9"):
        read_run(text)


def test_the_summary_is_one_row() -> None:
    """Data, measures with intervals and counts, times, totals and plan stand in one row."""
    (row,) = rows(summary_csv(RUN, figures_of(RUN.questions)))
    assert (row["run_id"], row["data_digest"], row["data_relative_only"], row["plan_RETRIEVAL_K"]) == (
        "run-a",
        "d" * 64,
        "True",
        "20",
    )
    assert (row["rerank_failures"], row["questions_with_failures"], row["faithfulness_errors"]) == ("4", "4", "6")
    assert float(row["recall@5_low"]) < float(row["recall@5"]) < float(row["recall@5_high"])
    assert float(row["f1_count"]) == 48
    assert float(row["retrieve_p50_ms"]) < float(row["retrieve_p95_ms"])
    assert (row["total_seconds_index"], row["plan_weights"], row["data_origin_format"]) == ("81.5", "[0.5, 0.5]", "beir")
    assert rows(summary_csv(EMPTY, figures_of(EMPTY.questions)))[0]["run_id"] == "none"


def test_the_detail_has_a_row_a_question() -> None:
    """Ids before reranking, whether it was reranked, measures and errors are told; empty where there is none."""
    table = rows(detail_csv(ODD, figures_of(ODD.questions)))
    assert [row["query_id"] for row in table] == [question.question.id for question in ODD.questions]
    assert [row["reranked"] for row in table[:5]] == ["True", "", "", "True", "False"]
    assert json.loads(table[4]["pre_rerank_candidate_ids"]) == list(ODD.questions[4].pre_rerank_candidate_ids)
    assert (table[1]["mrr"], table[1]["failures"]) == ("", "retrieve: connection lost")
    assert "mrr: not searched: retrieve: connection lost" in table[1]["errors"]
    assert (table[2]["mrr"], table[2]["errors"]) == ("", "")
    assert table[3]["errors"] == "faithfulness: judge: no score in what it wrote"


def test_a_spreadsheet_runs_nothing() -> None:
    """Words that a spreadsheet would take for a formula get an apostrophe, a number does not."""
    first = rows(detail_csv(ODD, figures_of(ODD.questions)))[0]
    assert (first["expected"], first["answer"]) == ('\'=HYPERLINK("x")', "-5")


def test_the_trec_run_is_read_by_others() -> None:
    """ir_measures computes from the file what we compute from the record."""
    read = ir_measures.read_trec_run(io.StringIO(trec_run(RUN)))
    qrels = [ir_measures.Qrel(one.question.id, document, 1) for one in RUN.questions for document in one.question.gold]
    theirs = ir_measures.calc_aggregate([ir_measures.nDCG @ 10, ir_measures.R @ 5, ir_measures.RR], qrels, read)
    ours = summarise(measured_rows(RUN.questions))
    means = {name: one.estimate.mean for name, one in ours.items() if one.estimate}
    assert theirs[ir_measures.nDCG @ 10] == pytest.approx(means["ndcg@10"])
    assert theirs[ir_measures.R @ 5] == pytest.approx(means["recall@5"])
    assert theirs[ir_measures.RR] == pytest.approx(means["mrr"])
    assert trec_run(ODD).splitlines()[20].split()[:3] == ["q2", "Q0", "a%20b"]


class Page(HTMLParser):
    """Collects what a page would fetch or run, and whether its elements are closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.reaching: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        # A part of a drawing may name another one of the same page.
        other = {name for name, value in attrs if not (name == "href" and tag == "use" and (value or "").startswith("#"))}
        self.reaching += [name for name in other if name in {"src", "href", "srcset", "action"} or name.startswith("on")]
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize("number", range(4), ids=["whole", "odd", "empty", "not reranked"])
def test_the_page_stands_alone(number: int) -> None:
    """It is well formed, fetches nothing, runs nothing, and every plot has a title and words."""
    page = Page()
    text = page_of(number)
    page.feed(text)
    assert page.open == []
    assert page.reaching == []
    assert "script" not in page.seen
    assert page.seen.count("svg") == page.seen.count("desc")
    assert text.count("url(") == text.count("url(#")
    assert "@import" not in text


def test_the_page_says_what_matters() -> None:
    """Relative figures are marked as such; failures, the reranker's and the data's digest are there."""
    text = page_of(0)
    for part in (
        "Relative only",
        "The reranker failed for 4 of 60",
        "d" * 64,
        "recall@5 by level",
        "rerank: timed out",
        "Latency of",
    ):
        assert part in text
    well = run(questions=3, reranks=False)
    other = run_page(replace(well, data={}), figures_of(well.questions))
    assert "Nothing failed." in other
    assert "Relative only" not in other
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page_of(1)


def test_all_files_are_written(tmp_path: Path) -> None:
    """Five files under the run's name, and no pieces; half a surrogate pair stops none of them."""
    names = [file.name for file in write_reports(ODD, tmp_path)]
    assert names == ["run-a.json", "run-a_summary.csv", "run-a_detail.csv", "run-a.trec", "run-a.html"]
    assert sorted(names) == sorted(file.name for file in tmp_path.iterdir())
    assert read_run((tmp_path / "run-a.json").read_text()) == ODD


def test_groups_times_and_failures() -> None:
    """What the reports count: groups by name, percentiles by nearest rank, each reason once a question."""
    assert {name: len(held) for name, held in grouped(RUN.questions, "level").items()} == {"easy": 20, "hard": 20, "medium": 20}
    assert [percentile([1, 2, 3, 4], share) for share in (0.25, 0.5, 0.95)] == [1, 2, 4]
    assert times(RUN.questions)["rerank"].count == 60
    assert failures(RUN.questions) == {"rerank: timed out": 4, "measure faithfulness: judge: no score in what it wrote": 6}


def test_events_are_read_back(tmp_path: Path) -> None:
    """Every event has its kind and time; results are whole records; the last of two counts."""
    log = EventLog(tmp_path / "deep" / "run.jsonl", lambda: datetime(2026, 11, 20, tzinfo=UTC))
    log.write("run_start", run_id="run-a")
    for question in ODD.questions:
        log.write_result(question)
    log.write_result(RUN.questions[1])
    log.write("run_complete", seconds=float("nan"))
    log.close()
    read = read_events(tmp_path / "deep" / "run.jsonl")
    assert read.events[0] == {"event": "run_start", "at": "2026-11-20T00:00:00+00:00", "run_id": "run-a"}
    assert read.events[-1]["seconds"] is None
    assert tuple(read.results()) == (ODD.questions[0], RUN.questions[1], *ODD.questions[2:])
    assert read.torn == 0


KILLED = """
import os, signal, sys
from pathlib import Path
from clara_lab.bench.record import EventLog
log = EventLog(Path(sys.argv[1]))
for number in range(50):
    log.write("llm_request", number=number)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_run_leaves_its_events(tmp_path: Path) -> None:
    """After kill -9 every event is there; a line cut short is counted, and the next run starts a new one."""
    file = tmp_path / "run.jsonl"
    killed = subprocess.run([sys.executable, "-c", KILLED, str(file)], check=False, timeout=200)
    assert killed.returncode == -signal.SIGKILL
    assert [event["number"] for event in read_events(file).events] == list(range(50))
    os.truncate(file, file.stat().st_size - 5)
    assert (len(read_events(file).events), read_events(file).torn) == (49, 1)
    log = EventLog(file)
    log.write("run_start", run_id="again")
    log.close()
    again = read_events(file)
    assert (len(again.events), again.torn, again.events[-1]["run_id"]) == (50, 1, "again")
