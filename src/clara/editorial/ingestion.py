"""Ingestion: what sources say is read, held against what is served, and brought into the index, one by one."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal
from uuid import uuid4

from clara.adapters.boe.client import BoeClient
from clara.adapters.http.fetcher import PoliteFetcher
from clara.adapters.postgres.corpus.passages import BusyDocumentError
from clara.adapters.postgres.editorial.findings import PostgresFindings
from clara.adapters.postgres.editorial.snapshots import PostgresSnapshots
from clara.adapters.postgres.operations.audit import PostgresAudit
from clara.container import Container
from clara.editorial.intake import FAULTS, Intake, Read, Taken, in_files, in_the_net
from clara.errors import NotFound
from clara.ingestion.journey import Report
from clara.jobs.norm_settlement import Settled, UnservedNormError, index, settle
from clara.knowledge.law.norm import UnreadableNormError
from clara.knowledge.retriever_wrappers import madrid_today
from clara.knowledge.sources import RegisteredSource, SourceKind, read_sources
from clara.processes.ingestion_workers import Crew
from clara.processes.preparation import fill
from clara.processes.run_record import Outcome, recorded
from clara.retrieval.ports import EmbedderUnavailableError
from clara.settings import resources

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


JOB: Final = "ingestion"
FINE, FINDINGS, COULD_NOT_RUN = 0, 1, 2
# What may be wrong with bringing one document into the index; the others go on.
INDEX_FAULTS: Final = (UnreadableNormError, UnservedNormError, BusyDocumentError, EmbedderUnavailableError)

# How gazettes number norms: BOE-A-2015-10565, DOGC-f-2006-90015. Other files of a folder are no norms.
NUMBER: Final = re.compile(r"[A-Z]{2,10}-[A-Za-z]-\d{4}-\d{1,6}")

Say = Callable[[str], None]
# Tells what is being done, how much of it is, and of how much.
Progress = Callable[[str, int, int], None]


class NothingChosenError(NotFound):
    """There is nothing to ingest. The message says what could be."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """What to ingest, and how.

    `everything` is data/ and every source; `sources` are ids of the registry; `norms` all norms of the registry. With a
    `folder`, norms are those of its Markdown files, of the `sources` alone where some are named. Without any choice it is data/
    alone. `workers` above 0 are processes of their own.
    """

    everything: bool = False
    sources: tuple[str, ...] = ()
    norms: bool = False
    folder: Path | None = None
    dry_run: bool = False
    anew: bool = False
    accept: bool = False
    workers: int = 0

    def __str__(self) -> str:
        parts = [
            *(["--all"] if self.everything else []),
            *(f"--source {source}" for source in self.sources),
            *([f"--norms {self.folder or ''}".strip()] if self.norms else []),
            *(["--dry-run"] if self.dry_run else []),
            *(["--force"] if self.anew else []),
            *(["--accept"] if self.accept else []),
            *(["--accept"] if self.accept else []),
            *([f"--workers {self.workers}"] if self.workers else []),
        ]
        return " ".join(parts)

    @property
    def released(self) -> bool:
        """Whether data/ is meant."""
        return self.everything or not (self.sources or self.norms)


def run(services: Container, chosen: Chosen, say: Say, progress: Progress, tell: Callable[[Outcome], None]) -> int:
    """Ingest as a recorded job, `tell` how it ended, and give the exit code.

    A dry run does nothing and is not recorded. Nor is data/ alone, which every start of a new release ingests: it must not be
    passed over because a long run is at work.
    """
    fetcher = PoliteFetcher(services.settings.clara_public_url or "")
    gazette = BoeClient(services.settings.boe_base_url)
    read = in_the_net(fetcher, gazette, madrid_today())

    def work() -> Outcome:
        outcome = ingest_chosen(services, chosen, read, say, progress)
        tell(outcome)
        return replace(outcome, report={name: value for name, value in outcome.report.items() if name != "unchanged"})

    try:
        alone = chosen.dry_run or not (chosen.everything or chosen.sources or chosen.norms)
        return work().exit_code if alone else recorded(services, JOB, str(chosen), work, say=say)
    finally:
        fetcher.close()
        gazette.close()


def ingest_chosen(services: Container, chosen: Chosen, net: Read, say: Say, progress: Progress) -> Outcome:
    """Ingest what was chosen, say what became of each document, and give it as a report.

    Exit code 0: all is served as its source says; 1: something waits for a person, or one document could not be ingested; 2:
    none could. Raises NothingChosenError, DataError, StoreUnavailableError, ChildrenFailedError; what was done stays done.
    """
    wanted = list(_wanted(chosen, net))
    released = _released(services, chosen, say, progress) if chosen.released else None
    run_id = uuid4().hex
    run_of = _Run(services, chosen, run_id, progress)
    done: list[Done] = []
    for number, (source, read) in enumerate(wanted):
        progress("documents", number, len(wanted))
        done.append(run_of.take(source, read))
        if done[-1].finished:
            say(line_of(done[-1], dry_run=chosen.dry_run))
    done = run_of.together(done, say)
    progress("documents", len(wanted), len(wanted))
    report = report_of(done, released, dry_run=chosen.dry_run)
    if done:
        say(total_line(report))
    failed = sum(one.failed for one in done)
    if done and failed == len(done):
        return Outcome(COULD_NOT_RUN, report)
    return Outcome(FINDINGS if failed or any(one.waits for one in done) else FINE, report)


def _released(services: Container, chosen: Chosen, say: Say, progress: Progress) -> Report:
    return fill(
        services, say, dry_run=chosen.dry_run, anew=chosen.anew, progress=lambda done, of: progress("passages", done, of)
    )


def _wanted(chosen: Chosen, net: Read) -> Iterator[tuple[RegisteredSource, Read]]:
    """Give the sources with what reads them; norms of a folder are read from there. Raises NothingChosenError, DataError."""
    registry = read_sources(resources() / "data")
    files = _files(chosen.folder) if chosen.folder is not None else {}
    if unknown := [source for source in chosen.sources if source not in registry]:
        raise NothingChosenError(f"there is no source {unknown[0]!r}; data/sources.yaml names those there are")
    if chosen.sources and not chosen.everything:
        files = {name: path for name, path in files.items() if name in chosen.sources}
    from_files = in_files(files)
    for name, path in files.items():
        yield registry.get(name) or _unregistered(name, path), from_files
    for source in registry.values():
        norm = source.kind is SourceKind.NORM
        in_turn = chosen.everything or (chosen.norms and norm and not chosen.sources)
        if source.id not in files and (source.id in chosen.sources or (in_turn and not (norm and chosen.folder))):
            yield source, net


def _files(folder: Path) -> dict[str, Path]:
    files = {path.stem: path for path in sorted(folder.glob("*.md")) if NUMBER.fullmatch(path.stem)}
    if not files:
        raise NothingChosenError(f"{folder} holds no norm as Markdown; each is a file named by its number, BOE-A-2015-10565.md")
    return files


def _unregistered(name: str, path: Path) -> RegisteredSource:
    """Give a source for a norm that no fact cites: it may be searched all the same."""
    return RegisteredSource(name, path.name, SourceKind.NORM, path.as_posix(), (), "boe.es", 7, 1.0)


class _Run:
    """One run: takes in documents one by one, and brings them into the index here or by a crew."""

    def __init__(self, services: Container, chosen: Chosen, run: str, progress: Progress) -> None:
        engine = services.engine
        self._services = services
        self._chosen = chosen
        self._run = run
        self._progress = progress
        self._snapshots = PostgresSnapshots(engine)
        self._audit = PostgresAudit(engine)
        procedures = tuple(services.snapshot().knowledge.catalogue.procedures.values())
        keep = not chosen.dry_run
        self._intake = Intake(self._snapshots, PostgresFindings(engine), procedures, accept=chosen.accept, keep=keep)

    def take(self, source: RegisteredSource, read: Read) -> Done:
        """Take in a document and, unless a crew does it, bring it into the index."""
        try:
            taken = self._intake.take(source, read)
        except FAULTS as error:
            self._intake.unreachable(source, f"{type(error).__name__}: {error}")
            return Done(source, "failed", detail=str(error))
        if taken.accepted and not self._chosen.dry_run:
            self._audit.record("cli", "ingest --accept", source.id)
        done = Done(source, "waiting" if taken.waits else taken.outcome, detail=taken.detail)
        if source.kind is not SourceKind.NORM:
            return done
        if self._chosen.workers and not self._chosen.dry_run:
            return replace(done, queued=True)
        try:
            return replace(done, settled=self._settled(taken))
        except INDEX_FAULTS as error:
            return replace(done, outcome="failed", detail=str(error))

    def together(self, done: Sequence[Done], say: Say) -> list[Done]:
        """Let the crew bring what is queued into the index; say and give what became of it."""
        queued = {one.source.id: one for one in done if one.queued}
        if not queued:
            return list(done)
        crew = Crew(self._services, self._snapshots, self._run, self._chosen.workers)
        finished: dict[str, Done] = {}
        for source_id, settled in crew.work(list(queued), anew=self._chosen.anew):
            one = replace(queued[source_id], queued=False)
            if isinstance(settled, str):
                finished[source_id] = replace(one, outcome="failed", detail=settled)
            else:
                finished[source_id] = replace(one, settled=settled)
            say(line_of(finished[source_id]))
            self._progress("documents", len(finished), len(queued))
        return [finished.get(one.source.id, one) for one in done]

    def _settled(self, taken: Taken) -> Settled:
        def progress(done: int, total: int) -> None:
            self._progress(f"{taken.source.id}, passages", done, total)

        if not self._chosen.dry_run:
            return settle(self._services, taken.source.id, self._run, anew=self._chosen.anew, progress=progress)
        if taken.norm is None:
            raise UnservedNormError(f"nothing is served of {taken.source.id}")
        planned = index(self._services, taken.norm, anew=self._chosen.anew, dry_run=True)
        return Settled(planned.written, planned.embedded, planned.dropped, planned.kept, 0.0)
