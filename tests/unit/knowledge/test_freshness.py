"""How fresh what is told is, judged from what is handed in."""

from datetime import UTC, date, datetime, timedelta

import pytest

from clara.data_files import partial_date
from clara.knowledge.freshness import Check, Freshness, Held, ServedFact, freshness_of
from clara.knowledge.procedure import Source
from clara.knowledge.sources import RegisteredSource, SourceKind

NOW, TODAY = datetime(2026, 11, 20, 9, tzinfo=UTC), date(2026, 11, 20)
PAGE, NORM = "https://sede.example.es/tie", "https://www.boe.es/buscar/act.php?id=BOE-A-2000-1"


def registered(source_id: str, url: str, *procedures: str, kind: SourceKind = SourceKind.HTML) -> RegisteredSource:
    return RegisteredSource(source_id, source_id, kind, url, procedures, "example.es", 7, 1.0)


def fact(name: str, *seen: tuple[str, str], until: date | None = None, norms: frozenset[str] = frozenset()) -> ServedFact:
    sources = tuple(Source(url, partial_date(seen_on)) for url, seen_on in seen)
    return ServedFact(name, name.partition("-")[0], "tasas", sources, norms, until)


def judged(*facts: ServedFact, checks: tuple[Check, ...] = (), flagged: dict[str, tuple[int, ...]] | None = None) -> Freshness:
    sources = {
        "page": registered("page", PAGE + "#fees", "tie"),
        "BOE-A-2000-1": registered("BOE-A-2000-1", NORM, "tie", kind=SourceKind.NORM),
    }
    return freshness_of(Held(facts, {check.source_id: check for check in checks}, flagged or {}, sources, NOW, TODAY))


@pytest.mark.parametrize(
    ("seen_on", "day"),
    [
        pytest.param("2026-07-14", date(2026, 7, 14), id="day"),
        pytest.param("2026-07", date(2026, 7, 1), id="month: its first day, the oldest it can be"),
    ],
)
def test_days(seen_on: str, day: date) -> None:
    """A look at a source is dated by a day or a month, and written as it was read."""
    seen = partial_date(seen_on)
    assert (seen.first, str(seen)) == (day, seen_on)


@pytest.mark.parametrize("seen_on", ["2026", "yesterday", "2026-13", ""])
def test_no_days(seen_on: str) -> None:
    """Neither a year nor a word is a day or a month."""
    with pytest.raises(ValueError, match=r"month must be|isoformat"):
        partial_date(seen_on)


def test_a_fact_is_as_fresh_as_its_youngest_source() -> None:
    """The youngest look counts; a fact that nobody dated comes first in every list."""
    young, old, undated = (
        fact("tie-1", (PAGE, "2026-07"), (NORM, "2026-10-31")),
        fact("tie-2", (PAGE, "2026-01-05")),
        fact("nie-1"),
    )
    facts = judged(young, old, undated).facts
    assert [(held.fact, held.age_days) for held in facts] == [("nie-1", None), ("tie-2", 319), ("tie-1", 20)]


@pytest.mark.parametrize(
    ("until", "named"),
    [
        pytest.param(date(2026, 12, 20), True, id="in-thirty-days"),
        pytest.param(date(2026, 12, 21), False, id="in-thirty-one"),
        pytest.param(date(2026, 11, 19), True, id="since-yesterday"),
        pytest.param(None, False, id="never"),
    ],
)
def test_facts_that_end_soon_are_named(until: date | None, named: bool) -> None:
    """Thirty days before a fact ends, and after, its procedure names it."""
    (procedure,) = judged(fact("tie-1", (PAGE, "2026-07"), until=until)).procedures
    assert procedure.expiring == (("tie-1",) if named else ())


def test_a_procedure_shows_its_oldest_and_youngest_and_what_wants_attention() -> None:
    """Procedures with the oldest look come first."""
    freshness = judged(
        fact("tie-1", (PAGE, "2026-09-01")), fact("tie-2", (PAGE, "2026-11-19")), fact("nie-1", (PAGE, "2025-01")),
        flagged={"tie-2": (4, 9)},
    )  # fmt: skip
    nie, tie = freshness.procedures
    assert (nie.procedure, nie.oldest_days, tie.oldest_days, tie.newest_days) == ("nie", 688, 80, 1)
    assert (tie.facts, tie.flagged, tie.stale_sources) == (2, ("tie-2",), ("BOE-A-2000-1", "page"))


@pytest.mark.parametrize(
    ("age", "stale"),
    [
        pytest.param(None, True, id="never"),
        pytest.param(timedelta(days=7), False, id="as-old-as-it-may-be"),
        pytest.param(timedelta(days=7, seconds=1), True, id="older"),
    ],
)
def test_a_source_is_stale_by_its_own_days(age: timedelta | None, stale: bool) -> None:
    """The last look counts, whatever it found; never looked at is stale."""
    checks = () if age is None else (Check("page", NOW - age, None, "unreachable"),)
    (page,) = [source for source in judged(checks=checks).sources if source.source == "page"]
    assert page.stale is stale


def test_sources_are_matched_with_what_rests_on_them() -> None:
    """A page by its address, fragment or not; a norm by its number in the legal basis. The unregistered are never stale."""
    freshness = judged(
        fact("tie-1", (PAGE, "2026-07"), norms=frozenset({"BOE-A-2000-1"})),
        fact("tie-2", (NORM, "2026-09-02"), norms=frozenset({"BOE-A-2000-1"})),
        checks=(Check("gone", NOW, NOW, "unchanged"),),
    )
    sources = {source.source: source for source in freshness.sources}
    norm, page, gone = sources["BOE-A-2000-1"], sources["page"], sources["gone"]
    assert (norm.facts, norm.oldest_seen, page.facts, page.newest_seen) == (2, date(2026, 9, 2), 1, date(2026, 7, 1))
    assert (gone.stale, gone.url, gone.every_days) == (False, None, None)
    assert [source.source for source in freshness.sources] == ["BOE-A-2000-1", "page", "gone"]
