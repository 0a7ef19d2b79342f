"""Recording what the channel says became of a reply: one statement for all that come at once, a lock for the strange ones."""

from collections import deque
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, replace
from threading import Lock
from typing import Final

import structlog
from sqlalchemy import Engine

from clara.adapters.postgres.corpus.index import storable
from clara.adapters.postgres.delivery.inbox import Schedule, refusals
from clara.adapters.postgres.delivery.turn_store import lock_of
from clara.adapters.postgres.statements import AtOnce, Transaction
from clara.delivery.message import Report
from clara.delivery.ports import RefusedError
from clara.delivery.status_reports import PROGRESS, REPORTED, Finding, ReplyPart, hopeful, merge

LARGEST_NUMBER: Final = 2**63 - 1
log = structlog.get_logger()


@dataclass(slots=True)
class _WaitingReport:
    """A report that waits to be recorded with others."""

    report: Report
    tried: bool = False
    recorded: bool = False


class PostgresReports:
    """Implements delivery's DeliveryReports."""

    def __init__(self, engine: Engine, schedule: Schedule) -> None:
        self._at_once = AtOnce(engine)
        self._schedule = schedule
        self._asked: deque[_WaitingReport] = deque()
        self._forwarding = Lock()

    def delivery(self, report: Report) -> bool:
        """Record a report; False when there is no such reply, or the status is unknown. Raises StoreUnavailableError."""
        if report.status not in REPORTED or not report.provider_sid or not 0 < report.outgoing_id <= LARGEST_NUMBER:
            return False
        code = storable(report.error_code) if report.error_code else None
        report = replace(report, provider_sid=storable(report.provider_sid), error_code=code)
        try:
            if not hopeful(report) and self._forward(report):
                return True
            with refusals("outbox"), self._at_once.transaction() as together:
                return self._merge(together, report)
        except RefusedError:  # another part is recorded under this id
            log.warning("delivery report of another message")
            return False

    def _forward(self, report: Report) -> bool:
        """Record the report together with those that others are reporting just now: whoever comes first does it for all.

        False: it was not recorded, and has to be looked at alone.
        """
        asked = _WaitingReport(report)
        self._asked.append(asked)
        with self._forwarding:
            if not asked.tried:
                self._forward_waiting()
        return asked.recorded

    def _forward_waiting(self) -> None:
        group = [self._asked.popleft() for _ in range(len(self._asked))]
        for one in group:
            one.tried = True
        recorded = self._recorded({one.report.outgoing_id: one.report for one in group})
        for one in group:
            one.recorded = one.report in recorded

    def _recorded(self, reports: Mapping[int, Report]) -> Collection[Report]:
        told = {
            "numbers": list(reports),
            "sids": [report.provider_sid for report in reports.values()],
            "statuses": [report.status for report in reports.values()],
            "codes": [report.error_code for report in reports.values()],
            "progress": list(PROGRESS),
        }
        try:
            with refusals("outbox"):
                return {reports[row.id] for row in self._at_once.rows("forward_reports", **told)}
        except RefusedError:  # another part is recorded under one of the ids
            return ()

    def _merge(self, together: Transaction, report: Report) -> bool:
        row = together.row("report.held", number=report.outgoing_id)
        if row is None:
            return False
        timely = row.reachable and row.age < report.resend_within
        superseded = tuple(row.superseded_sids)
        before = ReplyPart(row.status, row.error_code, row.provider_sid, superseded, row.resends, timely)
        after, finding = merge(before, report)
        if finding is Finding.ANOTHER:
            log.warning("delivery report of another message")
            return False
        if after != before:
            told = asdict(after) | {"superseded_sids": list(after.superseded_sids)}
            together.changed("report.write", number=row.id, **told)
        if finding is Finding.TRY_AGAIN:
            self._schedule(together.connection, row.inbox_id, lock_of(row.inbox_id, row.pseudonym))
            log.info("reply is sent again", reason=report.error_code, attempts=after.resends)
        return True
