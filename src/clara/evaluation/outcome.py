"""What a retriever made of one question, in the terms that the measures need."""

from dataclasses import dataclass, replace

from clara.evaluation.dataset import Question
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
        """The place (from 1) of the first expected document; None when it was not found."""
        places = (place for place, document in enumerate(self.documents, 1) if document in self.question.documents)
        return next(places, None)

    @property
    def right(self) -> bool:
        """Whether a person was served: the expected document first, or a refusal where no document is expected."""
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
