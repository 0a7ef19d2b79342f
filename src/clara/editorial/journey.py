"""One correction, from what a source says to what people are told.

    source  ->  finding  ->  a decision for each fact  ->  revision  ->  publication
    look        waiting      accept, or reject             a draft       publish, or undo

Each step leaves what it made in the database, so days may lie between two of them, and each may be repeated. Nothing that is
served changes before the last one. Whoever starts a step - the command line, a schedule, an operator's address - calls it here,
the last one in `publication`.
"""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from clara.editorial.intake import DriftCheck, Intake, SourceChoice, SourceComparison
from clara.editorial.ports import EditorialDesk, JobOutcome, Progress, Say
from clara.editorial.records import KeptFinding, Settled
from clara.editorial.review import Decider, ReviewCase, Verdicts
from clara.editorial.sources import Fetch
from clara.errors import Invalid
from clara.ingestion.norms import INDEX_FAULTS
from clara.knowledge.derivations import read_derivations
from clara.knowledge.revisions import Revision
from clara.knowledge.sources import read_sources
from clara.plain_text import counted

_SAID: Final = {
    "served": ": its new state is served now",
    "rejected": ": its new state is rejected and not found again",
    "waiting": ": its new state waits for the other findings",
}


class MissingReasonError(Invalid):
    """A rejection needs a reason, because the same wording is not found again. Give it with --reason."""


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
        """Give what waits for a person, oldest first: open findings, and accepted ones with facts that nobody decided about.

        Raises CorpusUnavailableError.
        """
        found = [*self.desk.findings.open(), *self.desk.findings.undecided()]
        return [self._entry(finding) for finding in sorted(found, key=lambda finding: finding.id)]

    def finding(self, number: int, bases: Mapping[str, Decimal] | None = None) -> dict[str, Any]:
        """Give one finding, each fact as it is told beside what is proposed for it; `bases` as in Verdicts.

        Raises UnknownFindingError, DataError, CorpusUnavailableError.
        """
        return self._entry(self.desk.findings.find(number), bases)

    def _entry(self, finding: KeptFinding, bases: Mapping[str, Decimal] | None = None) -> dict[str, Any]:
        answers = self.desk.findings.cited([touched.fact_id for touched in finding.touched])
        return ReviewCase(self.desk, finding, bases).entry(answers)

    def accept(self, number: int, verdicts: Verdicts, by: Decider, say: Say) -> Settled:
        """Let a finding be right: finding -> a decision for each fact -> drafts of revisions, for `publish`.

        That says nothing about any fact: what nobody decides stays in doubt, and is named. Of a finding that was accepted, more
        facts can be decided. Bad decisions are one error, and nothing is written. Raises DataError, UnknownFindingError,
        UntouchedFactError, DecidedFindingError, CorpusUnavailableError.
        """
        before = self.desk.findings.find(number)
        case = ReviewCase(self.desk, before, verdicts.bases)
        decisions = list(verdicts.decisions)
        if verdicts.every_proposal:
            named = {one.fact_id for one in decisions}
            decisions += [one for one in case.proposed() if one.fact_id not in named]
        decided = case.settled(decisions, verdicts.place)
        settled = self.desk.findings.accept(number, decided, by.role, by.reason)
        say(_said(settled))
        for line in _facts_said(settled, [one.fact_id for one in decided if isinstance(one, Revision)]):
            say(line)
        if before.state == "open" and settled.snapshot == "served" and settled.finding.kind == "article":
            self._index(settled.finding.source_id, say, by)
        return settled

    def _index(self, norm: str, say: Say, by: Decider) -> None:
        """Bring the accepted wording into the corpus of the law, where it holds the norm. What is served is decided already."""
        if not self.desk.norms.holds(norm):
            return
        if not by.embeds:
            say(f"{norm} is searched by its new wording after `clara ingest --source {norm}`.")
            return
        try:
            done = self.desk.norms.settle(norm)
        except INDEX_FAULTS as error:
            say(f"{norm} is not searched by its new wording yet ({error}); run `clara ingest --source {norm}`")
        else:
            say(f"{norm} is searched by its new wording: {done.written} passages written, {done.dropped} dropped.")

    def reject(self, number: int, reason: str, by: Decider, say: Say) -> Settled:
        """Let a finding be wrong: its source is held as it was, and the same wording is not found again.

        Raises MissingReasonError, UnknownFindingError, DecidedFindingError, CorpusUnavailableError.
        """
        if not reason.strip():
            raise MissingReasonError
        settled = self.desk.findings.reject(number, reason.strip(), by.role)
        say(_said(settled))
        return settled


def _said(settled: Settled) -> str:
    return f"#{settled.finding.id} {settled.finding.state}{_SAID.get(settled.snapshot or '', '')}."


def _facts_said(settled: Settled, corrected: Sequence[str]) -> Iterator[str]:
    number, undecided = settled.finding.id, settled.finding.undecided
    if corrected:
        yield f"As drafts wait {counted(len(corrected), 'corrected fact')}: {', '.join(corrected)}. Run `clara publish`."
    if undecided:
        yield (
            f"Undecided, and told with the warning: {counted(len(undecided), 'fact')}: {', '.join(undecided)}. "
            f"Decide them with `clara review accept {number} --decisions FILE`; `clara review show {number}` shows them."
        )
