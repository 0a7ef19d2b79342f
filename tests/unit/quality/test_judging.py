"""Tests of the evaluation of answers: what is run, and what counts as an error instead of a pass."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner

from clara.answering.snapshot import KnowledgeSnapshot
from clara.cli import cli
from clara.container import Container
from clara.data_files import DataError
from clara.quality.answer_suites import answers_verdict, chosen_suites, judge, judge_part, suites_found, write_answers
from clara.quality.answers import Judged
from clara.settings import Settings, resources
from clara_lab.makers import masking_cases as masking_making


class Invented:
    """A suite that judges what it is given."""

    NAME = "invented"

    def __init__(self, *cases: Judged) -> None:
        self.GOALS: Mapping[str, float] = {"group": 1.0}
        self.cases = list(cases)

    def judged(self, snapshot: KnowledgeSnapshot, split: str) -> list[Judged]:
        """Give the cases."""
        return self.cases


@pytest.fixture(scope="module")
def snapshot() -> KnowledgeSnapshot:
    """What is known without a database."""
    return Container(Settings(rag_enabled=False), None).snapshot()


def test_the_suites_are_found_by_what_they_have() -> None:
    """Modules with a name, goals and a judge are suites; those that make or share cases are none."""
    found = suites_found()
    assert {"scope", "masking", "end to end", "languages"} <= found.keys()
    assert all(suite.GOALS for suite in found.values())
    assert list(chosen_suites(["masking"])) == ["masking"]


def test_an_unknown_suite_is_an_error() -> None:
    """A name without a suite does not pass as nothing to do."""
    with pytest.raises(DataError, match="no such suite"):
        chosen_suites(["masking", "nonsense"])


def test_a_suite_that_judges_nothing_or_twice_is_an_error(snapshot: KnowledgeSnapshot) -> None:
    """No case, or the same case twice in a group, ends the evaluation."""
    with pytest.raises(DataError, match="judged no case"):
        judge_part(snapshot, Invented(), "dev")
    once = Judged("a", "es", "group", passed=True)
    with pytest.raises(DataError, match="more than once: a"):
        judge_part(snapshot, Invented(once, once), "dev")
    assert judge_part(snapshot, Invented(once), "dev").shares() == {"group": (1, 1)}


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
