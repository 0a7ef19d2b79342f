"""Tests of the measures, each against a case worked out by hand."""

from collections.abc import Sequence

import pytest
from evaluation_builders import answer, question_of, refusal
from hypothesis import given
from hypothesis import strategies as st

from clara.quality.measures import MEASURES, Outcome, interval, risk_coverage

FIRST = answer(question_of("q1", "nie"), "nie", "tie", confidence=0.9)
THIRD = answer(question_of("q2", "nie"), "tie", "imv", "nie", confidence=0.8)
FOURTH = answer(question_of("q3", "nie"), "tie", "imv", "arraigo", "nie", confidence=0.3)
ELSEWHERE = answer(question_of("q4", "tie"), "imv")
REFUSED = refusal(question_of("q5", "nie"), 0.2)
SEVERAL = answer(question_of("q6", "nie", "tie"), "nie", "imv", "arraigo", "tie", confidence=0.6)
RIGHTLY_REFUSED = refusal(question_of("n1"), 0.1)
WRONGLY_ANSWERED = answer(question_of("n2"), "nie", confidence=0.8)
ALL = [FIRST, THIRD, FOURTH, ELSEWHERE, REFUSED, SEVERAL, RIGHTLY_REFUSED, WRONGLY_ANSWERED]


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        pytest.param("hit@1", 1 / 5, id="hit@1:q1-of-q1..q5"),
        pytest.param("expected@1", 1 / 5, id="expected@1:q1-of-q1..q5"),
        pytest.param("hit@3", 2 / 5, id="hit@3:q1,q2-of-q1..q5"),
        pytest.param("mrr", (1 + 1 / 3 + 1 / 4 + 0 + 0 + 1) / 6, id="mrr:ranks-1,3,4,none,refused,1"),
        pytest.param("set_recall@3", 1 / 2, id="set_recall@3:nie-but-not-tie"),
        pytest.param("in_scope_answered", 5 / 6, id="in_scope_answered:all-but-q5"),
        pytest.param("refusal_recall", 1 / 2, id="refusal_recall:n1-of-n1,n2"),
        pytest.param("refusal_precision", 1 / 2, id="refusal_precision:n1-of-n1,q5"),
        # Against n1 (.1): .9 .8 .3 .2 .6 all win, 5. Against n2 (.8): .9 wins, .8 ties, 1.5. q4 has no confidence.
        pytest.param("auroc", 6.5 / 10, id="auroc"),
        pytest.param("section_hit@1", None, id="section_hit@1:no-section-expected"),
        pytest.param("fact_recall@5", None, id="fact_recall@5:no-fact-expected"),
    ],
)
def test_measure(measure: str, expected: float | None) -> None:
    """Every measure gives, over the same eight outcomes, what comes out by hand."""
    assert MEASURES[measure](ALL) == (expected if expected is None else pytest.approx(expected))


def test_every_measure_has_a_case() -> None:
    """No measure joins the table without a case here."""
    assert list(MEASURES) == [
        "hit@1",
        "hit@3",
        "mrr",
        "expected@1",
        "set_recall@3",
        "section_hit@1",
        "fact_recall@5",
        "in_scope_answered",
        "refusal_recall",
        "refusal_precision",
        "auroc",
    ]


@pytest.mark.parametrize("measure", MEASURES)
def test_nothing_to_measure(measure: str) -> None:
    """A measure without a question that it is about is not 0 and not 1: it is absent."""
    assert MEASURES[measure]([]) is None


@pytest.mark.parametrize(
    "measure", ["hit@1", "expected@1", "hit@3", "mrr", "set_recall@3", "section_hit@1", "in_scope_answered"]
)
@pytest.mark.parametrize("negative", [RIGHTLY_REFUSED, WRONGLY_ANSWERED], ids=["refused", "answered"])
def test_negatives_stay_out(measure: str, negative: Outcome) -> None:
    """A question to refuse never raises or lowers a measure of what was found."""
    assert MEASURES[measure]([negative]) is None
    assert MEASURES[measure]([*ALL, negative]) == MEASURES[measure](ALL)


@pytest.mark.parametrize(
    ("measure", "asked"),
    [
        pytest.param("hit@1", question_of("q", "nie"), id="hit@1"),
        pytest.param("expected@1", question_of("q", "nie"), id="expected@1"),
        pytest.param("hit@3", question_of("q", "nie"), id="hit@3"),
        pytest.param("mrr", question_of("q", "nie"), id="mrr"),
        pytest.param("set_recall@3", question_of("q", "nie", "tie"), id="set_recall@3"),
        pytest.param("section_hit@1", question_of("q", "nie", section="plazos"), id="section_hit@1"),
        pytest.param("fact_recall@5", question_of("q", "nie", facts=frozenset({"nie-plazos-01"})), id="fact_recall@5"),
        pytest.param("in_scope_answered", question_of("q", "nie"), id="in_scope_answered"),
        pytest.param("refusal_precision", question_of("q", "nie"), id="refusal_precision"),
    ],
)
def test_refused_is_wrong(measure: str, asked: object) -> None:
    """Refusing a question that has an answer scores 0 in every measure that applies to it."""
    assert MEASURES[measure]([refusal(asked)]) == 0


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        pytest.param(("nie", "tie"), 1, id="both"),
        pytest.param(("tie", "imv", "nie"), 1, id="any-order-up-to-the-third"),
        pytest.param(("imv", "arraigo", "nie", "tie"), 1 / 2, id="the-fourth-is-too-late"),
        pytest.param(("nie", "imv"), 1 / 2, id="one-of-two"),
        pytest.param(("imv",), 0, id="none"),
    ],
)
def test_set_recall(found: Sequence[str], expected: float) -> None:
    """Set recall is the share of the expected documents among the first three, in whatever order."""
    asked = question_of("q", "nie", "tie")
    assert MEASURES["set_recall@3"]([answer(asked, *found)]) == pytest.approx(expected)


def test_set_recall_is_a_mean_over_questions() -> None:
    """A question about three documents weighs as much as one about two: (1/2 + 2/3) / 2 = 7/12."""
    two, three = question_of("a", "nie", "tie"), question_of("b", "nie", "tie", "imv")
    outcomes = [answer(two, "nie"), answer(three, "imv", "tie")]
    assert MEASURES["set_recall@3"](outcomes) == pytest.approx(7 / 12)


@pytest.mark.parametrize("k", [1, 3])
def test_several_documents_are_no_hit(k: int) -> None:
    """A question about several documents is measured by set recall, not by hit@k."""
    assert MEASURES[f"hit@{k}"]([SEVERAL]) is None


@pytest.mark.parametrize(
    ("documents", "section", "expected"),
    [
        pytest.param(("nie",), "plazos", 1, id="where-people-look-first"),
        pytest.param(("nie",), "errores", 1, id="accepted-too"),
        pytest.param(("nie",), "cuantias", 0, id="another-section"),
        pytest.param(("nie",), None, 0, id="no-section"),
        pytest.param(("tie",), "plazos", 0, id="right-section-of-another-document"),
        pytest.param(("tie", "nie"), "plazos", 0, id="right-document-second"),
    ],
)
def test_section_hit(documents: Sequence[str], section: str | None, expected: int) -> None:
    """The first passage must be of the right document and of its section, or of one that is as good."""
    asked = question_of("q", "nie", section="plazos", accepted_sections=frozenset({"errores", "contactos"}))
    assert MEASURES["section_hit@1"]([answer(asked, *documents, section=section)]) == expected


def test_accepted_documents() -> None:
    """What answers as well counts as right, but not as the expected one, and its sections do not count."""
    asked = question_of("q", "nie", section="plazos", accepted=frozenset({"tie"}))
    other = answer(asked, "tie", "nie", section="plazos")
    assert other.right
    names = ("hit@1", "mrr", "expected@1", "section_hit@1")
    assert [MEASURES[name]([other]) for name in names] == [1, 1, 0, 0]
    assert [MEASURES[name]([answer(asked, "nie", "tie", section="plazos")]) for name in names] == [1, 1, 1, 1]
    assert MEASURES["hit@1"]([answer(asked, "imv")]) == 0


def test_section_hit_needs_an_expected_section() -> None:
    """Questions without one right section do not count: of two answers only the first is judged."""
    clear, unclear = question_of("a", "nie", section="plazos"), question_of("b", "nie", accepted_sections=frozenset({"plazos"}))
    assert MEASURES["section_hit@1"]([answer(clear, "nie", section="plazos"), answer(unclear, "nie", section="x")]) == 1


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        pytest.param(("f1", "f2"), 1, id="both"),
        pytest.param(("a", "b", "c", "f2", "f1"), 1, id="up-to-the-fifth"),
        pytest.param(("a", "b", "c", "d", "f1", "f2"), 1 / 2, id="the-sixth-is-too-late"),
        pytest.param(("a",), 0, id="none"),
    ],
)
def test_fact_recall(facts: Sequence[str], expected: float) -> None:
    """Fact recall is the share of the facts to hold that are among the first five passages."""
    asked = question_of("q", "nie", facts=frozenset({"f1", "f2"}))
    assert MEASURES["fact_recall@5"]([answer(asked, "nie", facts=facts)]) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("inside", "outside", "expected"),
    [
        pytest.param([0.9, 0.8], [0.2, 0.1], 1, id="apart"),
        pytest.param([0.1], [0.9, 0.8], 0, id="upside-down"),
        pytest.param([0.5, 0.5], [0.5], 1 / 2, id="all-tie"),
        pytest.param([0.9, 0.5], [0.5, 0.1], 3.5 / 4, id="one-tie-of-four-pairs"),
        pytest.param([0.9, None], [0.5, None], 1, id="missing-confidences-make-no-pair"),
        pytest.param([None], [0.5], None, id="none-inside"),
        pytest.param([0.5], [None], None, id="none-outside"),
        pytest.param([0.0], [0.0], 1 / 2, id="zero-is-a-confidence"),
    ],
)
def test_auroc(inside: Sequence[float | None], outside: Sequence[float | None], expected: float | None) -> None:
    """AUROC is the share of the pairs in which the answerable question has the higher confidence; a tie is half."""
    outcomes = [answer(question_of(f"q{place}", "nie"), "nie", confidence=one) for place, one in enumerate(inside)]
    outcomes += [refusal(question_of(f"n{place}"), one) for place, one in enumerate(outside)]
    assert MEASURES["auroc"](outcomes) == expected


def test_risk_coverage() -> None:
    """Of eight questions: q1 right at .9; at .8 also q2 and n2, both wrong; then q6, right; then q3, wrong."""
    expected = [(1 / 8, 0), (3 / 8, 2 / 3), (4 / 8, 2 / 4), (5 / 8, 3 / 5)]
    assert risk_coverage(ALL) == [pytest.approx(point) for point in expected]


def test_risk_coverage_knows_no_order_among_equals() -> None:
    """Answers of the same confidence come together: no threshold parts them."""
    assert risk_coverage([THIRD, WRONGLY_ANSWERED]) == risk_coverage([WRONGLY_ANSWERED, THIRD]) == [(1, 1)]


@pytest.mark.parametrize("outcomes", [[], [REFUSED, RIGHTLY_REFUSED], [ELSEWHERE]], ids=["none", "refused", "no-confidence"])
def test_no_curve(outcomes: Sequence[Outcome]) -> None:
    """Without an answer that has a confidence there is no curve."""
    assert risk_coverage(outcomes) == []


@pytest.mark.parametrize("measure", [name for name, measure in MEASURES.items() if measure(ALL) is not None])
def test_interval(measure: str) -> None:
    """The interval is the same every time, lies within 0..1 and contains the value."""
    low, high = interval(MEASURES[measure], ALL * 5)
    assert (low, high) == interval(MEASURES[measure], ALL * 5)
    assert 0 <= low <= MEASURES[measure](ALL) <= high <= 1


def test_interval_depends_on_the_seed() -> None:
    """Another seed draws other samples."""
    spreads = {interval(MEASURES["mrr"], ALL * 5, seed) for seed in range(5)}
    assert len(spreads) > 1


def test_interval_width() -> None:
    """At 50 of 100 the interval is near .5 ± 1.96 * sqrt(.25 / 100) = .402 to .598."""
    outcomes = [answer(question_of(f"q{place}", "nie"), "nie" if place % 2 else "tie") for place in range(100)]
    assert interval(MEASURES["hit@1"], outcomes) == pytest.approx((0.402, 0.598), abs=0.025)


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [
        pytest.param([FIRST] * 4, (1, 1), id="all-right"),
        pytest.param([], None, id="nothing"),
        pytest.param([RIGHTLY_REFUSED], None, id="nothing-that-applies"),
    ],
)
def test_interval_at_the_edge(outcomes: Sequence[Outcome], expected: tuple[float, float] | None) -> None:
    """Where all are right nothing varies; where no question applies there is no interval."""
    assert interval(MEASURES["hit@1"], outcomes) == expected


@given(st.lists(st.sampled_from(ALL), min_size=1, max_size=12))
def test_shares(outcomes: list[Outcome]) -> None:
    """Whatever came back, a measure is a share, and more places never find less."""
    values = {name: measure(outcomes) for name, measure in MEASURES.items()}
    assert all(value is None or 0 <= value <= 1 for value in values.values())
    assert values["hit@1"] is None or values["hit@1"] <= values["hit@3"]
