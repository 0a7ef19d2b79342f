"""Watching the gazette: catching up the days that are missing, and telling what of them concerns us, once."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Final, Protocol

from clara.editorial.gazette.concerns import Concern, Watched, concerns, read_rules, spanish_names, worth_reading
from clara.editorial.gazette.issues import (
    MADRID,
    CatchUp,
    DayReading,
    DayState,
    Gazette,
    GazetteAlert,
    GazetteDay,
    GazetteFormatError,
    GazetteUnavailableError,
    Item,
    ItemDocument,
    NoIssueError,
)
from clara.editorial.pages import alert_as_json, alert_message, page
from clara.editorial.ports import (
    COULD_NOT_RUN,
    FINDINGS,
    FINE,
    AlertNotTakenError,
    GazetteRecord,
    JobOutcome,
    Post,
    Progress,
    Say,
)
from clara.errors import Invalid
from clara.knowledge.catalogue import Catalogue
from clara.knowledge.law.references import NormNames, cited_by, read_norms, unnamed

# After so many requests in a row that were not served, the rest is left to the next run: each takes up to a minute and a half.
STRIKES: Final = 3
ALERTS_A_POST: Final = 20


class WatchError(Invalid):
    """What was asked for cannot be done. The message says what to do instead."""


class CountedGazette(Gazette, Protocol):
    """Reads the gazette, and counts what it asked."""

    requests: int


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

    reading: DayReading
    concerns: tuple[Concern, ...] = ()
    documents: int = 0
    out: bool = False


@dataclass(slots=True)
class _Progressed:
    """What a run has done so far."""

    plan: CatchUp
    days: list[DayRead] = field(default_factory=list)
    found: list[str] = field(default_factory=list)
    left: list[date] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    untold: str = ""


class GazetteWatch:
    """Watches the gazette. `post` takes new alerts, each once; without it nobody is told."""

    def __init__(
        self,
        record: GazetteRecord,
        gazette: CountedGazette,
        post: Post | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._record = record
        self._gazette = gazette
        self._post = post
        self._clock = clock

    def run(self, chosen: DayChoice, watched: Watched, say: Say, progress: Progress) -> JobOutcome:
        """Read what is missing of the gazette, keep what concerns us, and post it if that was asked for.

        Exit code 0: nothing new; 1: new alerts; 2: a day could not be read, or the webhook took nothing (the rest was done).
        Raises WatchError, CorpusUnavailableError.
        """
        run = _Progressed(self._plan(chosen))
        known = {} if chosen.day else self._record.known()
        before = self._gazette.requests
        for number, day in enumerate(run.plan.days):
            progress(number, len(run.plan.days))
            self._take(run, day, watched, known.get(day))
        progress(len(run.plan.days), len(run.plan.days))
        if self._post is not None:
            self._tell(run, self._post)
        report = _report(run, self._record.alerts(run.found), self._gazette.requests - before)
        say(page("gazette", report))
        return JobOutcome(_exit_code(run), report)

    def _plan(self, chosen: DayChoice) -> CatchUp:
        today = self._clock().astimezone(MADRID).date()
        if chosen.day is None:
            return self._record.missing(today, chosen.days)
        if chosen.day > today:
            raise WatchError(f"{chosen.day} has not come yet; in Madrid it is {today}")
        return CatchUp((chosen.day,))

    def _take(self, run: _Progressed, day: date, watched: Watched, before: GazetteDay | None) -> None:
        """Read a day and keep it; once the gazette was out for several in a row, the others wait for the next run."""
        if len(run.days) >= STRIKES and all(past.out for past in run.days[-STRIKES:]):
            run.left.append(day)
            return
        done = read_day(self._gazette, day, watched, before)
        run.days.append(done)
        run.found += self._record.keep(done.reading, done.concerns, self._clock())

    def _tell(self, run: _Progressed, post: Post) -> None:
        def posted(alerts: list[GazetteAlert]) -> None:
            post(alert_message([alert_as_json(alert) for alert in alerts]))

        try:
            while told := self._record.tell(posted, self._clock(), ALERTS_A_POST):
                run.told += told
        except AlertNotTakenError as error:
            run.untold = str(error)


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
    return Watched(read_rules(data, catalogue.procedures), cited, NormNames(norms), spanish_names(catalogue))


def read_day(gazette: Gazette, day: date, watched: Watched, before: GazetteDay | None) -> DayRead:
    """Read a day's summary and the documents in it that are worth a request.

    Of a day that was read before and has got no more items, only the documents of the sections that are read again.
    """
    try:
        found = gazette.day(day)
    except NoIssueError:
        if before and before.state == DayState.READ:
            return DayRead(DayReading(day, DayState.FAILED, error="the gazette had this day and now says that it has not"))
        return DayRead(DayReading(day, DayState.NONE))
    except (GazetteUnavailableError, GazetteFormatError) as error:
        return DayRead(DayReading(day, DayState.FAILED, error=str(error)), out=isinstance(error, GazetteUnavailableError))
    items = list(found.items)
    again = before is not None and before.state == DayState.READ and before.items == len(items)
    sections = watched.rules.read_again_sections
    wanted = [item for item in items if worth_reading(item, watched) and not (again and item.section not in sections)]
    documents, faults, out = _documents(gazette, wanted)
    concerning = tuple(concern for item in items if (concern := concerns(item, documents.get(item.id), watched)))
    state = DayState.FAILED if faults else DayState.READ
    reading = DayReading(day, state, len(found.issues), len(items), "; ".join(faults) or None)
    return DayRead(reading, concerning, len(documents), out)


def _documents(gazette: Gazette, wanted: list[Item]) -> tuple[dict[str, ItemDocument], list[str], bool]:
    """Ask for documents; give them by id, what went wrong, and whether the gazette is out."""
    documents: dict[str, ItemDocument] = {}
    faults: list[str] = []
    strikes = 0
    for place, item in enumerate(wanted):
        if strikes == STRIKES:
            faults.append(f"{len(wanted) - place} documents were not asked for")
            break
        try:
            documents[item.id] = gazette.item(item.id)
            strikes = 0
        except GazetteUnavailableError as error:
            faults.append(str(error))
            strikes += 1
        except (GazetteFormatError, NoIssueError) as error:
            faults.append(f"{item.id}: {error}" if item.id not in str(error) else str(error))
            strikes = 0
    return documents, faults, strikes == STRIKES


def _exit_code(run: _Progressed) -> int:
    failed = any(done.reading.state is DayState.FAILED for done in run.days)
    if failed or run.left or run.plan.behind or run.untold:
        return COULD_NOT_RUN
    return FINDINGS if run.found else FINE


def _report(run: _Progressed, alerts: Sequence[GazetteAlert], requests: int) -> Mapping[str, Any]:
    return {
        "days": [
            {
                "day": str(done.reading.day),
                "state": done.reading.state.value,
                "issues": done.reading.issues,
                "items": done.reading.items,
                "documents": done.documents,
                "concerning": len(done.concerns),
                "error": done.reading.error,
            }
            for done in run.days
        ],
        "alerts": [alert_as_json(alert) for alert in alerts],
        "told": run.told,
        "untold": run.untold or None,
        "left": [str(day) for day in run.left],
        "behind": [str(day) for day in run.plan.behind],
        "requests": requests,
    }
