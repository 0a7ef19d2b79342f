"""Watching the gazette: catching up the days that are missing, and telling what of them concerns us, once."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any, Final

from clara.adapters.boe.client import BoeClient, Pace
from clara.adapters.http.alerts import AlertNotTakenError, post_alert
from clara.adapters.postgres.editorial.gazette import Alert, PostgresGazette, Reading
from clara.adapters.postgres.operations.audit import PostgresAudit
from clara.container import Container
from clara.editorial.gazette.calendar import MADRID, DayState, KnownDay, Plan
from clara.editorial.gazette.concerns import Concern, Watched, concerns, spanish_names, worth_reading
from clara.editorial.gazette.issues import (
    Gazette,
    GazetteFormatError,
    GazetteUnavailableError,
    Item,
    ItemDocument,
    NoIssueError,
)
from clara.editorial.gazette.rules import read_rules
from clara.editorial.gazette_report import alert_as_json, message_of, page
from clara.errors import Invalid
from clara.knowledge.norms import NormNames, cited_by, read_norms, unnamed
from clara.processes.run_record import Outcome
from clara.settings import resources

Say = Callable[[str], None]
Progress = Callable[[int, int], None]
FINE, FINDINGS, COULD_NOT_RUN = 0, 1, 2
# After so many requests in a row that were not served, the rest is left to the next run: each takes up to a minute and a half.
STRIKES: Final = 3
ALERTS_A_POST: Final = 20


class WatchError(Invalid):
    """What was asked for cannot be done. The message says what to do instead."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """What to read: one day, the last so many, or what is missing; and whether and where new alerts are posted."""

    day: date | None = None
    days: int | None = None
    notify: bool = False
    webhook: str = ""


@dataclass(frozen=True, slots=True)
class Means:
    """What a run reads with: how the gazette is asked, and the time."""

    pace: Pace = field(default_factory=Pace)
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class DayRead:
    """What came of a day: how it is recorded, what concerns us, documents asked for, and whether the gazette was out."""

    reading: Reading
    concerns: tuple[Concern, ...] = ()
    documents: int = 0
    out: bool = False


@dataclass(slots=True)
class Run:
    """What a run has done so far."""

    plan: Plan
    days: list[DayRead] = field(default_factory=list)
    found: list[str] = field(default_factory=list)
    left: list[date] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    untold: str = ""


def check(services: Container, chosen: Chosen, say: Say, progress: Progress, means: Means | None = None) -> Outcome:
    """Read what is missing of the gazette, keep what concerns us, and post it if that was asked for.

    Exit code 0: nothing new; 1: new alerts; 2: a day could not be read, or the webhook took nothing (the rest was done).
    Raises WatchError, DataError, StoreUnavailableError.
    """
    means = means or Means()
    webhook = chosen.webhook or services.settings.secret("clara_alert_webhook")
    if chosen.notify and not webhook:
        raise WatchError("there is nowhere to post alerts; set CLARA_ALERT_WEBHOOK, or give --webhook")
    store = PostgresGazette(services.engine)
    run = Run(_plan(store, chosen, means.clock().astimezone(MADRID).date()))
    watched = watched_by(services, say)
    known = {} if chosen.day else store.known()
    with _gazette(services, means.pace) as gazette:
        for number, day in enumerate(run.plan.days):
            progress(number, len(run.plan.days))
            _take(run, day, lambda day: read_day(gazette, day, watched, known.get(day)), store, means.clock())
        requests = gazette.requests
    progress(len(run.plan.days), len(run.plan.days))
    if chosen.notify:
        _tell(run, store, webhook, means.clock())
    report = _report(run, store.alerts(run.found), requests)
    say(page(report))
    return Outcome(_exit_code(run), report)


def open_alerts(services: Container) -> list[dict[str, Any]]:
    """Give the alerts that nobody has looked at, the newest first. Raises StoreUnavailableError."""
    return [alert_as_json(alert) for alert in PostgresGazette(services.engine).alerts(unseen=True)]


def seen(services: Container, item_id: str, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
    """Record that a person has looked at an alert, in the audit log too. Raises WatchError, StoreUnavailableError."""
    engine = services.engine
    if not PostgresGazette(engine).seen(item_id, clock()):
        raise WatchError(f"there is no alert {item_id}; `clara boe` lists those that nobody has looked at")
    PostgresAudit(engine).record("cli", "boe seen", item_id)


def watched_by(services: Container, say: Say) -> Watched:
    """Put together what is looked for: the norms that facts cite, their names, our words. Raises DataError."""
    catalogue = services.snapshot().knowledge.catalogue
    data = resources() / "data"
    norms = read_norms(data)
    cited = cited_by(catalogue.procedures.values())
    for fault in unnamed(norms, cited):
        say(f"Titles that name this norm are not noticed: {fault}")
    return Watched(read_rules(data, catalogue.procedures), cited, NormNames(norms), spanish_names(catalogue))


def read_day(gazette: Gazette, day: date, watched: Watched, before: KnownDay | None) -> DayRead:
    """Read a day's summary and the documents in it that are worth a request.

    Of a day that was read before and has got no more items, only the documents of the sections that are read again.
    """
    try:
        found = gazette.day(day)
    except NoIssueError:
        if before and before.state is DayState.READ:
            return DayRead(Reading(day, DayState.FAILED, error="the gazette had this day and now says that it has not"))
        return DayRead(Reading(day, DayState.NONE))
    except (GazetteUnavailableError, GazetteFormatError) as error:
        return DayRead(Reading(day, DayState.FAILED, error=str(error)), out=isinstance(error, GazetteUnavailableError))
    items = list(found.items)
    again = before is not None and before.state is DayState.READ and before.items == len(items)
    sections = watched.rules.read_again_sections
    wanted = [item for item in items if worth_reading(item, watched) and not (again and item.section not in sections)]
    documents, faults, out = _documents(gazette, wanted)
    concerning = tuple(concern for item in items if (concern := concerns(item, documents.get(item.id), watched)))
    state = DayState.FAILED if faults else DayState.READ
    reading = Reading(day, state, len(found.issues), len(items), "; ".join(faults) or None)
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


def _plan(store: PostgresGazette, chosen: Chosen, today: date) -> Plan:
    if chosen.day is None:
        return store.missing(today, chosen.days)
    if chosen.day > today:
        raise WatchError(f"{chosen.day} has not come yet; in Madrid it is {today}")
    return Plan((chosen.day,))


def _take(run: Run, day: date, read: Callable[[date], DayRead], store: PostgresGazette, now: datetime) -> None:
    """Read a day and keep it; once the gazette was out for several in a row, the others wait for the next run."""
    if len(run.days) >= STRIKES and all(past.out for past in run.days[-STRIKES:]):
        run.left.append(day)
        return
    done = read(day)
    run.days.append(done)
    run.found += store.keep(done.reading, done.concerns, now)


def _tell(run: Run, store: PostgresGazette, webhook: str, now: datetime) -> None:
    def post(alerts: list[Alert]) -> None:
        post_alert(webhook, message_of([alert_as_json(alert) for alert in alerts]))

    try:
        while told := store.tell(post, now, ALERTS_A_POST):
            run.told += told
    except AlertNotTakenError as error:
        run.untold = str(error)


@contextmanager
def _gazette(services: Container, pace: Pace) -> Iterator[BoeClient]:
    client = BoeClient(services.settings.boe_base_url, pace)
    try:
        yield client
    finally:
        client.close()


def _exit_code(run: Run) -> int:
    failed = any(done.reading.state is DayState.FAILED for done in run.days)
    if failed or run.left or run.plan.behind or run.untold:
        return COULD_NOT_RUN
    return FINDINGS if run.found else FINE


def _report(run: Run, alerts: list[Alert], requests: int) -> Mapping[str, Any]:
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
