"""Tests of reading a retrieval as an outcome, and of when a person was served."""

from collections.abc import Sequence

import pytest
from evaluation_builders import answer, question_of, refusal
from unit_builders import hit_of

from clara.quality.dataset import Question
from clara.quality.measures import Outcome, missing, outcome_of
from clara.retrieval.passage import Found, Hit, Status

ASKED = question_of("q", "nie")
NEGATIVE = question_of("n")


@pytest.mark.parametrize(
    ("outcome", "right"),
    [
        pytest.param(answer(ASKED, "nie", "tie"), True, id="first"),
        pytest.param(answer(ASKED, "tie", "nie"), False, id="second"),
        pytest.param(answer(ASKED, "tie"), False, id="another"),
        pytest.param(refusal(ASKED), False, id="refused"),
        pytest.param(missing(ASKED), False, id="left-out"),
        pytest.param(answer(question_of("q", "nie", "tie"), "tie"), True, id="one-of-two"),
        pytest.param(refusal(NEGATIVE), True, id="negative-refused"),
        pytest.param(answer(NEGATIVE, "nie"), False, id="negative-answered"),
        pytest.param(missing(NEGATIVE), False, id="negative-left-out"),
    ],
)
def test_right(outcome: Outcome, right: bool) -> None:
    """A person is served by an expected document in the first place, or by a refusal where nothing is expected."""
    assert outcome.right is right


@pytest.mark.parametrize(
    ("found", "rank"),
    [
        pytest.param(("nie",), 1, id="first"),
        pytest.param(("imv", "arraigo", "tie", "nie"), 3, id="first-of-two-expected"),
        pytest.param(("imv",), None, id="not-found"),
        pytest.param((), None, id="nothing"),
    ],
)
def test_rank(found: Sequence[str], rank: int | None) -> None:
    """The rank is the place of the first expected document, counted from 1."""
    assert answer(question_of("q", "nie", "tie"), *found).rank == rank


HITS = (hit_of("nie-plazos-02"), hit_of("nie-cuantias-01"), hit_of("tie-plazos-01"), hit_of("nie-plazos-01"))


def test_found() -> None:
    """Documents count once, in the order of their best passage; section is that of the first; passages are facts."""
    outcome = outcome_of(ASKED, Found(Status.FOUND, "pgvector", HITS, confidence=0.7), 12.5)
    assert outcome == Outcome(
        question=ASKED,
        answered=True,
        documents=("nie", "tie"),
        section="plazos",
        facts=("nie-plazos-02", "nie-cuantias-01", "tie-plazos-01", "nie-plazos-01"),
        confidence=0.7,
        tier="pgvector",
        milliseconds=12.5,
    )


@pytest.mark.parametrize("hits", [(), HITS], ids=["empty", "with-a-directory"])
def test_not_found(hits: tuple[Hit, ...]) -> None:
    """What a refusal shows of the directory is nothing found; its confidence is kept."""
    outcome = outcome_of(ASKED, Found(Status.NOT_FOUND, "directory_fallback", hits, confidence=0.1), 1.0)
    assert outcome == Outcome(ASKED, answered=False, confidence=0.1, tier="directory_fallback", milliseconds=1.0)


@pytest.mark.parametrize("question", [ASKED, NEGATIVE], ids=["in-scope", "negative"])
def test_an_outage_is_no_refusal(question: Question) -> None:
    """Whoever meets an outage was not served, also where a refusal would have been right."""
    outcome = outcome_of(question, Found(Status.OUTAGE, "directory_fallback", HITS, ("pgvector",)), 3.0)
    assert not outcome.right
    assert (outcome.documents, outcome.tier, outcome.milliseconds) == ((), "directory_fallback", 3.0)
