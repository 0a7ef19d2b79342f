"""What an ingestion did, as a line for each document, and as JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

from clara.ingestion.journey import Report
from clara.jobs.settling import Settled
from clara.knowledge.sources import RegisteredSource

DoneOutcome = Literal["new", "unchanged", "cosmetic", "substantive", "waiting", "unreachable", "failed"]
COUNTED: Final = ("written", "embedded", "dropped", "kept")
_SAID: Final = {
    "new": "new",
    "unchanged": "unchanged",
    "cosmetic": "changed in nothing that matters",
    "substantive": "changed, and accepted",
    "waiting": "WAITS",
    "failed": "FAILED",
}


@dataclass(frozen=True, slots=True)
class Done:
    """What became of a document. `queued`: others are to bring it into the index."""

    source: RegisteredSource
    outcome: DoneOutcome
    detail: str = ""
    settled: Settled | None = None
    queued: bool = False

    @property
    def failed(self) -> bool:
        """Whether it could not be ingested."""
        return self.outcome == "failed"

    @property
    def waits(self) -> bool:
        """Whether a person has to decide what it says now."""
        return self.outcome == "waiting"

    @property
    def finished(self) -> bool:
        """Whether there is nothing left to do for it."""
        return not self.queued

    def as_json(self) -> dict[str, Any]:
        """Give the same as JSON."""
        counts = self.settled.as_json() if self.settled else {}
        return {"source": self.source.id, "outcome": self.outcome, "detail": self.detail, **counts}


def line_of(done: Done, *, dry_run: bool = False) -> str:
    """Write what became of a document."""
    parts = [_SAID[done.outcome]]
    if done.settled is not None:
        parts.append(_counts(done.settled.as_json(), dry_run=dry_run))
    parts += [done.detail] if done.detail else []
    return f"{done.source.id}: {'; '.join(parts)}"


def total_line(report: Mapping[str, Any]) -> str:
    """Write the sum of a run."""
    outcomes = ", ".join(f"{count} {name}" for name, count in report["outcomes"].items())
    return f"{report['sources']} sources ({outcomes}): {_counts(report['total'], dry_run=report['dry_run'])}"


def report_of(done: Sequence[Done], released: Report | None, *, dry_run: bool) -> dict[str, Any]:
    """Give what a run did. `unchanged` are the ids of documents of which nothing is to be told."""
    settled = [one.settled.as_json() for one in done if one.settled]
    quiet = [one for one in done if one.outcome == "unchanged" and not _moved(one.settled)]
    names = sorted({one.outcome for one in done})
    return {
        "dry_run": dry_run,
        "sources": len(done),
        "outcomes": {name: sum(one.outcome == name for one in done) for name in names},
        "total": {name: sum(counts[name] for counts in settled) for name in COUNTED},
        "documents": [one.as_json() for one in done if one not in quiet],
        "unchanged": [one.source.id for one in quiet],
        "data": asdict(released) if released else None,
    }


def _moved(settled: Settled | None) -> bool:
    return settled is not None and bool(settled.written or settled.dropped)


def _counts(counts: Mapping[str, Any], *, dry_run: bool) -> str:
    verb = "would write" if dry_run else "wrote"
    vectors = f"{counts['embedded']} new vectors"
    return f"{verb} {counts['written']} passages ({vectors}), dropped {counts['dropped']}, kept {counts['kept']}"
