"""Tests of reranking: the wrapper, the heuristic and what a text scorer sees."""

from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from unit_builders import hit_of, passage_of

from clara.retrieval.options.rerankers import (
    HeuristicReranker,
    HeuristicWeights,
    RerankerUnavailableError,
    TextReranker,
    in_order,
    reranked,
)
from clara.retrieval.passage import Found, Hit, Query, Status

QUERY = Query("¿cuánto tarda?", "clara", limit=3)
HITS = tuple(hit_of(f"nie-plazos-0{place}", 1 - place / 10) for place in range(1, 6))
WEIGHTS = HeuristicWeights(curated=frozenset({"curado"}))
HEURISTIC = HeuristicReranker(WEIGHTS)


@dataclass
class Search:
    """A retriever that gives its hits up to the limit, and notes what it was asked."""

    found: Found = field(default_factory=lambda: Found(Status.FOUND, "pgvector", HITS, confidence=0.8))
    asked: list[Query] = field(default_factory=list)

    def __call__(self, query: Query) -> Found:
        self.asked.append(query)
        return replace(self.found, hits=self.found.hits[: query.limit])


@dataclass
class Scripted:
    """A reranker that gives these scores, or raises."""

    given: list[float] | RerankerUnavailableError
    name: str = "scripted"
    seen: list[tuple[Query, tuple[Hit, ...]]] = field(default_factory=list)

    def scores(self, query: Query, hits: tuple[Hit, ...]) -> list[float]:
        self.seen.append((query, hits))
        if isinstance(self.given, RerankerUnavailableError):
            raise self.given
        return self.given


def places(found: Found) -> list[int]:
    return [int(hit.passage.id[-1]) for hit in found.hits]


def test_the_new_scores_order_the_hits() -> None:
    """The best by the new score come first, up to the limit; hits, status and confidence stay as they were."""
    found = reranked(Search(), Scripted([0, 1, 5, 1, 9]), candidates=5)(QUERY)
    assert places(found) == [5, 3, 2]
    assert found.hits[0] == HITS[4]
    assert (found.status, found.tier, found.confidence, found.failures) == (Status.FOUND, "pgvector", 0.8, ())


@given(scores=st.lists(st.sampled_from([0.0, 1.0, -1.0, 2.5]), min_size=5, max_size=5))
def test_ties_stay_in_their_order(scores: list[float]) -> None:
    """Any scores give a descending order in which equal ones keep the search's order, and nothing is lost or doubled."""
    found = reranked(Search(), Scripted(scores), candidates=5)(replace(QUERY, limit=5))
    assert places(found) == sorted(range(1, 6), key=lambda place: (-scores[place - 1], place))


@pytest.mark.parametrize(
    ("candidates", "limit", "wanted"),
    [(20, 3, 20), (2, 5, 5), (500, 3, 100), (100, 100, 100)],
    ids=["candidates", "at least the limit", "at most 100", "both"],
)
def test_more_are_searched_than_are_kept(candidates: int, limit: int, wanted: int) -> None:
    """The search is asked for the candidates; nothing else of the query changes."""
    search = Search()
    query = replace(QUERY, limit=limit)
    reranked(search, Scripted([]), candidates=candidates)(query)
    assert search.asked == [replace(query, limit=wanted)]


@pytest.mark.parametrize(
    ("given_scores", "reason"),
    [
        (RerankerUnavailableError("did not answer within the deadline"), "did not answer within the deadline"),
        ([1.0, 2.0], "gave 2 scores for 5 passages"),
        ([], "gave 0 scores for 5 passages"),
        ([1.0] * 6, "gave 6 scores for 5 passages"),
        ([1, 2, 3, 4, float("nan")], "gave a score that is not a finite number"),
        ([float("inf"), 2, 3, 4, 5], "gave a score that is not a finite number"),
        ([1, 2, float("-inf"), 4, 5], "gave a score that is not a finite number"),
    ],
    ids=["unavailable", "too few", "none", "too many", "nan", "inf", "-inf"],
)
def test_a_failure_leaves_the_order_and_is_told(given_scores: list[float] | RerankerUnavailableError, reason: str) -> None:
    """Without usable scores the search's own best stand, and the result says why and is not complete."""
    search = Search(Found(Status.FOUND, "pgvector", HITS, failures=("rewriter: late",)))
    found = reranked(search, Scripted(given_scores), candidates=5)(QUERY)
    assert places(found) == [1, 2, 3]
    assert found.failures == ("rewriter: late", f"scripted: {reason}")
    assert not found.complete
    assert found.trace["rerank"] == {"reranker": "scripted", "moved": 0, "scores": {}}


def test_the_trace_has_every_candidate() -> None:
    """All new scores, in the order before, can be read afterwards next to what other stages told."""
    search = Search(Found(Status.FOUND, "pgvector", HITS, timings_ms={"search": 2.0}, trace={"fusion": {"k": 1}}))
    found = reranked(search, Scripted([1, 5, 3, 2, 0.5]), candidates=5)(QUERY)
    scores = {"nie-plazos-01": 1, "nie-plazos-02": 5, "nie-plazos-03": 3, "nie-plazos-04": 2, "nie-plazos-05": 0.5}
    assert found.trace == {"fusion": {"k": 1}, "rerank": {"reranker": "scripted", "moved": 4, "scores": scores}}
    assert list(found.trace["rerank"]["scores"]) == list(scores)
    assert found.timings_ms["search"] == 2.0
    assert found.timings_ms["rerank"] >= 0


@pytest.mark.parametrize(
    "found",
    [
        Found(Status.NOT_FOUND, "directory", HITS),
        Found(Status.OUTAGE, "directory", HITS, outages=("pgvector",)),
        Found(Status.FOUND, "pgvector", HITS[:1]),
        Found(Status.FOUND, "pgvector"),
    ],
    ids=["a directory", "an outage", "one hit", "no hit"],
)
def test_where_there_is_nothing_to_order_nobody_is_asked(found: Found) -> None:
    """What is no evidence, or has no order, only keeps the limit."""
    reranker = Scripted([1.0, 2.0, 3.0, 4.0, 5.0])
    assert reranked(Search(found), reranker, candidates=5)(QUERY) == replace(found, hits=found.hits[:3])
    assert reranker.seen == []


def test_a_scorer_sees_question_and_indexed_text_only() -> None:
    """Nothing of metadata, ids or earlier turns reaches a model: it is given two kinds of strings."""

    @dataclass
    class Scorer:
        name: str = "model"
        seen: tuple[str, list[str]] = ("", [])

        def scores(self, question: str, texts: list[str]) -> list[float]:
            self.seen = (question, texts)
            return [0.0 for _ in texts]

    scorer = Scorer()
    reranker = TextReranker(scorer)
    assert reranker.scores(QUERY, HITS[:2]) == [0.0, 0.0]
    assert reranker.name == "model"
    assert scorer.seen == ("¿cuánto tarda?", ["NIE > plazos\nLa cita dura diez minutos."] * 2)


@pytest.mark.parametrize(
    ("characters", "collection", "score"),
    [
        (0, "other", 0.48),
        (29, "other", 0.48),
        (30, "other", 0.50),
        (199, "other", 0.50),
        (200, "other", 0.52),
        (1_200, "other", 0.52),
        (1_201, "other", 0.50),
        (3_000, "other", 0.50),
        (3_001, "other", 0.49),
        (29, "curado", 0.53),
        (100, "curado", 0.55),
        (200, "curado", 0.57),
        (3_001, "curado", 0.54),
    ],
)
def test_the_heuristic_adds_what_its_weights_say(characters: int, collection: str, score: float) -> None:
    """Similarity .5 with bonus and penalty at each border of length, in a curated collection and in another."""
    hit = Hit(passage_of(text="x" * characters, collection=collection), 0.9, cosine=0.5)
    assert HEURISTIC.scores(QUERY, [hit]) == pytest.approx([score])


@pytest.mark.parametrize(
    ("cosine", "characters", "score"), [(0.99, 300, 1.0), (-0.3, 300, 0.0), (0.0, 10, 0.03)], ids=["top", "bottom", "between"]
)
def test_the_heuristic_stays_between_0_and_1(cosine: float, characters: int, score: float) -> None:
    """No bonus lifts a score above 1 and nothing goes below 0."""
    assert HEURISTIC.scores(QUERY, [Hit(passage_of(text="x" * characters), 0.9, cosine=cosine)]) == pytest.approx([score])


def test_a_tier_without_cosine_is_judged_by_its_own_score() -> None:
    """Where nothing measured a similarity, the score that ordered the hits stands in for it."""
    assert HEURISTIC.scores(QUERY, [hit_of(score=0.4, text="x" * 100)]) == pytest.approx([0.45])


def test_the_heuristic_lifts_a_curated_passage_over_a_slightly_nearer_one() -> None:
    """A lead of .04 in similarity is less than the curated bonus of .05; one of .06 is more."""
    near, nearer = (
        Hit(passage_of(f"nie-plazos-0{place}", "x" * 100, collection=held), 1.0, cosine=cosine)
        for place, held, cosine in [(1, "other", 0.64), (2, "other", 0.66)]
    )
    curated = Hit(passage_of("nie-plazos-03", "x" * 100), 1.0, cosine=0.60)
    search = Search(Found(Status.FOUND, "pgvector", (nearer, near, curated)))
    found = reranked(search, HeuristicReranker(WEIGHTS), candidates=3)(QUERY)
    assert places(found) == [2, 3, 1]
    assert found.trace["rerank"]["reranker"] == "heuristic"


def test_pairs_come_into_the_order_of_the_texts() -> None:
    """A model may answer in its own order."""
    assert in_order([(2, 0.1), (0, 0.9), (1, 0.5)], 3) == [0.9, 0.5, 0.1]


@pytest.mark.parametrize(
    "pairs",
    [[(0, 1.0)], [(0, 1.0), (0, 2.0)], [(0, 1.0), (2, 2.0)], [(-1, 1.0), (0, 2.0)], [(0, 1.0), (1, 1.0), (2, 1.0)], []],
    ids=["missing", "doubled", "beyond", "negative", "too many", "none"],
)
def test_pairs_that_do_not_cover_the_texts_are_refused(pairs: list[tuple[int, float]]) -> None:
    """Every index is needed exactly once: a guess about the rest would be a silent failure."""
    with pytest.raises(RerankerUnavailableError, match="exactly once"):
        in_order(pairs, 2)
