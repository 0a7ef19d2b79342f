"""One correction, from what a source says to what people are told.

    source  ->  finding  ->  a decision for each fact  ->  revision  ->  publication
    look        waiting      accept, or reject             a draft       publish, or undo

Each step leaves what it made in the database, so days may lie between two of them, and each may be repeated. Nothing that is
served changes before the last one. Whoever starts a step - the command line, a schedule, an operator's address - calls it here.
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from clara.editorial import publication, review
from clara.editorial.intake import DriftCheck, Intake, SourceChoice, SourceComparison
from clara.editorial.ports import EditorialDesk, JobOutcome, Progress, Say
from clara.editorial.records import Settled
from clara.editorial.review import Decider, Verdicts
from clara.editorial.sources import Fetch
from clara.knowledge.derivations import read_derivations
from clara.knowledge.sources import read_sources


class Editorial:
    """The steps, on a desk."""

    def __init__(self, desk: EditorialDesk) -> None:
        self.desk = desk

    def comparison(self) -> SourceComparison:
        """Give what sources are held against: what is kept of them, and the facts that are told now."""
        desk = self.desk
        procedures = tuple(desk.served().catalogue.procedures.values())
        return SourceComparison(desk.snapshots, desk.findings, procedures, read_derivations(desk.data))

    def look(self, chosen: SourceChoice, fetch: Fetch, say: Say, progress: Progress) -> JobOutcome:
        """Look at sources: source -> finding, kept for a person with the facts that it touches."""
        return DriftCheck(self.comparison(), read_sources(self.desk.data), fetch).run(chosen, say, progress)

    def intake(self, *, accept: bool, keep: bool) -> Intake:
        """Give what takes sources in: source -> served where nothing of substance changed, else a finding."""
        return Intake(self.comparison(), accept=accept, keep=keep)

    def waiting(self) -> list[dict[str, Any]]:
        """Give the findings that wait for a person, oldest first."""
        return review.waiting(self.desk)

    def finding(self, number: int, bases: Mapping[str, Decimal] | None = None) -> dict[str, Any]:
        """Give one finding, each fact as it is told beside what is proposed for it."""
        return review.one(self.desk, number, bases)

    def accept(self, number: int, verdicts: Verdicts, by: Decider, say: Say) -> Settled:
        """Let a finding be right: finding -> a decision for each fact -> drafts of revisions. Others stay in doubt."""
        return review.accept(self.desk, number, verdicts, by, say)

    def reject(self, number: int, reason: str, by: Decider, say: Say) -> Settled:
        """Let a finding be wrong: its source is held as it was, and the same wording is not found again."""
        return review.reject(self.desk, number, reason, by, say)

    def publish(self, judge: publication.Judge, by: str, say: Say, progress: Progress) -> JobOutcome:
        """Publish: revisions -> a version of the knowledge, staged, tried, and served if nothing got worse."""
        return publication.publish(self.desk, judge, by, say, progress)

    def rehearse(self, say: Say) -> JobOutcome:
        """Say what publishing would change."""
        return publication.rehearse(self.desk, say)

    def undo(self, say: Say) -> JobOutcome:
        """Serve the version before again."""
        return publication.undo(self.desk, say)

    def withdraw(self, fact_id: str, say: Say) -> JobOutcome:
        """Take back the corrections of a fact."""
        return publication.withdraw(self.desk, fact_id, say)
