"""How near an answer is to the right one in meaning: the cosine of their vectors."""

from collections.abc import Sequence
from typing import Final

from clara.retrieval.embedders import embedded, is_blank
from clara.retrieval.ports import Embedder, EmbedderUnavailableError
from clara_lab.bench.dataset import BenchQuestion
from clara_lab.bench.generation import NO_ANSWER, NO_GOLD
from clara_lab.bench.record import Score

SEMANTIC_SIMILARITY: Final = "semantic_similarity"


def semantic_similarities(answered: Sequence[tuple[BenchQuestion, str | None]], embedder: Embedder) -> list[Score]:
    """Give the cosine (-1..1) of each answer with its right answer, in order, asking the embedder once.

    A missing answer or right answer, and an embedder that is out, are errors and no zeros. Both texts are embedded as
    queries, as models with two roles advise for texts of one kind.
    """
    measured = [_unmeasurable(question, answer) for question, answer in answered]
    wanted = [
        (place, question.answer, answer or "") for place, (question, answer) in enumerate(answered) if measured[place] is None
    ]
    texts = list(dict.fromkeys(text for _, *pair in wanted for text in pair))
    try:
        vectors = dict(zip(texts, embedded(embedder, texts, "query") if texts else (), strict=True))
    except EmbedderUnavailableError as error:
        return [given or Score(None, str(error)) for given in measured]
    for place, gold, answer in wanted:
        measured[place] = Score(sum(one * other for one, other in zip(vectors[gold], vectors[answer], strict=True)))
    return [given for given in measured if given]


def _unmeasurable(question: BenchQuestion, answer: str | None) -> Score | None:
    if is_blank(question.answer):
        return Score(None, NO_GOLD)
    return Score(None, NO_ANSWER) if answer is None or is_blank(answer) else None
