"""Watching the gazette: catching up the days that are missing, and telling what of them concerns us, once."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Final

from clara.editorial.gazette import issues
from clara.editorial.gazette.concerns import Concern, Watched, concerns, read_rules, spanish_names, worth_reading
from clara.editorial.pages import alert_as_json, alert_message, page
from clara.editorial.ports import AlertNotTakenError, GazetteRecord, JobOutcome, Post, Progress, Say
from clara.errors import Invalid
from clara.knowledge.catalogue import Catalogue
from clara.knowledge.derivations import read_derivations
from clara.knowledge.law.references import NormNames, cited_by, read_norms, unnamed
from clara.knowledge.renewals import read_renewals, renewed
from clara.language.phrases import Phrases

# After so many requests in a row that were not served, the rest is left to the next run: each takes up to a minute and a half.
STRIKES: Final = 3
ALERTS_A_POST: Final = 20


class WatchError(Invalid):
    """What was asked for cannot be done. The message says what to do instead."""


@dataclass(frozen=True, slots=True)
class DayChoice:
    """Which days to read: one, the last so many, or what is missing."""

    day: date | None = None
    days: int | None = None

    def __str__(self) -> str:
        return f"--check{f' --date {self.day}' if self.day else ''}{f' --days {self.days}' if self.days else ''}"


@dataclass(frozen=True, slots=True)
class DayRead:
    """What came of a day: how it is recorded, what concerns us, documents asked for, and whether the gazette was out."""

    reading: issues.DayReading
    concerns: tuple[Concern, ...] = ()
    documents: int = 0
    out: bool = False


@dataclass(frozen=True, slots=True)
class GazetteWatch:
    """Watches the gazette. `post` takes new alerts, each once; without it nobody is told."""

    record: GazetteRecord
    gazette: issues.Gazette
    post: Post | None = None
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)

    def run(self, chosen: DayChoice, watched: Watched, say: Say, progress: Progress) -> JobOutcome:
        """Read what is missing of the gazette, keep what concerns us, and post it if that was asked for.

        Once the gazette was out for several days in a row, the others wait for the next run. Exit code 0: nothing new; 1: new
        alerts; 2: a day could not be read, or the webhook took nothing (the rest was done). Raises WatchError,
        CorpusUnavailableError.
        """
        known = {} if chosen.day else self.record.known()
        plan, before = self._plan(chosen, known), self.gazette.requests
        done: list[DayRead] = []
        found: list[str] = []
        for number, day in enumerate(plan.days):
            progress(number, len(plan.days))
            if not (len(done) >= STRIKES and all(past.out for past in done[-STRIKES:])):
                done.append(read_day(self.gazette, day, watched, known.get(day)))
                found += self.record.keep(done[-1].reading, done[-1].concerns, self.clock())
        progress(len(plan.days), len(plan.days))
        told, untold = self._tell()
        report = {
            "days": [
                {
                    **asdict(one.reading),
                    "day": str(one.reading.day),
                    "documents": one.documents,
                    "concerning": len(one.concerns),
                }
                for one in done
            ],
            "alerts": [alert_as_json(alert) for alert in self.record.alerts(found)],
            "told": told,
            "untold": untold,
            "left": [str(day) for day in plan.days[len(done) :]],
            "behind": [str(day) for day in plan.behind],
            "requests": self.gazette.requests - before,
        }
        say(page("gazette", report))
        failed = any(one.reading.state is issues.DayState.FAILED for one in done)
        failed = failed or bool(report["left"] or plan.behind or untold)
        return JobOutcome.of(report, failed=failed, attention=bool(found))

    def _plan(self, chosen: DayChoice, known: Mapping[date, issues.GazetteDay]) -> issues.CatchUp:
        today = self.clock().astimezone(issues.MADRID).date()
        if chosen.day is None:
            return issues.missing(known, today, chosen.days)
        if chosen.day > today:
            raise WatchError(f"{chosen.day} has not come yet; in Madrid it is {today}")
        return issues.CatchUp((chosen.day,))

    def _tell(self) -> tuple[list[str], str | None]:
        """Post what nobody was told of; give whom it was about, and why the rest could not be posted."""
        told: list[str] = []
        if (post := self.post) is None:
            return told, None

        def posted(alerts: list[issues.GazetteAlert]) -> None:
            post(alert_message([alert_as_json(alert) for alert in alerts]))

        try:
            while more := self.record.tell(posted, self.clock(), ALERTS_A_POST):
                told += more
        except AlertNotTakenError as error:
            return told, str(error) or None
        return told, None


def open_alerts(record: GazetteRecord) -> list[dict[str, Any]]:
    """Give the alerts that nobody has looked at, the newest first. Raises CorpusUnavailableError."""
    return [alert_as_json(alert) for alert in record.alerts(unseen=True)]


def look_at(record: GazetteRecord, item_id: str) -> None:
    """Record that a person has looked at an alert. Raises WatchError, CorpusUnavailableError."""
    if not record.seen(item_id, datetime.now(UTC)):
        raise WatchError(f"there is no alert {item_id}; `clara boe` lists those that nobody has looked at")


def watched_by(catalogue: Catalogue, data: Path, say: Say) -> Watched:
    """Put together what is looked for: the norms that facts cite, their names, our words. Raises DataError."""
    norms = read_norms(data)
    cited = cited_by(catalogue.procedures.values())
    for fault in unnamed(norms, cited):
        say(f"Titles that name this norm are not noticed: {fault}")
    derivations = read_derivations(data)
    renewals = read_renewals(data, catalogue, derivations)
    return Watched(
        read_rules(data, catalogue.procedures),
        cited,
        NormNames(norms),
        spanish_names(catalogue),
        Phrases((phrase, rule) for rule in renewals for phrase in rule.said),
        renewed(catalogue, renewals, derivations),
    )


def read_day(gazette: issues.Gazette, day: date, watched: Watched, before: issues.GazetteDay | None) -> DayRead:
    """Read a day's summary and the documents in it that are worth a request.

    Of a day that was read before and has got no more items, only the documents of the sections that are read again.
    """
    try:
        found = gazette.day(day)
    except issues.NoIssueError:
        if before and before.state == issues.DayState.READ:
            return DayRead(
                issues.DayReading(day, issues.DayState.FAILED, error="the gazette had this day and now says that it has not")
            )
        return DayRead(issues.DayReading(day, issues.DayState.NONE))
    except (issues.GazetteUnavailableError, issues.GazetteFormatError) as error:
        return DayRead(
            issues.DayReading(day, issues.DayState.FAILED, error=str(error)),
            out=isinstance(error, issues.GazetteUnavailableError),
        )
    items = list(found.items)
    again = before is not None and before.state == issues.DayState.READ and before.items == len(items)
    sections = watched.rules.read_again_sections
    wanted = [item for item in items if worth_reading(item, watched) and not (again and item.section not in sections)]
    documents, faults, out = _documents(gazette, wanted)
    concerning = tuple(concern for item in items if (concern := concerns(item, documents.get(item.id), watched)))
    state = issues.DayState.FAILED if faults else issues.DayState.READ
    reading = issues.DayReading(day, state, len(found.issues), len(items), "; ".join(faults) or None)
    return DayRead(reading, concerning, len(documents), out)


def _documents(gazette: issues.Gazette, wanted: list[issues.Item]) -> tuple[dict[str, issues.ItemDocument], list[str], bool]:
    """Ask for documents; give them by id, what went wrong, and whether the gazette is out."""
    documents: dict[str, issues.ItemDocument] = {}
    faults: list[str] = []
    strikes = 0
    for place, item in enumerate(wanted):
        if strikes == STRIKES:
            faults.append(f"{len(wanted) - place} documents were not asked for")
            break
        try:
            documents[item.id] = gazette.item(item.id)
            strikes = 0
        except issues.GazetteUnavailableError as error:
            faults.append(str(error))
            strikes += 1
        except (issues.GazetteFormatError, issues.NoIssueError) as error:
            faults.append(f"{item.id}: {error}" if item.id not in str(error) else str(error))
            strikes = 0
    return documents, faults, strikes == STRIKES
