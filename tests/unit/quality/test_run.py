"""Tests of asking every question, of writing what came back, and of comparing with an earlier run."""

import csv
import json
from io import StringIO
from pathlib import Path

import pytest
from evaluation_builders import answer, question_of, refusal
from unit_builders import hit_of

from clara.data_files import DataError
from clara.quality.dataset import Question
from clara.quality.gate import read_left
from clara.quality.measures import MEASURES
from clara.quality.release import LIMIT, Baseline, as_csv, as_rows, as_trec, changed_sides, completed, run
from clara.retrieval.passage import Found, Query, Status

NIE, TIE, NEGATIVE = question_of("q1", "nie", "imv", section="plazos"), question_of("q2", "tie"), question_of("n1")
OUTCOMES = [
    answer(
        NIE,
        "nie",
        "tie",
        section="plazos",
        facts=tuple(f"nie-plazos-0{number}" for number in range(1, 8)),
        confidence=0.87654321,
        tier="pgvector",
        milliseconds=12.3456,
    ),
    refusal(TIE),
    refusal(NEGATIVE, 0.0),
]


def ask(question: Question) -> Query:
    """Make the query of a question."""
    return Query(question.query, "clara", question.language, LIMIT)


def test_run() -> None:
    """Every question is asked in order as the conversation would ask it, and progress is told after each."""
    asked: list[Query] = []
    progress: list[tuple[int, int]] = []

    def retrieve(query: Query) -> Found:
        asked.append(query)
        return Found(Status.FOUND, "t", (hit_of("tie-plazos-01"),)) if "q2" in query.text else Found(Status.NOT_FOUND, "t")

    outcomes = run([NIE, TIE], retrieve, ask, lambda done, total: progress.append((done, total)))
    assert asked == [ask(NIE), ask(TIE)]
    assert [(outcome.question.id, outcome.documents, outcome.right) for outcome in outcomes] == [
        ("q1", (), False),
        ("q2", ("tie",), True),
    ]
    assert all(outcome.milliseconds >= 0 for outcome in outcomes)
    assert progress == [(1, 2), (2, 2)]


def test_completed() -> None:
    """Every question has one outcome, in the questions' order; strangers to the evaluation are left out."""
    stranger = answer(question_of("x", "nie"), "nie")
    outcomes = completed([NIE, TIE, NEGATIVE], [stranger, OUTCOMES[2], OUTCOMES[0]])
    assert [outcome.question.id for outcome in outcomes] == ["q1", "q2", "n1"]
    assert (outcomes[0], outcomes[2]) == (OUTCOMES[0], OUTCOMES[2])
    assert (outcomes[1].tier, outcomes[1].right) == ("missing", False)


@pytest.mark.parametrize(
    ("question", "measure", "before", "after"),
    [
        pytest.param(question_of("q", "nie"), "hit@1", 1, 1 / 2, id="hit@1"),
        pytest.param(question_of("q", "nie"), "mrr", 1, 1 / 2, id="mrr"),
        pytest.param(question_of("q", "nie"), "in_scope_answered", 1, 1 / 2, id="in_scope_answered"),
        pytest.param(question_of("q", "nie", "tie"), "set_recall@3", None, 0, id="set_recall@3"),
        pytest.param(question_of("q", "nie", section="plazos"), "section_hit@1", None, 0, id="section_hit@1"),
        pytest.param(question_of("q", "nie", facts=frozenset({"f"})), "fact_recall@5", None, 0, id="fact_recall@5"),
        pytest.param(question_of("q"), "refusal_recall", 1, 1 / 2, id="refusal_recall"),
    ],
)
def test_left_out_is_wrong(question: Question, measure: str, before: float | None, after: float) -> None:
    """A question that a run left out lowers the measures as a wrong one does, whichever was expected."""
    others = [answer(TIE, "tie"), refusal(NEGATIVE)]
    assert MEASURES[measure](others) == before
    assert MEASURES[measure](completed([TIE, NEGATIVE, question], others)) == after


def test_rows() -> None:
    """A row holds what was asked, expected and found: five facts at most, rounded figures, nothing that is not JSON."""
    rows = as_rows(OUTCOMES)
    assert json.loads(json.dumps(rows)) == rows
    assert rows[0] == {
        "id": "q1",
        "query": "pregunta q1",
        "language": "es",
        "category": "plazos",
        "difficulty": "easy",
        "split": "dev",
        "expected": ["imv", "nie"],
        "expected_section": "plazos",
        "answered": True,
        "right": True,
        "found": ["nie", "tie"],
        "section": "plazos",
        "facts": ["nie-plazos-01", "nie-plazos-02", "nie-plazos-03", "nie-plazos-04", "nie-plazos-05"],
        "confidence": 0.8765,
        "tier": "pgvector",
        "ms": 12.35,
    }
    assert (rows[1]["right"], rows[1]["confidence"]) == (False, None)
    assert (rows[2]["right"], rows[2]["confidence"]) == (True, 0.0)


def test_csv() -> None:
    """A CSV has one row a question, whatever the question's text, with lists joined by spaces."""
    awkward = answer(question_of("q9", "nie", query='dice "espera, ya"\ny ¿qué hago? 失业金'), "nie")
    rows = list(csv.DictReader(StringIO(as_csv([*OUTCOMES, awkward]), newline="")))
    assert [row["id"] for row in rows] == ["q1", "q2", "n1", "q9"]
    assert (rows[0]["expected"], rows[0]["found"], rows[0]["confidence"]) == ("imv nie", "nie tie", "0.8765")
    assert (rows[1]["found"], rows[1]["section"], rows[1]["confidence"]) == ("", "", "")
    assert rows[3]["query"] == 'dice "espera, ya"\ny ¿qué hago? 失业金'


def test_csv_of_nothing() -> None:
    """A run without questions is a heading alone."""
    assert as_csv([]).splitlines() == ["id"]


def test_trec() -> None:
    """A TREC run has a line for every document found, ranks from 1 and falling scores; a refusal has none."""
    third = answer(TIE, "nie", "imv", "tie")
    assert as_trec([OUTCOMES[0], third, OUTCOMES[2]], "chain") == (
        "q1 Q0 nie 1 1.000000 chain\n"
        "q1 Q0 tie 2 0.500000 chain\n"
        "q2 Q0 nie 1 1.000000 chain\n"
        "q2 Q0 imv 2 0.500000 chain\n"
        "q2 Q0 tie 3 0.333333 chain\n"
    )


def test_trec_of_refusals() -> None:
    """A run that found nothing is an empty file: a blank line would be no line of a run."""
    assert as_trec([OUTCOMES[1]], "chain") == ""


def test_changed_sides() -> None:
    """Questions that changed side are told apart by direction; those that did not, and new ones, are not told."""
    names = ("up", "down", "still_right", "still_wrong", "new")
    up, down, still_right, still_wrong, new = (question_of(name, "nie") for name in names)
    outcomes = [answer(up, "nie"), refusal(down), answer(still_right, "nie"), refusal(still_wrong), answer(new, "nie")]
    baseline = {"up": False, "down": True, "still_right": True, "still_wrong": False, "gone": True}
    assert changed_sides(baseline, outcomes) == ([outcomes[0]], [outcomes[1]])


def test_negatives_change_sides() -> None:
    """A question to refuse becomes wrong when it is answered, and right when it is refused."""
    answered = answer(question_of("n2"), "nie")
    assert changed_sides({"n1": False, "n2": True}, [OUTCOMES[2], answered]) == ([OUTCOMES[2]], [answered])


def test_baseline(tmp_path: Path) -> None:
    """A baseline tells which questions were right; what else the file holds does not matter."""
    file = tmp_path / "chain.json"
    file.write_text('{"tier": "chain", "right": {"q1": true, "q2": false}}', "utf-8")
    assert read_left(file, Baseline).right == {"q1": True, "q2": False}


@pytest.mark.parametrize(
    ("content", "place"),
    [
        pytest.param(None, "file", id="missing"),
        pytest.param(b"id,right\nq1,True\n", "file", id="not-json"),
        pytest.param(b"", "file", id="empty"),
        pytest.param(b'{"right": "\xe9"}', "file", id="not-utf-8"),
        pytest.param(b"[" * 100_000, "file", id="too-deep"),
        pytest.param(b'[{"id": "q1", "right": true}]', "file", id="list-of-rows"),
        pytest.param(b'{"questions": []}', "right", id="without-right"),
        pytest.param(b'{"right": ["q1"]}', "right", id="right-is-a-list"),
        pytest.param(b'{"right": {"q1": "false"}}', "right.q1", id="text-for-truth"),
        pytest.param(b'{"right": {"q1": true, "q2": 0}}', "right.q2", id="number-for-truth"),
        pytest.param(b"null", "file", id="null"),
    ],
)
def test_no_baseline(tmp_path: Path, content: bytes | None, place: str) -> None:
    """A file that is no baseline is named, with how to write one."""
    file = tmp_path / "before.json"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(DataError) as caught:
        read_left(file, Baseline)
    (fault,) = caught.value.faults
    assert (fault.file, fault.place) == ("before.json", place)
    assert fault.remedy.endswith("; write one with --out")
