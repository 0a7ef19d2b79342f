"""Tests of the two writers."""

import pytest
from tests.lab.bench.scripted_chat import ScriptedChat

from clara_lab.bench.dataset import LABEL, BenchDocument, BenchQuestion
from clara_lab.bench.prompts import BenchContext, context_of
from clara_lab.bench.writers import NOTHING, UNDECIDED, AnswerWriter, ModelWriter, SpanWriter, WrittenAnswer

DOCUMENTS = [
    BenchDocument("a", "Ada Lovelace", "Ada Lovelace was an English mathematician. She was born on 10 December 1815."),
    BenchDocument("b", "Bell Rock Lighthouse", "It stands off the coast of Angus. It was built by Robert Stevenson."),
    BenchDocument("c", "Padrón", "El padrón se pide en el ayuntamiento. La inscripción cuesta 12 euros."),
    BenchDocument("d", "", "All owls hunt at night and none of them ever sleeps before noon."),
]
CONTEXT = context_of(DOCUMENTS)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("When was Ada Lovelace born?", "10 December 1815"),
        ("In what year was Ada Lovelace born?", "1815"),
        ("Who built the Bell Rock Lighthouse?", "Robert Stevenson"),
        ("¿Cuánto cuesta la inscripción?", "12"),
        ("Which stands off a coast, Bell Rock or Ada Lovelace?", "Bell Rock"),
        ("what hunts at night", "All owls hunt at night and none of them ever sleeps before noon."),
    ],
    ids=["date", "year", "name", "number", "choice", "sentence"],
)
def test_the_extractive_writer_takes_its_answer_from_the_page(question: str, answer: str) -> None:
    """A date, year, number or name of the nearest sentences, else the nearest sentence itself."""
    page = context_of(DOCUMENTS[3:]) if answer.startswith("All") else CONTEXT
    assert SpanWriter().write(BenchQuestion("q", question), page) == WrittenAnswer(answer)


def test_the_extractive_writer_says_what_it_cannot() -> None:
    """It decides no label and answers nothing from nothing: failures that are counted, not wrong answers."""
    writer: AnswerWriter = SpanWriter()
    assert writer.write(BenchQuestion("q", "Are both owls?", "yes", LABEL), CONTEXT) == WrittenAnswer(None, UNDECIDED)
    assert writer.write(BenchQuestion("q", "Who?"), BenchContext()) == WrittenAnswer(None, NOTHING)


@pytest.mark.parametrize("question", ["", "?", "who", "Who or what?", "(((", "漢字は何ですか"])
def test_any_question_gets_some_answer(question: str) -> None:
    """However little a question says, something of the page is the nearest."""
    answer = SpanWriter().write(BenchQuestion("q", question), CONTEXT).answer
    assert answer


@pytest.mark.parametrize(
    ("says", "answer"),
    [
        ("Robert Stevenson", "Robert Stevenson"),
        ("Answer: yes", "yes"),
        ("**Final answer:** 1815 ", "1815"),
        ("answers", "answers"),
    ],
)
def test_a_model_writes_the_answer_alone(says: str, answer: str) -> None:
    """What models like to put before an answer is no part of it."""
    assert ModelWriter(ScriptedChat(says)).write(BenchQuestion("q", "Who?"), CONTEXT) == WrittenAnswer(answer)


def test_a_model_that_is_out_is_a_failure_with_a_reason() -> None:
    """No answer, and the run goes on."""
    written = ModelWriter(ScriptedChat(None)).write(BenchQuestion("q", "Who?"), CONTEXT)
    assert written == WrittenAnswer(None, "writer scripted answered 500")
