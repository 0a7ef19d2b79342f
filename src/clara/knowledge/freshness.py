"""How fresh what is told is, by fact, source and procedure: a fact is as fresh as the youngest look at one of its sources."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from clara.knowledge.procedure import Source
from clara.knowledge.sources import RegisteredSource, address_of, is_norm

# Facts that end within these days are named: time enough to look for what comes after them.
EXPIRING_DAYS = 30


@dataclass(frozen=True, slots=True)
class ServedFact:
    """A fact as it is served, with what its freshness depends on."""

    id: str
    procedure: str
    section: str
    sources: tuple[Source, ...]
    norms: frozenset[str] = frozenset()
    valid_until: date | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """The last look at a source."""

    source_id: str
    checked_at: datetime
    reached_at: datetime | None
    outcome: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Held:
    """Everything that freshness is judged by, at one moment. `flagged` are the findings that put a fact in doubt."""

    facts: Sequence[ServedFact]
    checks: Mapping[str, Check]
    flagged: Mapping[str, tuple[int, ...]]
    registered: Mapping[str, RegisteredSource]
    now: datetime
    today: date


@dataclass(frozen=True, slots=True)
class FactFreshness:
    """`checked` is the day on which the youngest of the fact's sources was seen; a month counts as its first day."""

    fact: str
    procedure: str
    section: str
    checked: date | None
    age_days: int | None
    valid_until: date | None
    expires_in_days: int | None
    findings: tuple[int, ...]
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SourceFreshness:
    """A registered source, or one that was looked at. `stale`: never looked at, or longer ago than `every_days`."""

    source: str
    url: str | None
    procedures: tuple[str, ...]
    facts: int
    oldest_seen: date | None
    newest_seen: date | None
    every_days: int | None
    checked_at: datetime | None
    reached_at: datetime | None
    outcome: str | None
    stale: bool


@dataclass(frozen=True, slots=True)
class ProcedureFreshness:
    """The facts of a procedure: the oldest and the youngest look at them, and which want attention, by id."""

    procedure: str
    facts: int
    oldest_checked: date | None
    newest_checked: date | None
    oldest_days: int | None
    newest_days: int | None
    expiring: tuple[str, ...]
    flagged: tuple[str, ...]
    stale_sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Freshness:
    """How fresh everything is: facts and procedures with the oldest first, sources with the stale ones first."""

    day: date
    procedures: tuple[ProcedureFreshness, ...]
    sources: tuple[SourceFreshness, ...]
    facts: tuple[FactFreshness, ...]


def freshness_of(held: Held) -> Freshness:
    """Judge everything."""
    facts = sorted((_fact(fact, held) for fact in held.facts), key=lambda fact: (fact.checked or date.min, fact.fact))
    sources = sorted(_sources(held), key=lambda source: (not source.stale, source.source))
    by_procedure: dict[str, list[FactFreshness]] = defaultdict(list)
    for fact in facts:
        by_procedure[fact.procedure].append(fact)
    procedures = [_procedure(name, held_facts, sources, held.today) for name, held_facts in by_procedure.items()]
    procedures.sort(key=lambda procedure: (procedure.oldest_checked or date.min, procedure.procedure))
    return Freshness(held.today, tuple(procedures), tuple(sources), tuple(facts))


def _fact(fact: ServedFact, held: Held) -> FactFreshness:
    checked = max((source.seen_on.first for source in fact.sources), default=None)
    return FactFreshness(
        fact=fact.id,
        procedure=fact.procedure,
        section=fact.section,
        checked=checked,
        age_days=_days(checked, held.today),
        valid_until=fact.valid_until,
        expires_in_days=(fact.valid_until - held.today).days if fact.valid_until else None,
        findings=held.flagged.get(fact.id, ()),
        sources=tuple(source.url for source in fact.sources),
    )


def _procedure(
    name: str, facts: Sequence[FactFreshness], sources: Iterable[SourceFreshness], today: date
) -> ProcedureFreshness:
    days = [fact.checked for fact in facts if fact.checked]
    oldest, newest = min(days, default=None), max(days, default=None)
    soon = [fact.fact for fact in facts if fact.expires_in_days is not None and fact.expires_in_days <= EXPIRING_DAYS]
    return ProcedureFreshness(
        procedure=name,
        facts=len(facts),
        oldest_checked=oldest,
        newest_checked=newest,
        oldest_days=_days(oldest, today),
        newest_days=_days(newest, today),
        expiring=tuple(soon),
        flagged=tuple(fact.fact for fact in facts if fact.findings),
        stale_sources=tuple(source.source for source in sources if source.stale and name in source.procedures),
    )


def _sources(held: Held) -> Iterable[SourceFreshness]:
    counts, seen = _resting(held.facts)
    for source_id in held.registered.keys() | held.checks.keys():
        source, check = held.registered.get(source_id), held.checks.get(source_id)
        key = source_id if source is None or source_id in counts else address_of(source.url)
        overdue = check is None or (source is not None and held.now - check.checked_at > timedelta(days=source.every_days))
        yield SourceFreshness(
            source=source_id,
            url=source.url if source else None,
            procedures=source.procedures if source else (),
            facts=counts[key],
            oldest_seen=min(seen[key], default=None),
            newest_seen=max(seen[key], default=None),
            every_days=source.every_days if source else None,
            checked_at=check.checked_at if check else None,
            reached_at=check.reached_at if check else None,
            outcome=check.outcome if check else None,
            stale=source is not None and overdue,
        )


def _resting(facts: Iterable[ServedFact]) -> tuple[Counter[str], Mapping[str, list[date]]]:
    """Count the facts that rest on each norm, by its number, and on each page, by its address, and tell when that was seen."""
    counts: Counter[str] = Counter()
    seen: dict[str, list[date]] = defaultdict(list)
    for fact in facts:
        counts.update({*fact.norms, *(address_of(source.url) for source in fact.sources)})
        for source in fact.sources:
            for name in (address_of(source.url), *(fact.norms if is_norm(source.url) else ())):
                seen[name].append(source.seen_on.first)
    return counts, seen


def _days(day: date | None, today: date) -> int | None:
    return (today - day).days if day else None
