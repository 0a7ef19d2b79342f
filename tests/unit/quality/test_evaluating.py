"""Tests of the evaluation that gates a release, with retrievers that know every answer or none.

What the real retriever makes of the questions is not looked at here.
"""

import csv
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from unit_builders import passage_of

from clara.answering.snapshot import KnowledgeSnapshot
from clara.container import Container
from clara.data_files import DataError
from clara.language.spelling import Spelling
from clara.quality.dataset import Question
from clara.quality.gate import Shortfall, read_gate, read_left
from clara.quality.release import (
    CHAIN,
    Baseline,
    Evaluated,
    EvaluationChoice,
    evaluate,
    read_evaluation,
    results_of,
    verdict,
    write_run,
)
from clara.quality.release import asking as asking_the_snapshot
from clara.retrieval.passage import Found, Hit, Query, Retrieve, Status
from clara.settings import Settings, resources


@pytest.fixture(scope="module")
def snapshot() -> KnowledgeSnapshot:
    """What is known without a database."""
    return Container(Settings(rag_enabled=False), None).snapshot()


@pytest.fixture(scope="module")
def questions(snapshot: KnowledgeSnapshot) -> dict[str, Question]:
    """The real questions by their text, as it is read."""
    query_of = asking_the_snapshot(snapshot)
    return {query_of(question).text: question for question in read_evaluation(snapshot)}


def refuse(_query: Query) -> Found:
    """Refuse everything."""
    return Found(Status.NOT_FOUND, "stub", confidence=0.1)


@pytest.fixture(scope="module")
def oracle(questions: dict[str, Question]) -> Retrieve:
    """A retriever that finds exactly what is expected."""

    def know(query: Query) -> Found:
        question = questions.get(query.text)
        if question is None:
            return refuse(query)  # a part of a question
        section = question.section or "plazos"
        documents = sorted(question.documents)
        hits = [Hit(passage_of(f"{document}-{section}-99"), 1.0) for document in documents]
        hits[:0] = [Hit(passage_of(f"{documents[0]}-{section}-98", id=fact), 1.0) for fact in sorted(question.facts)]
        return Found(Status.FOUND, "stub", tuple(hits), confidence=0.9) if hits else refuse(query)

    return know


@pytest.fixture
def asking(snapshot: KnowledgeSnapshot) -> Callable[..., tuple[Evaluated, str]]:
    """Evaluate a retriever, and give what came of it and what was said."""

    def ask(choice: EvaluationChoice, retrieve: Retrieve, baseline: Path | None = None) -> tuple[Evaluated, str]:
        said: list[str] = []
        snapshot.retriever = retrieve
        done = evaluate(snapshot, choice, baseline, said.append, lambda _done, _total: None)
        return done, "\n".join(said)

    return ask


Asking = Callable[[EvaluationChoice, Retrieve], tuple[Evaluated, str]]
ComparingAsking = Callable[[EvaluationChoice, Retrieve, Path], tuple[Evaluated, str]]


@pytest.fixture(scope="module")
def wanted() -> dict[str, float]:
    """What the real gate wants of the chain on the questions that judge it."""
    return dict(read_gate(resources() / "eval" / "clara" / "gate.toml").wanted(CHAIN, "test"))


def test_knowing_everything_passes(asking: Asking, oracle: Retrieve) -> None:
    """Whoever finds what is expected scores 1 in every measure and passes the gate; each split has its table."""
    done, said = asking(EvaluationChoice(), oracle)
    assert set(results_of(done.outcomes).values()) == {1, None}
    assert (done.gated, done.shortfalls, verdict(done)) == (True, (), "\nthe gate is passed")
    headings = [line for line in said.splitlines() if line.startswith("## ")]
    assert headings == ["## chain, split dev, 118 questions", "## chain, split test, 118 questions"]


def test_refusing_everything_falls_short(asking: Asking, wanted: dict[str, float]) -> None:
    """Whoever refuses everything falls short of the gate, and is told by how much."""
    done, said = asking(EvaluationChoice(split="test"), refuse)
    assert Shortfall("test hit@1", wanted["hit@1"], 0.0) in done.shortfalls
    assert f"test hit@1: 0.000, wanted at least {wanted['hit@1']:.3f}" in verdict(done).splitlines()
    assert "| hit@1 | 0.000 | 0.000 - 0.000 |" in said.splitlines()


def test_choice_of_a_split(asking: Asking) -> None:
    """With a split chosen only its questions are asked."""
    done, said = asking(EvaluationChoice(split="dev"), refuse)
    assert {outcome.question.split for outcome in done.outcomes} == {"dev"}
    assert "split test" not in said


def test_no_gate_for_a_category(asking: Asking) -> None:
    """With a category chosen only its questions are asked, and the gate, made for all, does not apply."""
    done, _ = asking(EvaluationChoice(category="plazos"), refuse)
    assert {outcome.question.category for outcome in done.outcomes} == {"plazos"}
    assert (done.gated, done.shortfalls, verdict(done)) == (False, (), "\nno gate applies")


def test_one_tier(snapshot: KnowledgeSnapshot) -> None:
    """A tier is asked alone, and the chain's gate is not for it; the directory is no evidence for anything."""
    done = evaluate(
        snapshot, EvaluationChoice("directory_fallback", "dev", "plazos"), None, lambda _: None, lambda _done, _total: None
    )
    assert {(outcome.tier, outcome.answered) for outcome in done.outcomes} == {("directory_fallback", False)}
    assert not done.gated


def test_nothing_chosen(asking: Asking) -> None:
    """A choice that no question meets is named: an evaluation of nothing would pass."""
    with pytest.raises(DataError, match=r"^queries\.jsonl: split dev, category plazo: no question is of both; choose others$"):
        asking(EvaluationChoice(split="dev", category="plazo"), refuse)


class Romanian:
    """A detector that takes everything for Romanian."""

    def detect(self, _text: str) -> str:
        """Take it for Romanian."""
        return "ro"


def test_asked_as_in_a_conversation(snapshot: KnowledgeSnapshot) -> None:
    """Questions are asked in the language that the detector takes them to be in, with the sentence that asks.

    Where a message asks several things unsurely it is searched for once more.
    """
    seen: list[Query] = []

    def listen(query: Query) -> Found:
        seen.append(query)
        return refuse(query)

    others = Container(Settings(rag_enabled=False), None).snapshot()
    nothing = Spelling(lambda _language: None, {})
    others.tools = replace(snapshot.tools, detector=Romanian(), spelling=nothing)
    others.retriever = listen
    done = evaluate(others, EvaluationChoice(category="cross_lingual"), None, lambda _said: None, lambda _done, _total: None)
    asked = [outcome.question.query for outcome in done.outcomes]
    focus = snapshot.tools.asking.focus
    whole = [query for place, query in enumerate(seen) if query.text in asked and query not in seen[:place]]
    assert whole == [Query(text, "clara", "ro", 20, focus=focus(text, "ro")) for text in asked]
    assert any(query.focus for query in seen)


def test_questions_of_another_file(snapshot: KnowledgeSnapshot, tmp_path: Path) -> None:
    """Another file of questions is held to the same rules."""
    file = tmp_path / "other.jsonl"
    file.write_text("hola\n", "utf-8")
    with pytest.raises(DataError, match=r"^other\.jsonl: line 1: not usable JSON"):
        read_evaluation(snapshot, file)


def test_baseline(asking: ComparingAsking, questions: dict[str, Question], tmp_path: Path) -> None:
    """Since the baseline, questions that changed side are listed by direction, with what was expected and what came."""
    first, second, third = [question for question in questions.values() if question.category == "negative"][:3]
    file = tmp_path / "before.json"
    file.write_text(json.dumps({"right": {first.id: False, second.id: True, third.id: True}}), "utf-8")

    def answer_the_second(query: Query) -> Found:
        hit = Hit(passage_of("nie-plazos-01"), 1.0)
        return Found(Status.FOUND, "stub", (hit,)) if query.text == second.query else refuse(query)

    _, said = asking(EvaluationChoice(category="negative"), answer_the_second, file)
    assert said.splitlines()[-3:] == [
        "Since the baseline: 1 became right, 1 became wrong.",
        f"+ {first.id} [{first.language}] {first.query!r}: refusal <- refusal",
        f"- {second.id} [{second.language}] {second.query!r}: refusal <- nie",
    ]


@pytest.mark.parametrize(
    ("content", "place"),
    [pytest.param("id,right", "file", id="not-json"), pytest.param("{}", "right", id="wrong-shape")],
)
def test_bad_baseline(asking: ComparingAsking, tmp_path: Path, content: str, place: str) -> None:
    """A baseline that is none is named before a single question is asked."""
    file = tmp_path / "before.json"
    file.write_text(content, "utf-8")
    seen: list[Query] = []

    def listen(query: Query) -> Found:
        seen.append(query)
        return refuse(query)

    with pytest.raises(DataError, match=re.escape(f"before.json: {place}: ")):
        asking(EvaluationChoice(), listen, file)
    assert seen == []


@pytest.mark.parametrize(
    ("done", "said"),
    [
        pytest.param(Evaluated((), (), gated=False), ["no gate applies"], id="no-gate"),
        pytest.param(Evaluated((), (), gated=True), ["the gate is passed"], id="passed"),
        pytest.param(
            Evaluated((), (Shortfall("test mrr", 0.9, 0.8), Shortfall("dev auroc", 0.5, None)), gated=True),
            ["below the gate:", "test mrr: 0.800, wanted at least 0.900", "dev auroc: not measured, wanted at least 0.500"],
            id="two-short",
        ),
    ],
)
def test_verdict(done: Evaluated, said: list[str]) -> None:
    """The verdict names every measure below the gate."""
    assert verdict(done).splitlines() == ["", *said]


def test_json(asking: Asking, oracle: Retrieve) -> None:
    """As JSON there is one row a question."""
    done, _ = asking(EvaluationChoice(category="multi_tramite"), oracle)
    rows = json.loads(done.as_json())
    assert [row["id"] for row in rows] == [outcome.question.id for outcome in done.outcomes]
    assert all(row["right"] for row in rows)


def test_written_run(asking: Asking, oracle: Retrieve, tmp_path: Path) -> None:
    """A run is written as JSON, CSV and TREC into a folder that is made for it, and is a baseline for the next."""
    done, _ = asking(EvaluationChoice(category="edge_case"), oracle)
    folder = tmp_path / "runs" / "first"
    write_run(folder, CHAIN, done.outcomes)
    names = [outcome.question.id for outcome in done.outcomes]
    document = json.loads((folder / "chain.json").read_text("utf-8"))
    assert (document["tier"], [row["id"] for row in document["questions"]]) == ("chain", names)
    assert {part: results["hit@1"] for part, results in document["results"].items()} == {"dev": 1, "test": 1}
    assert document["risk_coverage"] == [[1.0, 0.0]]
    with (folder / "chain.csv").open(encoding="utf-8", newline="") as rows:
        assert [row["id"] for row in csv.DictReader(rows)] == names
    trec = (folder / "chain.trec").read_text("utf-8").splitlines()
    assert list(dict.fromkeys(line.split()[0] for line in trec)) == names
    assert read_left(folder / "chain.json", Baseline).right == dict.fromkeys(names, True)
