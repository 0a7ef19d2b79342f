"""What a run found out: judged against what is demanded, as a table for people and as JSON for programs."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from tests.faults import evidence
from tests.faults.ledger import DEMANDED, Account, Ledger
from tests.faults.performing import Performance, expected_anything, expected_parts
from tests.faults.record import Record
from tests.faults.timings import Spread, acknowledging, catching_up, replying, resuming, spread

# A flood may slow the others' replies by a fifth.
FLOOD_RATIO: Final = 1.2
RATIO: Final = "others' p95 with flood / without"
# Long messages may double them.
LONG_RATIO: Final = 2.0
BESIDE_LONG: Final = "others' p95 with long messages / without"
SHOWN: Final = 5


@dataclass(frozen=True, slots=True)
class Finding:
    """What came out of a run. `broken` says in words what does not hold."""

    name: str
    seed: int
    account: Account
    timings: Mapping[str, Spread]
    kills: Mapping[str, int]
    figures: Mapping[str, float]
    broken: tuple[str, ...]


def finding(performance: Performance) -> Finding:
    """Judge a run."""
    record, scenario = performance.record, performance.scenario
    expected = expected_anything if scenario.cast.answers == "clara" else expected_parts
    ledger = Ledger(record, expected)
    account = ledger.account()
    stops = [seconds for _, seconds in performance.killer.stops] + list(performance.stage.stops.values())
    timings = {
        **acknowledging(record),
        "replied after the acknowledgement": replying(record, ledger),
        "resumed after a worker's kill": resuming(record, ledger),
        "caught up after the database's return": catching_up(record, ledger),
        "callbacks acknowledged": spread(evidence.callback_waits(performance.stage.folder)),
        "longest stop": spread(stops),
    }
    if scenario.name == "long":
        timings |= _waits(record, ledger)
    figures: dict[str, float] = {"callbacks not acknowledged": evidence.callback_failures(performance.stage.folder)}
    if scenario.name == "flood":
        figures |= _flood(record, ledger)
    if scenario.name == "long":
        alone, beside = timings["others, without long messages"].p95, timings["others, with long messages"].p95
        figures[BESIDE_LONG] = beside / alone if alone else 0.0
    broken = (*_unperformed(performance), *_broken(account), *_missed(performance, timings, figures))
    return Finding(scenario.name, scenario.cast.seed, account, timings, performance.killer.counts(), figures, broken)


def _unperformed(performance: Performance) -> Iterator[str]:
    """Say why a run proves nothing."""
    record = performance.record
    if not record.drained:
        yield f"not everything was done in time: {record.left}"
    if not record.takes or not record.attempts:
        yield "nothing was sent at all"
    if performance.killer.not_done:
        yield f"{len(performance.killer.not_done)} kills could not be done"


def _broken(account: Account) -> Iterator[str]:
    for name in DEMANDED:
        if found := account.faults.get(name):
            yield f"{len(found)} {name}: {', '.join(found[:SHOWN])}{' ...' if len(found) > SHOWN else ''}"


def _missed(performance: Performance, timings: Mapping[str, Spread], figures: Mapping[str, float]) -> Iterator[str]:
    for name, most in performance.scenario.limits.items():
        if timings[name].most > most:
            yield f"{name}: {timings[name].most:.1f} s, allowed are {most:.0f} s"
    if figures.get(RATIO, 0.0) > FLOOD_RATIO:
        yield "a flood makes the others wait"
    if figures.get(BESIDE_LONG, 0.0) > LONG_RATIO:
        yield "long messages make the others wait"
    if figures.get("notices") != figures.get("windows over the limit"):
        yield "there is not exactly one notice for each window over the limit"


def _waits(record: Record, ledger: Ledger) -> dict[str, Spread]:
    """Measure from the moment when each message should have been posted to its reply; their ids tell which they are."""
    due = {attempt.sid: attempt.due for attempt in reversed(record.attempts)}
    waits = {sid: at - due[sid] for sid, at in ledger.completed_at().items()}

    def of(kind: str) -> Spread:
        return spread(wait for sid, wait in waits.items() if sid[2] == kind)

    return {
        "danger answered": of("d"),
        "others, without long messages": of("a"),
        "others, with long messages": of("b"),
        "long messages": of("l"),
    }


def _flood(record: Record, ledger: Ledger) -> dict[str, float]:
    """Compare the others' replies with and without the flood (their ids tell which), and count the notices."""
    completed, acknowledged = ledger.completed_at(), ledger.acknowledged()

    def p95(prefix: str) -> float:
        return spread(completed[sid] - at for sid, at in acknowledged.items() if sid in completed and sid[2] == prefix).p95

    alone, beside = p95("a"), p95("b")
    return {
        "others' p95 without flood": alone,
        "others' p95 with flood": beside,
        RATIO: beside / alone if alone else 0.0,
        "notices": sum(take.body.startswith("notice of") for take in record.takes),
        "windows over the limit": record.windows,
        "messages of the flood answered": sum(sid in completed for sid in acknowledged if sid[2] == "f"),
    }


def table(found: Finding) -> str:
    """Write the finding for people."""
    lines = [f"Scenario {found.name}, seed {found.seed}", ""]
    for name, count in found.account.counts.items():
        verdict = "" if name not in DEMANDED else "  ok" if not count else "  WRONG"
        lines.append(f"  {name:<40}{count:>8}{verdict}")
    lines += ["", *(f"  {name:<40}{count:>8}" for name, count in found.kills.items())]
    lines.append(f"  {'kills in all':<40}{sum(found.kills.values()):>8}")
    lines += ["", *(f"  {name:<40}{measured}" for name, measured in found.timings.items())]
    lines += [f"  {name:<40}{value:>12.3f}" for name, value in found.figures.items()]
    lines += ["", *(f"  NOT HELD: {sentence}" for sentence in found.broken)]
    lines.append("Everything holds." if not found.broken else f"{len(found.broken)} things do not hold.")
    return "\n".join(lines)


def write(found: Finding, path: Path) -> None:
    """Write the finding for programs."""
    document: dict[str, Any] = {
        "scenario": found.name,
        "seed": found.seed,
        "held": not found.broken,
        "broken": found.broken,
        "counts": found.account.counts,
        "faults": {name: ids for name, ids in found.account.faults.items() if ids},
        "kills": found.kills,
        "timings": {name: asdict(measured) for name, measured in found.timings.items()},
        "figures": found.figures,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", "utf-8")
