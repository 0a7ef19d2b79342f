"""Publishing: a new version of the knowledge is staged beside the served one, tried, and served only if nothing got worse.

Whatever happens on the way, people are answered from the version that is served, whole. A version that was being staged when
its process died is cleared away by the next run.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from clara.editorial.ports import EditorialDesk, JobOutcome, Progress, Publications, PublicationVerdict, Say
from clara.editorial.records import Publication, ServedVersion, target_of_undo
from clara.errors import NotFound
from clara.ingestion.corpora import copying
from clara.ingestion.journey import Plan, ingest, plan_changes, text_digest_of
from clara.ingestion.ports import StoredDigests
from clara.knowledge.knowledge_base import Knowledge, laid_over
from clara.knowledge.passages import CORPUS
from clara.knowledge.revisions import Revised
from clara.plain_text import table


@dataclass(frozen=True, slots=True)
class Candidate:
    """What is known in a version, and the corpus in which it is searched."""

    knowledge: Knowledge
    physical: str


# Holds a staged version against the served one.
Judge = Callable[[Candidate, Candidate], PublicationVerdict]


class UnknownCorrectionError(NotFound):
    """No correction of that fact is kept. The message names the drafts there are."""


@dataclass(frozen=True, slots=True)
class WantedVersion:
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


def rehearse(desk: EditorialDesk, say: Say) -> JobOutcome:
    """Say what would change; nothing does. Raises DataError, CorpusUnavailableError."""
    return _told(wanted(desk), say, "dry run")


def publish(desk: EditorialDesk, judge: Judge, by: str, say: Say, progress: Progress) -> JobOutcome:
    """Stage what is wanted, try it, and serve it if nothing got worse; exit code 1 when it is refused, drafts stay drafts.

    `by` says on whose behalf. Repeating it changes nothing. Raises DataError naming what is wrong with corrections,
    BusyPublishingError, ServedChangedError, EmbedderUnavailableError, CorpusUnavailableError; then what is served is as it was.
    """
    publications = desk.publications
    with publications.publishing():
        clear(desk, say)
        what = wanted(desk)
        if what.plan.empty:
            return _told(what, say, "nothing to publish")
        _told(what, say, "staged")
        with _staged(desk, what, say, progress) as staged:
            started = perf_counter()
            held, _ = laid_over(desk.released(), desk.revisions.of(what.before.revisions))
            verdict = judge(Candidate(held, what.before.physical), Candidate(what.knowledge, staged.physical))
            seconds = round(perf_counter() - started, 1)
            gate = {**verdict.as_json(), "by": by}
            say("\n".join(verdict.lines()))
            if verdict.passed:
                publications.switch(staged, what.before, gate)
            else:
                publications.refuse(staged, gate)
        state = "served" if verdict.passed else "refused"
        kept = "" if verdict.passed else "; what is served stays as it was, and drafts stay drafts"
        say(f"Version {staged.id} is {state}{kept}.")
        clear(desk, say)
    told = {**{name: verdict.as_json()[name] for name in ("worse", "short", "regressions")}, "gate_seconds": seconds}
    return JobOutcome(0 if verdict.passed else 1, {**_report(what, state, staged.id), **told})


def wanted(desk: EditorialDesk) -> WantedVersion:
    """Find out what would be served: data/, the corrections that are served and those that wait. Raises DataError."""
    before = desk.publications.served(CORPUS)
    corrections = desk.revisions
    laid = sorted([*corrections.of(before.revisions, withdrawn=False), *corrections.drafts()], key=lambda one: one.id)
    knowledge, done = laid_over(desk.released(), laid)
    stored = desk.corpora.passages(embedder=desk.corpora.filling(before.physical)).stored(before.physical)
    # A vector that is missing changes nothing that anybody is told.
    assumed = {passage.id: text_digest_of(passage) for passage in knowledge.passages}
    plan = plan_changes(StoredDigests(stored.passages, {**assumed, **stored.vectors}), knowledge.passages)
    return WantedVersion(before, knowledge, done, plan)


def undo(desk: EditorialDesk, say: Say) -> JobOutcome:
    """Serve the version before again, in one statement, with data/ of this release. Corrections of the undone are drafts.

    Raises NothingToUndoError, BusyPublishingError, ServedChangedError, DataError, CorpusUnavailableError.
    """
    publications = desk.publications
    with publications.publishing():
        before = publications.served(CORPUS)
        target = target_of_undo(publications.publications(CORPUS))
        knowledge, _ = laid_over(desk.released(), desk.revisions.of(target.revisions))
        embedder = desk.patient(target.physical, say)
        store = desk.corpora.passages(embedder=embedder)
        ingest(target.physical, knowledge.passages, store, desk.corpora.passage_embedder(embedder))
        publications.undo(before, target)
    say(f"Version {target.id} is served again; version {before.publication} is undone, its corrections are drafts again.")
    return JobOutcome(0, {"state": "served", "publication": target.id, "undone": before.publication})


def withdraw(desk: EditorialDesk, fact_id: str, say: Say) -> JobOutcome:
    """Take back the corrections of a fact: the next version has it as data/ has it. Raises UnknownCorrectionError."""
    gone = desk.revisions.withdraw(fact_id)
    if not gone:
        drafts = ", ".join(sorted({one.fact_id for one in desk.revisions.drafts()})) or "none"
        raise UnknownCorrectionError(f"there is no correction of {fact_id!r}; facts with drafts: {drafts}")
    say(f"{gone} corrections of {fact_id} are withdrawn; run `clara publish` if one of them is served")
    return JobOutcome(0, {"state": "withdrawn", "fact": fact_id, "corrections": gone})


def listing(publications: Publications) -> list[dict[str, Any]]:
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
            "served_at": one.served_at and one.served_at.isoformat(timespec="seconds"),
            "ended_at": one.ended_at and one.ended_at.isoformat(timespec="seconds"),
        }
        for one in publications.publications(CORPUS)
    ]


def listing_lines(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Write `listing` as lines under a heading."""
    names = ("publication", "state", "corpus", "passages", "corrections", "worse", "by", "served_at", "ended_at")
    cells = [names, *(tuple("-" if row[name] is None else str(row[name]) for name in names) for row in rows)]
    return table(cells)


def clear(desk: EditorialDesk, say: Say) -> None:
    """Drop what was being staged when its process died, and versions that are older than those that can be gone back to."""
    for corpus in desk.publications.leftovers(CORPUS):
        desk.corpora.passages().drop(corpus)
        say(f"{corpus}: dropped, nobody needs it any more")


@contextmanager
def _staged(desk: EditorialDesk, what: WantedVersion, say: Say, progress: Progress) -> Iterator[Publication]:
    """Fill a corpus of its own; what is not served at the end is dropped, however it ends."""
    publications = desk.publications
    staged = publications.stage(CORPUS, what.numbers)
    try:
        embedder = desk.corpora.filling(what.before.physical)
        store = desk.corpora.passages(embedder=embedder)
        known = copying(desk.corpora, what.before.physical, what.knowledge.passages, embedder)
        say(str(ingest(staged.physical, what.knowledge.passages, store, known, progress=progress)))
        yield staged
    finally:
        if publications.served(CORPUS).publication != staged.id:
            publications.refuse(staged, {"cut_short": True})
            desk.corpora.passages().drop(staged.physical)


def _told(what: WantedVersion, say: Say, state: str) -> JobOutcome:
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
    return JobOutcome(0, _report(what, state, None))


def _report(what: WantedVersion, state: str, publication: int | None) -> dict[str, Any]:
    return {
        "state": state,
        "publication": publication,
        **what.changes,
        "corrections": what.numbers,
        "lost": [str(lost) for lost in what.done.lost],
    }
