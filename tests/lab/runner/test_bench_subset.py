"""Tests of choosing the part of a data set that a run works on."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clara_lab.bench.dataset import BenchData, BenchDataError, BenchDocument, BenchQuestion, assemble
from clara_lab.bench.plan import RunPlan
from clara_lab.runner.data import subset_of

DATA = assemble(
    "numbers",
    [BenchDocument(f"d{number}", "", str(number)) for number in range(100)]
    + [BenchQuestion(f"q{n}", f"{n}?", gold=frozenset({f"d{n}", f"d{n + 40}"})) for n in range(40)],
)


def plan(**values: object) -> RunPlan:
    return RunPlan.model_validate(values)


def ids(data: BenchData) -> tuple[list[str], list[str]]:
    return [row.id for row in data.documents], [row.id for row in data.questions]


def test_all_of_it() -> None:
    """Without a seed and limits nothing changes; a seed changes the order alone, so the digest stays."""
    same, shuffled = subset_of(DATA, plan(CORPUS_SHUFFLE_SEED=-1)), subset_of(DATA, plan())
    assert ids(same) == ids(DATA)
    assert ids(shuffled) != ids(DATA)
    assert same.digest == shuffled.digest == DATA.digest
    assert not shuffled.relative_only


def test_shuffling_does_not_depend_on_the_order_of_the_source() -> None:
    """The same seed chooses the same rows of a source written in another order; another seed chooses others."""
    turned = replace(DATA, documents=DATA.documents[::-1], questions=DATA.questions[::-1])
    wanted = plan(EVAL_MAX_QUERIES=7, EVAL_MAX_CORPUS=30)
    assert ids(subset_of(turned, wanted)) == ids(subset_of(DATA, wanted))
    assert ids(subset_of(DATA, plan(EVAL_MAX_QUERIES=7, EVAL_MAX_CORPUS=30, CORPUS_SHUFFLE_SEED=1))) != ids(
        subset_of(DATA, wanted)
    )


def test_cutting_the_corpus_keeps_and_counts_the_questions() -> None:
    """Questions whose answering documents were cut away stay with all of their gold; they are counted, and figures marked."""
    part = subset_of(DATA, plan(CORPUS_SHUFFLE_SEED=-1, EVAL_MAX_QUERIES=20, EVAL_MAX_CORPUS=50))
    assert (len(part.documents), len(part.questions)) == (50, 20)
    assert part.questions == DATA.questions[:20]
    assert (part.origin["questions_missing_some_gold"], part.origin["questions_missing_all_gold"]) == (10, 0)
    assert part.origin["documents_of_source"] == 100
    assert part.relative_only
    assert part.digest != DATA.digest


@given(seed=st.integers(-1, 50), questions=st.integers(1, 60), documents=st.integers(80, 120))
def test_development_keeps_every_answer(seed: int, questions: int, documents: int) -> None:
    """All gold documents of the drawn questions are there, filled with others to the size; seeds repeat."""
    wanted = plan(
        CORPUS_SHUFFLE_SEED=seed,
        EVAL_MAX_QUERIES=1,
        EVAL_MAX_CORPUS=1,
        DEV_MODE=True,
        DEV_QUERIES=questions,
        DEV_CORPUS_SIZE=documents,
    )
    part = subset_of(DATA, wanted)
    held, drawn = ids(part)
    assert len(drawn) == min(questions, 40)
    assert len(held) == min(documents, 100)
    assert all(question.gold <= set(held) for question in part.questions)
    assert part == subset_of(DATA, wanted)
    assert part.relative_only == (len(held) < 100)


def test_a_smaller_development_run_is_a_part_of_a_larger_one() -> None:
    """The first questions drawn stay the same when more are drawn."""
    few = subset_of(DATA, plan(DEV_MODE=True, DEV_QUERIES=5))
    many = subset_of(DATA, plan(DEV_MODE=True, DEV_QUERIES=9))
    assert ids(many)[1][:5] == ids(few)[1]


def test_too_small_a_corpus_is_refused_with_the_least_size() -> None:
    """Fewer places than gold documents is an error that says how many are needed."""
    with pytest.raises(BenchDataError, match="set DEV_CORPUS_SIZE to 20 or more"):
        subset_of(DATA, plan(DEV_MODE=True, DEV_QUERIES=10, DEV_CORPUS_SIZE=19))
    assert len(subset_of(DATA, plan(DEV_MODE=True, DEV_QUERIES=10, DEV_CORPUS_SIZE=20)).documents) == 20


def test_development_needs_questions_that_can_be_answered() -> None:
    """Questions without gold are not drawn; with no others, that is said."""
    bare = replace(DATA, questions=tuple(replace(question, gold=frozenset()) for question in DATA.questions))
    with pytest.raises(BenchDataError, match="DEV_MODE found no question"):
        subset_of(bare, plan(DEV_MODE=True))
