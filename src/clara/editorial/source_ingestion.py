"""Ingestion of sources: what they say is read, held against what is served, and brought into the index, one by one."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final, Protocol
from uuid import uuid4

from clara.editorial.intake import COUNTED, Intake, TakenSource
from clara.editorial.journey import Editorial
from clara.editorial.ports import JobOutcome, Say
from clara.editorial.sources import FAULTS, Read, in_files
from clara.errors import NotFound
from clara.ingestion.journey import IngestionReport
from clara.ingestion.norms import INDEX_FAULTS, NormIndex, UnservedNormError
from clara.knowledge.sources import RegisteredSource, SourceKind, read_sources

_SAID: Final = {
    "new": "new",
    "unchanged": "unchanged",
    "cosmetic": "changed in nothing that matters",
    "substantive": "changed, and accepted",
    "waiting": "WAITS",
    "failed": "FAILED",
}


def line_of(done: TakenSource) -> str:
    """Write what became of a document."""
    counts = done.settled.counts if done.settled else ""
    return f"{done.source.id}: {'; '.join(filter(None, (_SAID[done.outcome], counts, done.detail)))}"


def report_of(done: Sequence[TakenSource], released: IngestionReport | None, *, dry_run: bool) -> dict[str, Any]:
    """Give what a run did. `unchanged` are the ids of documents of which nothing is to be told."""
    settled = [one.settled for one in done if one.settled]
    quiet = [
        one for one in done if one.outcome == "unchanged" and not (one.settled and (one.settled.written or one.settled.dropped))
    ]
    return {
        "dry_run": dry_run,
        "sources": len(done),
        "outcomes": dict(sorted(Counter(one.outcome for one in done).items())),
        "total": {name: sum(getattr(one, name) for one in settled) for name in COUNTED},
        "documents": [one.as_json() for one in done if one not in quiet],
        "unchanged": [one.source.id for one in quiet],
        "data": asdict(released) if released else None,
    }


# How gazettes number norms: BOE-A-2015-10565, DOGC-f-2006-90015. Other files of a folder are no norms.
NUMBER: Final = re.compile(r"[A-Z]{2,10}-[A-Za-z]-\d{4}-\d{1,6}")

# Tells what is being done, how much of it is, and of how much.
Stages = Callable[[str, int, int], None]


class NothingChosenError(NotFound):
    """There is nothing to ingest. The message says what could be."""


@dataclass(frozen=True, slots=True)
class IngestionChoice:
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
            *([f"--workers {self.workers}"] if self.workers else []),
        ]
        return " ".join(parts)

    @property
    def released(self) -> bool:
        """Whether data/ is meant."""
        return self.everything or not (self.sources or self.norms)

    @property
    def alone(self) -> bool:
        """Whether nobody need know of the run: a dry run, and data/ alone, which every start of a new release ingests."""
        return self.dry_run or not (self.everything or self.sources or self.norms)


class Crew(Protocol):
    """Processes that bring documents into the index side by side."""

    def work(self, sources: Sequence[str], *, anew: bool) -> Iterator[tuple[str, IngestionReport | str]]:
        """Give each document as it is done, with what was done or what was wrong. Raises ChildrenFailedError."""


@dataclass(frozen=True, slots=True)
class IngestionMeans:
    """What a run works with: the way to findings, the index, and whoever fills data/, notes an acceptance, and helps.

    `fill` makes the corpus of Clara's hold what data/ says; `accepted` records that an operator accepted a source; `crew` gives
    the processes of a run, so many.
    """

    editorial: Editorial
    norms: NormIndex
    fill: Callable[["IngestionChoice", Say, "Stages"], IngestionReport]
    accepted: Callable[[str], object]
    crew: Callable[[str, int], Crew]


def ingest_chosen(means: IngestionMeans, chosen: IngestionChoice, net: Read, say: Say, progress: Stages) -> JobOutcome:
    """Ingest what was chosen, say what became of each document, and give it as a report.

    Exit code 0: all is served as its source says; 1: something waits for a person, or one document could not be ingested; 2:
    none could. Raises NothingChosenError, DataError, CorpusUnavailableError, ChildrenFailedError; what was done stays done.
    """
    wanted = list(_wanted(read_sources(means.editorial.desk.data), chosen, net))
    released = means.fill(chosen, say, progress) if chosen.released else None
    run = _Run(means, chosen, progress)
    done: list[TakenSource] = []
    for number, (source, read) in enumerate(wanted):
        progress("documents", number, len(wanted))
        done.append(run.take(source, read))
        if not done[-1].queued:
            say(line_of(done[-1]))
    done = run.together(done, say)
    progress("documents", len(wanted), len(wanted))
    report = report_of(done, released, dry_run=chosen.dry_run)
    outcomes = report["outcomes"]
    if done:
        told = ", ".join(f"{count} {name}" for name, count in outcomes.items())
        say(str(IngestionReport(f"{len(done)} sources ({told})", **report["total"], dry_run=chosen.dry_run)))
    attention = bool(outcomes.keys() & {"failed", "waiting"})
    return JobOutcome.of(report, failed=outcomes.keys() == {"failed"}, attention=attention)


def _wanted(
    registry: Mapping[str, RegisteredSource], chosen: IngestionChoice, net: Read
) -> Iterator[tuple[RegisteredSource, Read]]:
    """Give the sources with what reads them; norms of a folder are read from there. Raises NothingChosenError."""
    files = _files(chosen.folder) if chosen.folder is not None else {}
    if unknown := [source for source in chosen.sources if source not in registry]:
        raise NothingChosenError(f"there is no source {unknown[0]!r}; data/sources.yaml names those there are")
    if chosen.sources and not chosen.everything:
        files = {name: path for name, path in files.items() if name in chosen.sources}
    from_files = in_files(files)
    for name, path in files.items():
        # A norm that no fact cites may be searched all the same.
        unregistered = RegisteredSource(name, path.name, SourceKind.NORM, path.as_posix(), (), "boe.es", 7, 1.0)
        yield registry.get(name, unregistered), from_files
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


class _Run:
    """One run: takes in documents one by one, and brings them into the index here or by a crew."""

    def __init__(self, means: IngestionMeans, chosen: IngestionChoice, progress: Stages) -> None:
        self._means = means
        self._chosen = chosen
        self._run = uuid4().hex
        self._progress = progress
        self._intake: Intake = means.editorial.intake(accept=chosen.accept, keep=not chosen.dry_run)

    def take(self, source: RegisteredSource, read: Read) -> TakenSource:
        """Take in a document and, unless a crew does it, bring it into the index."""
        try:
            taken = self._intake.take(source, read)
        except FAULTS as error:
            self._intake.unreachable(source, f"{type(error).__name__}: {error}")
            return TakenSource(source, "failed", detail=str(error))
        if taken.outcome == "substantive" and not self._chosen.dry_run:
            self._means.accepted(source.id)
        if source.kind is not SourceKind.NORM:
            return taken
        if self._chosen.workers and not self._chosen.dry_run:
            return replace(taken, queued=True)
        try:
            return replace(taken, settled=self._settled(taken))
        except INDEX_FAULTS as error:
            return replace(taken, outcome="failed", detail=str(error))

    def together(self, done: Sequence[TakenSource], say: Say) -> list[TakenSource]:
        """Let the crew bring what is queued into the index; say and give what became of it."""
        queued = {one.source.id: one for one in done if one.queued}
        if not queued:
            return list(done)
        crew = self._means.crew(self._run, self._chosen.workers)
        finished: dict[str, TakenSource] = {}
        for source_id, settled in crew.work(list(queued), anew=self._chosen.anew):
            one = replace(queued[source_id], queued=False)
            if isinstance(settled, str):
                finished[source_id] = replace(one, outcome="failed", detail=settled)
            else:
                finished[source_id] = replace(one, settled=settled)
            say(line_of(finished[source_id]))
            self._progress("documents", len(finished), len(queued))
        return [finished.get(one.source.id, one) for one in done]

    def _settled(self, taken: TakenSource) -> IngestionReport:
        def progress(done: int, total: int) -> None:
            self._progress(f"{taken.source.id}, passages", done, total)

        if not self._chosen.dry_run:
            return self._means.norms.settle(taken.source.id, self._run, anew=self._chosen.anew, progress=progress)
        if taken.norm is None:
            raise UnservedNormError(f"nothing is served of {taken.source.id}")
        return self._means.norms.fill(taken.norm, anew=self._chosen.anew, dry_run=True)
