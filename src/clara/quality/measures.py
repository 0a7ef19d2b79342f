"""What a retriever made of questions, and the measures of it: shares of 0..1, or None where no question applies."""

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from clara.quality.dataset import Question
from clara.retrieval.passage import Found, Status


@dataclass(frozen=True, slots=True)
class Outcome:
    """One question and what came back: documents, best first, each once; the section and facts of the best one.

    A refused question has no documents. `confidence` orders questions by how sure the retriever was; None when the tier
    that answered does not say.
    """

    question: Question
    answered: bool
    documents: tuple[str, ...] = ()
    section: str | None = None
    facts: tuple[str, ...] = ()
    confidence: float | None = None
    tier: str = ""
    milliseconds: float = 0.0

    @property
    def rank(self) -> int | None:
        """The place (from 1) of the first document that answers, expected or accepted; None when none was found."""
        answering = self.question.documents | self.question.accepted
        places = (place for place, document in enumerate(self.documents, 1) if document in answering)
        return next(places, None)

    @property
    def right(self) -> bool:
        """Whether a person was served: a document that answers first, or a refusal where no document is expected."""
        return self.rank == 1 if self.question.in_scope else not self.answered


def outcome_of(question: Question, found: Found, milliseconds: float) -> Outcome:
    """Read a retrieval as an outcome. An outage is no refusal: it counts as a question left out."""
    if found.status is Status.OUTAGE:
        return replace(missing(question), tier=found.tier, milliseconds=milliseconds)
    answered = found.status is Status.FOUND
    hits = found.hits if answered else ()
    return Outcome(
        question=question,
        answered=answered,
        documents=tuple(dict.fromkeys(hit.passage.document_id for hit in hits)),
        section=hits[0].passage.section if hits else None,
        facts=tuple(hit.passage.id for hit in hits),
        confidence=found.confidence,
        tier=found.tier,
        milliseconds=milliseconds,
    )


def missing(question: Question) -> Outcome:
    """Give the outcome of a question that a run left out: wrong, whatever was expected."""
    return Outcome(question, answered=not question.in_scope, tier="missing")


Measure = Callable[[Sequence[Outcome]], float | None]

# Resamples of the bootstrap and the share of them between the two ends of an interval.
RESAMPLES = 1000
COVERED = 0.95


def _mean(values: Iterable[float]) -> float | None:
    listed = list(values)
    return fmean(listed) if listed else None


def _single(outcomes: Sequence[Outcome]) -> list[Outcome]:
    return [outcome for outcome in outcomes if len(outcome.question.documents) == 1]


def hit_at(k: int) -> Measure:
    """Share of the questions with one right document that have it among the first k."""

    def measure(outcomes: Sequence[Outcome]) -> float | None:
        return _mean(outcome.rank is not None and outcome.rank <= k for outcome in _single(outcomes))

    return measure


def expected_at_1(outcomes: Sequence[Outcome]) -> float | None:
    """Share of the questions with one right document that have that one first, and no other that is accepted besides."""
    return _mean(not outcome.question.documents.isdisjoint(outcome.documents[:1]) for outcome in _single(outcomes))


def mean_reciprocal_rank(outcomes: Sequence[Outcome]) -> float | None:
    """Mean of 1 / rank of the right document over the answerable questions; 0 where it was not found."""
    return _mean(1 / outcome.rank if outcome.rank else 0.0 for outcome in outcomes if outcome.question.in_scope)


def set_recall_at_3(outcomes: Sequence[Outcome]) -> float | None:
    """Share of the expected documents among the first three, for questions that expect several."""
    several = [outcome for outcome in outcomes if len(outcome.question.documents) > 1]
    return _mean(
        len(outcome.question.documents & set(outcome.documents[:3])) / len(outcome.question.documents) for outcome in several
    )


def section_hit_at_1(outcomes: Sequence[Outcome]) -> float | None:
    """Share of the questions with an expected section whose first passage is of it, in the right document.

    A section that also holds a fact that answers is as good: people file the same matter under different headings.
    """
    asked = [outcome for outcome in _single(outcomes) if outcome.question.section is not None]
    return _mean(
        not outcome.question.documents.isdisjoint(outcome.documents[:1]) and outcome.section in _accepted(outcome.question)
        for outcome in asked
    )


def _accepted(question: Question) -> frozenset[str | None]:
    return question.accepted_sections | {question.section}


def fact_recall_at_5(outcomes: Sequence[Outcome]) -> float | None:
    """Share of the facts a right answer must hold that are among the first five passages."""
    asked = [outcome for outcome in outcomes if outcome.question.facts]
    return _mean(len(outcome.question.facts & set(outcome.facts[:5])) / len(outcome.question.facts) for outcome in asked)


def in_scope_answered(outcomes: Sequence[Outcome]) -> float | None:
    """Share of the answerable questions that got an answer, right or wrong."""
    return _mean(outcome.answered for outcome in outcomes if outcome.question.in_scope)


def refusal_recall(outcomes: Sequence[Outcome]) -> float | None:
    """Share of the questions to refuse that were refused."""
    return _mean(not outcome.answered for outcome in outcomes if not outcome.question.in_scope)


def refusal_precision(outcomes: Sequence[Outcome]) -> float | None:
    """Share of the refusals that were right."""
    return _mean(not outcome.question.in_scope for outcome in outcomes if not outcome.answered)


def auroc(outcomes: Sequence[Outcome]) -> float | None:
    """Chance that an answerable question has the higher confidence than one to refuse; ties count half."""
    inside = [outcome.confidence for outcome in outcomes if outcome.question.in_scope and outcome.confidence is not None]
    outside = [outcome.confidence for outcome in outcomes if not outcome.question.in_scope and outcome.confidence is not None]
    return _mean(float(one > other) + 0.5 * (one == other) for one in inside for other in outside)


def risk_coverage(outcomes: Sequence[Outcome]) -> list[tuple[float, float]]:
    """Give (coverage, risk) for each threshold on the confidence, highest first, down to where the retriever refused.

    Coverage is the share of all questions answered at the threshold, risk the share of those answers that are wrong: another
    document than the expected one, or any answer to a question to refuse. What a refused question would have found is not
    known, so no threshold below the retriever's own is judged.
    """
    answers = [(outcome.confidence, outcome.rank != 1) for outcome in outcomes if outcome.answered]
    points: list[tuple[float, float]] = []
    for threshold in sorted({confidence for confidence, _ in answers if confidence is not None}, reverse=True):
        wrong = [bad for confidence, bad in answers if confidence is not None and confidence >= threshold]
        points.append((len(wrong) / len(outcomes), fmean(wrong)))
    return points


MEASURES: Mapping[str, Measure] = {
    "hit@1": hit_at(1),
    "hit@3": hit_at(3),
    "mrr": mean_reciprocal_rank,
    "expected@1": expected_at_1,
    "set_recall@3": set_recall_at_3,
    "section_hit@1": section_hit_at_1,
    "fact_recall@5": fact_recall_at_5,
    "in_scope_answered": in_scope_answered,
    "refusal_recall": refusal_recall,
    "refusal_precision": refusal_precision,
    "auroc": auroc,
}


def interval(measure: Measure, outcomes: Sequence[Outcome], seed: int = 0) -> tuple[float, float] | None:
    """Give the bootstrap interval of a measure: resampled with replacement, the middle 95 %."""
    dice = random.Random(seed)  # noqa: S311  resampling, nothing secret
    values = (measure(dice.choices(outcomes, k=len(outcomes))) for _ in range(RESAMPLES))
    drawn = sorted(value for value in values if value is not None)
    if not drawn:
        return None
    cut = int(len(drawn) * (1 - COVERED) / 2)
    return drawn[cut], drawn[-1 - cut]
