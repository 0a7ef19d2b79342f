"""Tests of the evaluation of answers: what is run, and what counts as an error instead of a pass."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from clara.answering.snapshot import KnowledgeSnapshot
from clara.cli import cli
from clara.container import Container
from clara.data_files import DataError
from clara.quality.answers import SuitePart, answers_verdict, chosen_suites, judge, judge_parts, write_answers
from clara.quality.suites.suite import Judged, Suite
from clara.settings import Settings, resources
from clara_lab.makers import masking_cases as masking_making


def judging(snapshot: KnowledgeSnapshot, *found: Judged) -> SuitePart:
    """Run a suite over the cases of masking that judges them so."""
    [part] = judge_parts(snapshot, [(Suite("masking", {}, {"group": 1.0}, lambda _stage, _cases: found), "dev")], unseen)
    return part


def unseen(_done: int, _total: int) -> None:
    """Show no progress."""


@pytest.fixture(scope="module")
def snapshot() -> KnowledgeSnapshot:
    """What is known without a database."""
    return Container(Settings(rag_enabled=False), None).snapshot()


def test_every_file_of_cases_has_its_suite() -> None:
    """Every file of cases has its suite, by whose name it is found; each has goals."""
    files = {file.stem for file in (resources() / "eval" / "answers").glob("*.jsonl")}
    assert {name.replace(" ", "_") for name in chosen_suites([])} == files
    assert all(suite.goals for suite in chosen_suites([]).values())
    assert list(chosen_suites(["masking"])) == ["masking"]


def test_an_unknown_suite_is_an_error() -> None:
    """A name without a suite does not pass as nothing to do."""
    with pytest.raises(DataError, match="no such suite"):
        chosen_suites(["masking", "nonsense"])


def test_a_suite_that_judges_nothing_or_twice_is_an_error(snapshot: KnowledgeSnapshot) -> None:
    """No case, or the same case twice in a group, ends the evaluation."""
    with pytest.raises(DataError, match="judged no case"):
        judging(snapshot)
    once = Judged("a", "es", "group", passed=True)
    with pytest.raises(DataError, match="more than once: a"):
        judging(snapshot, once, once)
    assert judging(snapshot, once).shares() == {"group": (1, 1)}


def test_a_run_tells_its_figures_and_writes_every_case(snapshot: KnowledgeSnapshot, tmp_path: Path) -> None:
    """The real masking suite runs on both halves, passes its gate, and leaves one row a case."""
    told: list[str] = []
    steps: list[tuple[int, int]] = []
    done = judge(snapshot, ["masking"], "all", told.append, lambda number, total: steps.append((number, total)))
    assert steps == [(1, 2), (2, 2)]
    assert "| masking | test | hidden |" in told[0]
    assert answers_verdict(done) == "\nthe gate of the answers is passed"
    write_answers(tmp_path, done)
    written = json.loads((tmp_path / "answers.json").read_text("utf-8"))
    assert len(written["cases"]) == len(json.loads(done.as_json())) == sum(figure["of"] for figure in written["figures"])


def test_options_of_the_other_evaluation_are_refused() -> None:
    """An option that would silently do nothing is a mistake of usage."""
    for arguments in (["--suite", "masking"], ["--answers", "--tier", "chain"], ["--answers", "--category", "x"]):
        assert CliRunner().invoke(cli, ["eval", *arguments]).exit_code == 2


def test_the_cases_of_masking_are_those_their_generator_makes() -> None:
    """The stored cases are made from the stored sentences, always alike."""
    folder = resources() / "eval" / "answers"
    sentences = json.loads((folder / "making" / "masking.json").read_text("utf-8"))["sentences"]
    stored = [json.loads(line) for line in (folder / "masking.jsonl").read_text("utf-8").splitlines()]
    assert masking_making.cases_of(sentences) == stored
