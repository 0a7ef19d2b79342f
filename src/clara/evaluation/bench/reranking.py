"""What generation is given: the best candidates by a reranker's scores, or those of the search where there is none."""

from collections.abc import Sequence
from dataclasses import dataclass

from clara.evaluation.bench.dataset import BenchDocument, BenchQuestion
from clara.retrieval.reranking import RerankerUnavailableError, TextScorer


@dataclass(frozen=True, slots=True)
class Reranked:
    """The documents to generate from, best first, and how they came about, as a QuestionRecord keeps it.

    `candidates` has the ids that the reranker was given, in the order of the search; empty without one. `reranked` is None
    without a reranker, and False when it failed, for which `failure` gives the reason: then the order of the search stands.
    """

    documents: tuple[BenchDocument, ...]
    candidates: tuple[str, ...] = ()
    reranked: bool | None = None
    failure: str = ""


def rerank(question: BenchQuestion, found: Sequence[BenchDocument], scorer: TextScorer, top: int) -> Reranked:
    """Give the `top` best of what was found, by score; equal scores stay in the order of the search."""
    candidates = tuple(document.id for document in found)
    try:
        scores = scorer.scores(question.text, [f"{document.title}\n{document.text}".strip() for document in found])
    except RerankerUnavailableError as error:
        return Reranked(tuple(found[:top]), candidates, reranked=False, failure=f"reranker {scorer.name} {error}")
    order = sorted(range(len(found)), key=lambda place: -scores[place])
    return Reranked(tuple(found[place] for place in order[:top]), candidates, reranked=True)


def unranked(found: Sequence[BenchDocument], top: int) -> Reranked:
    """Give the `top` first of what was found, as the search ranked them."""
    return Reranked(tuple(found[:top]))
