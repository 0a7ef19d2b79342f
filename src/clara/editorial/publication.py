"""Publishing: a new version of the knowledge is staged beside the served one, tried, and served only if nothing got worse.

Whatever happens on the way, people are answered from the version that is served, whole. A version that was being staged when
its process died is cleared away by the next run.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from clara.adapters.postgres.editorial.publications import PostgresPublications, Publication, ServedVersion, target_of_undo
from clara.container import Container
from clara.errors import NotFound, Refused
from clara.ingestion.journey import ingest
from clara.ingestion.plan import Plan, plan_changes, text_digest_of
from clara.ingestion.ports import StoredDigests
from clara.jobs.corpus_copy import copying
from clara.knowledge.knowledge_base import Knowledge, KnowledgeVersion, laid_over
from clara.knowledge.passages import CORPUS
from clara.knowledge.revisions import Revised
from clara.processes.preparation import patient_embedder
from clara.processes.run_record import Outcome
from clara.quality.publication_gate import Gate, Verdict

Say = Callable[[str], None]
Progress = Callable[[int, int], None]
# Holds a staged version against the served one and what that knows.
Judge = Callable[[ServedVersion, Knowledge, KnowledgeVersion], Verdict]


class BusyPublishingError(Refused):
    """Somebody else publishes or goes back at this moment. Wait for it; `clara publish --list` shows how it ended."""


class UnknownCorrectionError(NotFound):
    """No correction of that fact is kept. The message names the drafts there are."""


@dataclass(frozen=True, slots=True)
class Choosing:
    """How to publish: on whose behalf, and whether anything is done at all."""

    by: str = "cli"
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class Wanted:
    """What would be served: the knowledge, what became of each correction, and how it differs from what is served."""

    before: ServedVersion
    knowledge: Knowledge
    done: Revised
    plan: Plan

    @property
    def changes(self) -> dict[str, list[str]]:
        """Name the passages that would change, by what would become of them."""
        return {"written": sorted(passage.id for passage in self.plan.write), "dropped": sorted(self.plan.drop)}

    @property
    def numbers(self) -> list[int]:
        """Give the numbers of the corrections that it holds."""
        return [revision.id for revision in self.done.applied]


def publish(services: Container, chosen: Choosing, say: Say, progress: Progress, judge: Judge | None = None) -> Outcome:
    """Stage what is wanted, try it, and serve it if nothing got worse; exit code 1 when it is refused, drafts stay drafts.

    `judge` stands in for the gate of the evaluation, to try out everything around it. Repeating it changes nothing. Raises
    DataError naming what is wrong with corrections, BusyPublishingError, ServedChangedError, EmbedderUnavailableError,
    StoreUnavailableError; then what is served is as it was.
    """
    if chosen.dry_run:
        return _told(wanted(services), say, "dry run")
    publications = services.publications()
    judge = judge or Gate(services.snapshot(), say, progress).held_against
    with _alone(publications):
        clear(services, say)
        what = wanted(services)
        if what.plan.empty:
            return _told(what, say, "nothing to publish")
        _told(what, say, "staged")
        with _staged(services, what, say, progress) as staged:
            started = perf_counter()
            verdict = _verdict(services, what, staged, judge)
            seconds = round(perf_counter() - started, 1)
            gate = {**verdict.as_json(), "by": chosen.by}
            say("\n".join(verdict.lines()))
            if verdict.passed:
                publications.switch(staged, what.before, gate)
            else:
                publications.refuse(staged, gate)
        state = "served" if verdict.passed else "refused"
        kept = "" if verdict.passed else "; what is served stays as it was, and drafts stay drafts"
        say(f"Version {staged.id} is {state}{kept}.")
        clear(services, say)
    told = {
        "worse": list(verdict.worse),
        "short": list(verdict.short),
        "regressions": [str(one) for one in verdict.regressions],
        "gate_seconds": seconds,
    }
    return Outcome(0 if verdict.passed else 1, {**_report(what, state, staged.id), **told})


def wanted(services: Container) -> Wanted:
    """Find out what would be served: data/, the corrections that are served and those that wait. Raises DataError."""
    before = services.publications().served(CORPUS)
    corrections = services.revisions()
    laid = sorted([*corrections.of(before.revisions, withdrawn=False), *corrections.drafts()], key=lambda one: one.id)
    knowledge, done = laid_over(services.released, laid)
    stored = services.passages(embedder=services.filling(before.physical)).stored(before.physical)
    # A vector that is missing changes nothing that anybody is told.
    assumed = {passage.id: text_digest_of(passage) for passage in knowledge.passages}
    plan = plan_changes(StoredDigests(stored.passages, {**assumed, **stored.vectors}), knowledge.passages)
    return Wanted(before, knowledge, done, plan)


def undo(services: Container, say: Say) -> Outcome:
    """Serve the version before again, in one statement, with data/ of this release. Corrections of the undone are drafts.

    Raises NothingToUndoError, BusyPublishingError, ServedChangedError, DataError, StoreUnavailableError.
    """
    publications = services.publications()
    with _alone(publications):
        before = publications.served(CORPUS)
        target = target_of_undo(publications.publications(CORPUS))
        knowledge, _ = laid_over(services.released, services.revisions().of(target.revisions))
        embedder = patient_embedder(services, target.physical, say)
        store = services.passages(embedder=embedder)
        ingest(target.physical, knowledge.passages, store, services.passage_embedder(embedder))
        publications.undo(before, target)
    say(f"Version {target.id} is served again; version {before.publication} is undone, its corrections are drafts again.")
    return Outcome(0, {"state": "served", "publication": target.id, "undone": before.publication})


def withdraw(services: Container, fact_id: str, say: Say) -> Outcome:
    """Take back the corrections of a fact: the next version has it as data/ has it. Raises UnknownCorrectionError."""
    gone = services.revisions().withdraw(fact_id)
    if not gone:
        drafts = ", ".join(sorted({one.fact_id for one in services.revisions().drafts()})) or "none"
        raise UnknownCorrectionError(f"there is no correction of {fact_id!r}; facts with drafts: {drafts}")
    say(f"{gone} corrections of {fact_id} are withdrawn; run `clara publish` if one of them is served")
    return Outcome(0, {"state": "withdrawn", "fact": fact_id, "corrections": gone})


def listing(services: Container) -> list[dict[str, Any]]:
    """Give every version as JSON, newest first."""
    return [
        {
            "publication": one.id,
            "state": one.state,
            "corpus": one.physical,
            "passages": one.passages,
            "corrections": len(one.revisions),
            "worse": len(one.gate.get("worse", ())),
            "by": one.gate.get("by"),
            "created_at": one.created_at.isoformat(timespec="seconds"),
            "served_at": one.served_at.isoformat(timespec="seconds") if one.served_at else None,
            "ended_at": one.ended_at.isoformat(timespec="seconds") if one.ended_at else None,
        }
        for one in services.publications().publications(CORPUS)
    ]


def table(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Write `listing` as lines under a heading."""
    names = ("publication", "state", "corpus", "passages", "corrections", "worse", "by", "served_at", "ended_at")
    cells = [names, *(tuple("-" if row[name] is None else str(row[name]) for name in names) for row in rows)]
    widths = [max(len(row[place]) for row in cells) for place in range(len(names))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]


def clear(services: Container, say: Say) -> None:
    """Drop what was being staged when its process died, and versions that are older than those that can be gone back to."""
    for corpus in services.publications().leftovers(CORPUS):
        services.passages().drop(corpus)
        say(f"{corpus}: dropped, nobody needs it any more")


@contextmanager
def _alone(publications: PostgresPublications) -> Iterator[None]:
    with publications.publishing() as alone:
        if not alone:
            raise BusyPublishingError
        yield


@contextmanager
def _staged(services: Container, what: Wanted, say: Say, progress: Progress) -> Iterator[Publication]:
    """Fill a corpus of its own; what is not served at the end is dropped, however it ends."""
    publications = services.publications()
    staged = publications.stage(CORPUS, what.numbers)
    try:
        embedder = services.filling(what.before.physical)
        store = services.passages(embedder=embedder)
        known = copying(services, what.before.physical, what.knowledge.passages, embedder)
        say(str(ingest(staged.physical, what.knowledge.passages, store, known, progress=progress)))
        yield staged
    finally:
        if publications.served(CORPUS).publication != staged.id:
            publications.refuse(staged, {"cut_short": True})
            services.passages().drop(staged.physical)


def _verdict(services: Container, what: Wanted, staged: Publication, judge: Judge) -> Verdict:
    held, _ = laid_over(services.released, services.revisions().of(what.before.revisions))
    return judge(what.before, held, KnowledgeVersion(what.knowledge, {CORPUS: staged.physical}))


def _told(what: Wanted, say: Say, state: str) -> Outcome:
    """Say what would change, and what is not applied."""
    texts = {passage.id: passage.text for passage in what.knowledge.passages}
    reasons = {one.fact_id: f" ({one.reason})" for one in what.done.applied if one.reason}
    for name in what.changes["written"]:
        say(f"  {name}{reasons.get(name, '')}: {texts[name]}")
    for name in what.changes["dropped"]:
        say(f"  {name}: not told any more")
    for lost in what.done.lost:
        say(f"  not applied: {lost}")
    if state == "nothing to publish" or what.plan.empty:
        say("Nothing to publish: what is served is what data/ and the corrections say.")
    return Outcome(0, _report(what, state, None))


def _report(what: Wanted, state: str, publication: int | None) -> dict[str, Any]:
    return {
        "state": state,
        "publication": publication,
        **what.changes,
        "corrections": what.numbers,
        "lost": [str(lost) for lost in what.done.lost],
    }
