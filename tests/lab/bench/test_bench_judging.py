"""Tests of the judge: what it is shown, how its verdict is read, and what becomes of one that fails."""

import pytest
from tests.lab.bench.scripted_chat import ScriptedChat

from clara_lab.bench.answers import NO_ANSWER
from clara_lab.bench.dataset import LABEL, BenchDocument, BenchQuestion
from clara_lab.bench.judge import INSTRUCTIONS, UNREADABLE, AnswerJudge, read_score
from clara_lab.bench.prompts import PROMPT_TOKENS, BenchContext, context_of
from clara_lab.bench.record import Score
from clara_lab.bench.writers import ModelWriter

QUESTION = BenchQuestion("q", "Who makes honey?", "bees")
CONTEXT = context_of([BenchDocument("bee", "Bees", "Bees make honey.")])
LONG = context_of([BenchDocument(f"d{number}", "", f"sentence {number} " * 80) for number in range(20)])
MEASURES = ("faithfulness", "context_utilisation")


@pytest.mark.parametrize("measure", MEASURES)
def test_the_judge_reads_the_very_page_that_the_writer_had(measure: str) -> None:
    """DT-6: both prompts begin with the same page, all 18,000 characters of it."""
    writer, judge = ScriptedChat("bees"), ScriptedChat('{"reason": "it says so", "score": 0.75}')
    written = ModelWriter(writer).write(QUESTION, LONG)
    assert AnswerJudge(judge).verdict(measure, QUESTION, written.answer, LONG) == Score(0.75)
    assert len(LONG.text) > 15_000
    assert writer.prompts[0].user == f"{LONG.text}\n\nQuestion: Who makes honey?"
    assert judge.prompts[0].user == f"{writer.prompts[0].user}\nAnswer to judge: bees"
    assert judge.prompts[0].json


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize(
    ("question", "answer", "short"),
    [
        (BenchQuestion("q", "Both?", "yes", LABEL), "yes", True),
        (BenchQuestion("q", "Both?", "yes", LABEL), "Yes, both are composers", True),
        (QUESTION, "Yes.", True),
        (QUESTION, "The bees", True),
        (QUESTION, "Bees make it", False),
    ],
    ids=["label", "long label", "yes", "one word", "sentence"],
)
def test_short_answers_are_judged_as_statements(measure: str, question: BenchQuestion, answer: str, short: bool) -> None:
    """DTm-12: yes, no and single words are read into their question, and their length is called no fault."""
    judge = ScriptedChat('{"score": 1.0}')
    assert AnswerJudge(judge).verdict(measure, question, answer, CONTEXT) == Score(1.0)
    assert judge.prompts[0].system == INSTRUCTIONS[measure, short]
    assert ("that is no fault" in judge.prompts[0].system) is short


@pytest.mark.parametrize("measure", MEASURES)
def test_no_documents_are_not_used_and_bear_nothing(measure: str) -> None:
    """Without documents both are 0, and the judge is not asked."""
    judge = ScriptedChat()
    assert AnswerJudge(judge).verdict(measure, QUESTION, "bees", BenchContext()) == Score(0.0)
    assert judge.prompts == []


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("answer", [None, "", " "])
def test_no_answer_is_not_judged(measure: str, answer: str | None) -> None:
    """Nothing is an error of the writer, not a bad answer."""
    assert AnswerJudge(ScriptedChat()).verdict(measure, QUESTION, answer, CONTEXT) == Score(None, NO_ANSWER)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize(
    ("says", "error"),
    [(None, "judge scripted answered 500"), ("It is good.", UNREADABLE)],
    ids=["out", "unreadable"],
)
def test_a_judge_that_fails_is_an_error_and_no_score(measure: str, says: str | None, error: str) -> None:
    """DTm-5, DT-9: no value and a reason; neither 0 nor .5 enters a mean."""
    assert AnswerJudge(ScriptedChat(says)).verdict(measure, QUESTION, "bees", CONTEXT) == Score(None, error)


@pytest.mark.parametrize(
    ("verdict", "score"),
    [
        ('{"reason": "it says so", "score": 0.8}', 0.8),
        ('{"score": 1}', 1.0),
        ('{"score": 0}', 0.0),
        ('{"score": "0.25"}', 0.25),
        ('{"score": "8/10"}', 0.8),
        ('```json\n{"score": 0.5}\n```', 0.5),
        ('Here it is: {"reason": "x", "score": 0.7}', 0.7),
        ("0.9", 0.9),
        (" 1.0. ", 1.0),
        ("8/10", 0.8),
        ("1 / 2", 0.5),
        ("Score: 0.8", 0.8),
        ("**Score:** 0.8\nBecause it says so.", 0.8),
        ("The answer follows. The score is 3/4", 0.75),
        ("Score: 0.8, as I said: score 0.8", 0.8),
        ("score = 0", 0.0),
    ],
)
def test_a_score_is_read_where_its_scale_is_certain(verdict: str, score: float) -> None:
    """A number from 0 to 1, or a fraction, in JSON, alone, or behind the word score."""
    assert read_score(verdict) == pytest.approx(score)


@pytest.mark.parametrize(
    "verdict",
    [
        "10.5", "100", "20", "7", "Score: 7", "Score: 10.5", "Score: 80%", "80 %", "0/0", "11/10", "-0.5", "Score: -1", "1.5",
        "", "good", "There are 0.8 reasons", "between 0 and 1", "Score: 0.2 or score: 0.8", "score: 0.8.1", "1e-3",
        '{"score": 10.5}', '{"score": 8}', '{"score": null}', '{"score": true}', '{"score": NaN}', '{"score": Infinity}',
        '{"score": -0.1}', '{"score": [0.5]}', '{"score": "high"}', '{"reason": "the score is 0.5"}', '{"rating": 0.5}',
        "[0.5]", '"0.5"', "[" * 50_000,
    ],
)  # fmt: skip
def test_nothing_is_guessed_from_anything_else(verdict: str) -> None:
    """DT-9: a part of a number, another scale, two scores, or none at all are no score, and never .5."""
    assert read_score(verdict) is None


def test_instructions_fit_beside_the_documents() -> None:
    """What is reserved for them, in tokens of four characters, holds the longest and a question of 1,000 characters."""
    assert max(map(len, INSTRUCTIONS.values())) / 4 + 1_000 / 4 < PROMPT_TOKENS
