"""Tests of asking again in other words: the rounds and what they give together."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from term_overlap import TermOverlap, Writer, asking, found_of, hit, ids, vocabulary_of

from clara.retrieval.options.corrective import (
    ALL,
    HALF,
    QUARTER,
    Enough,
    Rewrite,
    by_writer,
    corrected,
    rewrites,
)
from clara.retrieval.options.fusion import reciprocal_ranks, weighted_scores
from clara.retrieval.passage import Found, Query, Status
from clara.retrieval.ports import EmbedderUnavailableError, IndexUnavailableError

CODE = vocabulary_of("code")
NOTHING = Found(Status.NOT_FOUND, "x")
TEXTS = st.text(st.characters(exclude_categories=()), max_size=60)


def never(_query: Query, _found: Found) -> bool:
    """Have never enough."""
    return False


def saying(*texts: str) -> Rewrite:
    """Make a way of asking that gives fixed texts."""
    return lambda _query, _found: texts


class Script:
    """Gives one prepared result after another, or raises it; notes what it is asked."""

    def __init__(self, *results: Found | Exception) -> None:
        self.asked: list[Query] = []
        self._results = results

    def __call__(self, query: Query) -> Found:
        """Give the next result."""
        self.asked.append(query)
        result = self._results[len(self.asked) - 1]
        if isinstance(result, Exception):
            raise result
        return result


# The rounds


def test_alternative_queries() -> None:
    """The alternatives are asked after the question, one kind after the other."""
    search = TermOverlap()
    corrected(search, rewrites(CODE), stop=never, rounds=5)(asking("how to validate user credentials"))
    texts = [query.text for query in search.asked]
    assert texts[0] == "how to validate user credentials"
    assert texts[1] == "how to validate user credentials security check verify"
    assert texts[2].startswith("how to validate user credentials auth.")
    assert texts[3:] == ["validate user credentials", "function validate user credentials"]


def test_correction_finds_more() -> None:
    """Asking again brings up passages that share no word with the question."""
    search = TermOverlap()
    question = asking("auth", limit=10)
    plain, more = search(question), corrected(search, rewrites(CODE), stop=never)(question)
    assert set(ids(plain)) < set(ids(more))
    assert more.trace["rounds"][0] == {"kind": "question", "hits": len(plain.hits), "confidence": None}
    assert [told["kind"] for told in more.trace["rounds"]] == ["question", "vocabulary", "feedback"]


def test_no_passage_twice() -> None:
    """What several rounds find is given once."""
    found = corrected(TermOverlap(), rewrites(CODE), stop=never, rounds=5)(asking("authenticate user", limit=10))
    assert len(found.trace["rounds"]) > 2
    assert len(ids(found)) == len(set(ids(found)))


def test_alternatives_are_embedded_anew() -> None:
    """An alternative has no vector of the question; all else is asked for as before."""
    script = Script(found_of("a"), found_of("b"))
    question = asking("who", vector=(1.0, 0.0), collections=("units",), exact=True)
    corrected(script, {"k": saying("what")}, stop=never)(question)
    assert script.asked[0].vector == (1.0, 0.0)
    assert script.asked[1] == replace(question, text="what")
    assert script.asked[1].vector is None


@pytest.mark.parametrize(
    ("texts", "asked"),
    [
        pytest.param(["WHO?", "¿whó"], ["who"], id="the-question-again"),
        pytest.param(["what", "What!", "how"], ["who", "what", "how"], id="another-again"),
        pytest.param(["", "...", "how"], ["who", "how"], id="no-words"),
    ],
)
def test_nothing_is_asked_twice(texts: list[str], asked: list[str]) -> None:
    """A text with the words of one that was asked before is not asked."""
    script = Script(NOTHING, NOTHING, NOTHING)
    corrected(script, {"k": saying(*texts)}, stop=never)(asking("who"))
    assert [query.text for query in script.asked] == asked


def test_kinds_take_turns() -> None:
    """Each kind has its turn before one has a second."""
    script = Script(*[NOTHING] * 5)
    ways = {"a": saying("a1", "a2"), "b": saying(), "c": saying("c1", "c2")}
    corrected(script, ways, stop=never, rounds=5)(asking("who"))
    assert [query.text for query in script.asked] == ["who", "a1", "c1", "a2", "c2"]


def test_endless_alternatives() -> None:
    """A kind that never ends, and says the same again and again, ends."""

    def endless(_query: Query, _found: Found) -> Iterator[str]:
        while True:
            yield "what"

    script = Script(*[NOTHING] * 9)
    corrected(script, {"k": endless}, stop=never, rounds=9)(asking("who"))
    assert len(script.asked) == 2


def test_stops_at_once() -> None:
    """When the first round is enough, no other is made, no writer called, and the hits and scores are untouched."""
    first, writer = found_of("a", "b", confidence=0.9), Writer("what")
    script = Script(first)
    found = corrected(script, {"w": by_writer(writer)}, stop=Enough(CODE, 0.8))(asking("who"))
    assert (found.hits, found.status, found.confidence, len(script.asked)) == (first.hits, Status.FOUND, 0.9, 1)
    assert writer.asked == []


def test_stops_when_a_round_is_enough() -> None:
    """The rounds end with the one that makes the confidence high enough."""
    script = Script(found_of("a", confidence=0.3), found_of("b", confidence=0.85), found_of("c", confidence=0.9))
    found = corrected(script, {"k": saying("what", "how")}, stop=Enough(CODE, 0.8))(asking("who"))
    assert (len(script.asked), found.confidence) == (2, 0.85)


@pytest.mark.parametrize(
    ("share", "relevant", "enough"),
    [
        pytest.param(HALF, 2, True, id="half-of-5-rounded-down"),
        pytest.param(HALF, 1, False, id="less-than-half"),
        pytest.param(QUARTER, 1, True, id="quarter-of-5"),
        pytest.param(QUARTER, 0, False, id="one-at-least"),
        pytest.param(ALL, 4, False, id="not-all"),
        pytest.param(ALL, 5, True, id="all"),
    ],
)
def test_enough_without_a_judge(share: float, relevant: int, enough: bool) -> None:
    """Where nobody judged the hits, a share of the limit must be highly relevant."""
    hits = tuple(hit(f"h{number}", cosine=0.9 if number < relevant else 0.2) for number in range(5))
    assert Enough(CODE, 0.8, share)(asking("who", limit=5), Found(Status.FOUND, "x", hits)) is enough


@pytest.mark.parametrize(
    ("found", "enough"),
    [
        pytest.param(found_of("a", confidence=0.8), True, id="confident"),
        pytest.param(found_of("a", confidence=0.79), False, id="judged-less-however-relevant"),
        pytest.param(found_of("a", status=Status.NOT_FOUND, confidence=0.9), False, id="directory"),
        pytest.param(found_of("a", confidence=0.1, timings_ms={"embed": 30.0, "search": 20.0}), True, id="time-is-up"),
        pytest.param(found_of("a", confidence=0.1, timings_ms={"embed": 30.0, "search": 19.0}), False, id="time-is-left"),
    ],
)
def test_enough(found: Found, enough: bool) -> None:
    """A calibrated confidence decides alone, evidence only counts, and time bounds it all."""
    assert Enough(CODE, 0.8, milliseconds=50)(asking("who", limit=1), found) is enough


# What the rounds give together


@pytest.mark.parametrize(
    ("results", "status", "names", "confidence"),
    [
        pytest.param([found_of(), found_of("b", confidence=0.7)], Status.FOUND, ["b"], 0.7, id="a-later-round-finds"),
        pytest.param([found_of("a", confidence=0.6), found_of(confidence=0.2)], Status.FOUND, ["a"], 0.6, id="the-first-finds"),
        pytest.param([found_of("a"), found_of("b", confidence=0.4)], Status.FOUND, ["a", "b"], 0.4, id="one-is-judged"),
        pytest.param(
            [found_of("a", confidence=0.6), found_of("b", confidence=0.4)],
            Status.FOUND,
            ["a", "b"],
            0.6,
            id="the-first-is-surer",
        ),
        pytest.param([found_of(confidence=0.1), found_of(confidence=0.2)], Status.NOT_FOUND, [], 0.2, id="none-finds"),
        pytest.param(
            [found_of("d", status=Status.NOT_FOUND), found_of("e", status=Status.NOT_FOUND)],
            Status.NOT_FOUND,
            ["d"],
            None,
            id="directory-of-the-first",
        ),
        pytest.param(
            [found_of("d", status=Status.NOT_FOUND), found_of("b")], Status.FOUND, ["b"], None, id="a-directory-is-no-evidence"
        ),
        pytest.param([found_of(), found_of(outages=("y",))], Status.OUTAGE, [], None, id="a-miss-after-an-outage-is-none"),
    ],
)
def test_outcome(results: list[Found], status: Status, names: list[str], confidence: float | None) -> None:
    """Evidence of any round wins; the confidence is that of the first round with any, or a later one's if higher."""
    found = corrected(Script(*results), {"k": saying("what")}, stop=never, rounds=2)(asking("who"))
    assert (found.status, ids(found), found.confidence) == (status, names, confidence)


def test_what_is_gathered() -> None:
    """Outages and failures are named once, timings added up stage by stage, the lowest relaxed thresholds kept."""
    one = found_of("a", outages=("x",), failures=("f",), timings_ms={"embed": 3.0}, relaxed={"curated": 0.5})
    two = found_of("b", outages=("x", "y"), failures=("f", "g"), timings_ms={"embed": 4.0, "search": 1.0})
    three = found_of("c", relaxed={"curated": 0.4, "common": 0.6})
    found = corrected(Script(one, two, three), {"k": saying("what", "how")}, stop=never)(asking("who"))
    assert (found.outages, found.failures, found.relaxed) == (("x", "y"), ("f", "g"), {"curated": 0.4, "common": 0.6})
    assert (found.timings_ms["embed"], found.timings_ms["search"]) == (7.0, 1.0)
    assert found.timings_ms["alternatives"] >= 0


def test_trace_tells_no_text() -> None:
    """The trace has kind, hits and confidence of each round beside what the search told, and no query."""
    one, two = found_of("a", confidence=0.3, trace={"judge": 1}), found_of(confidence=0.2)
    found = corrected(Script(one, two), {"k": saying("secret")}, stop=never)(asking("who"))
    rounds = [{"kind": "question", "hits": 1, "confidence": 0.3}, {"kind": "k", "hits": 0, "confidence": 0.2}]
    assert json.loads(json.dumps(found.trace)) == {"judge": 1, "rounds": rounds}


# What may fail


@pytest.mark.parametrize("error", [IndexUnavailableError("secret"), EmbedderUnavailableError("secret")])
def test_outage_in_a_later_round(error: Exception) -> None:
    """An outage after the first round ends the rounds, is named without a text, and leaves what is there."""
    script = Script(found_of("a", confidence=0.3), error, found_of("c"))
    found = corrected(script, {"k": saying("what", "how")}, stop=never)(asking("who"))
    assert (ids(found), found.status, found.confidence, len(script.asked)) == (["a"], Status.FOUND, 0.3, 2)
    assert found.failures == (f"k: the search failed ({type(error).__name__})",)
    assert not found.complete


def test_outage_in_the_first_round() -> None:
    """An outage for the question itself is raised."""
    with pytest.raises(IndexUnavailableError):
        corrected(Script(IndexUnavailableError("out")), rewrites(CODE), stop=never)(asking("who"))


@pytest.mark.parametrize("results", [[found_of(status=Status.OUTAGE)], [found_of("a"), found_of(status=Status.OUTAGE)]])
def test_nothing_is_asked_after_an_outage(results: list[Found]) -> None:
    """Once a chain of tiers is out, it is not asked again."""
    script = Script(*results, found_of("z"))
    corrected(script, {"k": saying("what", "how")}, stop=never)(asking("who"))
    assert len(script.asked) == len(results)


def test_failing_writer() -> None:
    """A writer that fails is named, and the other ways of asking go on."""
    script = Script(NOTHING, found_of("b"))
    ways = {"gemini": by_writer(Writer(error="too many requests")), "k": saying("what")}
    found = corrected(script, ways, stop=never)(asking("who"))
    assert (ids(found), found.failures) == (["b"], ("gemini: too many requests",))


def test_failing_writer_alone() -> None:
    """A writer that fails costs nobody the first round, and its time is told."""
    found = corrected(Script(found_of("a")), {"w": by_writer(Writer(error="late"))}, stop=never)(asking("who"))
    assert (ids(found), found.failures) == (["a"], ("w: late",))
    assert found.timings_ms["alternatives"] > 0


@pytest.mark.parametrize("rounds", [0, -1])
def test_rounds_are_counted_from_one(rounds: int) -> None:
    """Less than the round of the question itself is refused."""
    with pytest.raises(ValueError, match="rounds must be 1 or more"):
        corrected(TermOverlap(), {}, stop=never, rounds=rounds)


@given(TEXTS, st.integers(1, 5), st.integers(1, 4), st.lists(TEXTS, max_size=4), st.sampled_from(["rrf", "max"]))
def test_bounds(text: str, limit: int, rounds: int, written: list[str], merge: str) -> None:
    """Whatever the texts: no error, no more rounds than told, no more hits than wanted, none twice, best first."""
    search = TermOverlap()
    ways: Mapping[str, Rewrite] = {**rewrites(CODE), "w": by_writer(Writer(*written), 4)}
    merging = reciprocal_ranks() if merge == "rrf" else weighted_scores()
    found = corrected(search, ways, stop=never, rounds=rounds, merge=merging)(Query(text, "code", limit=limit))
    assert len(search.asked) == len(found.trace["rounds"]) <= rounds
    assert len(found.hits) <= limit
    assert len(set(ids(found))) == len(found.hits)
    assert list(found.hits) == sorted(found.hits, key=lambda one: -one.score)
