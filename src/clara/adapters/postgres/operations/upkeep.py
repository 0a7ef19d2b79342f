"""What must be done regularly, whoever does it: bounded, and safe in several processes at the same time."""

from collections.abc import Mapping
from typing import Final

import structlog
from sqlalchemy import Engine

from clara.adapters.postgres.delivery.inbox import KEPT_DAYS, Schedule
from clara.adapters.postgres.delivery.turn_store import lock_of
from clara.adapters.postgres.statements import AtOnce
from clara.answering.privacy.rights import FIGURE_DAYS, TEXT_DAYS
from clara.delivery.message import Incoming
from clara.delivery.ports import Sealer, StoreUnavailableError
from clara.delivery.records import seal_address

# Any constant: one process reschedules at a time, because another one would not see the first one's jobs yet.
RESCHEDULING: Final = 5_305_002
# A bite at a time. At one a minute 7.2 million rows a day go: what the rated 80 questions a second leave in a day, 6.9 million.
MOST: Final = 5_000
# Twilio reports a failure for its rate within seconds of taking a message; until then the receipt may have to be sent again.
REPORTED_WITHIN_SECONDS: Final = 45
OLD_TEXT: Final = {"days": TEXT_DAYS, "at_once": MOST}
# Whoever does not want to be remembered is not kept for a month either.
OLD_UNREMEMBERED_TEXT: Final = {"days": 1, "at_once": MOST}
OLD_FIGURES: Final = {"days": FIGURE_DAYS, "at_once": MOST}
# What is forgotten as time goes by, one statement each.
FORGETTING: Final[Mapping[str, Mapping[str, int]]] = {
    "upkeep.forget_addresses": {},
    "upkeep.settle_receipts": {"reported_within": REPORTED_WITHIN_SECONDS, "at_once": MOST},
    "upkeep.forget_messages": OLD_TEXT,
    "upkeep.forget_replies": OLD_TEXT,
    "upkeep.forget_alarms": OLD_TEXT,
    "upkeep.forget_unremembered_alarms": OLD_UNREMEMBERED_TEXT,
    "upkeep.forget_unremembered_messages": OLD_UNREMEMBERED_TEXT,
    "upkeep.forget_unremembered_replies": OLD_UNREMEMBERED_TEXT,
    "upkeep.forget_figures": OLD_FIGURES,
    "upkeep.forget_choices": OLD_FIGURES,
    "forget_usage": {"days": KEPT_DAYS},
}
log = structlog.get_logger()


class PostgresUpkeep:
    """Seals what the previous release left in clear, finds messages that nobody would answer, forgets what has had its time."""

    def __init__(self, engine: Engine, sealer: Sealer, schedule: Schedule) -> None:
        self._at_once = AtOnce(engine, StoreUnavailableError)
        self._sealer = sealer
        self._schedule = schedule

    def run(self) -> None:
        """Do everything once; an outage is logged and left to the next time."""
        try:
            self._seal_plain()
            self._reschedule()
            for name, values in FORGETTING.items():
                self._at_once.changed(name, **values)
        except StoreUnavailableError as error:
            log.warning("upkeep put off", error=str(error))

    def _seal_plain(self) -> None:
        """Seal addresses in clear that no worker of the previous release can need, at most 500 at once."""
        with self._at_once.transaction() as together:
            for row in together.rows("upkeep.plain"):
                ends = Incoming(row.message_sid, row.channel, row.sender, row.recipient or "", None)
                together.changed("upkeep.seal", id=row.id, address=seal_address(ends, self._sealer))

    def _reschedule(self) -> None:
        """Schedule what waits without a job."""
        with self._at_once.transaction() as together:
            if not together.value("upkeep.alone", rescheduling=RESCHEDULING):
                return
            rows = [*together.rows("upkeep.without_job"), *together.rows("upkeep.receipt_without_job")]
            for row in rows:
                self._schedule(together.connection, row.id, lock_of(row.id, row.pseudonym))
        if rows:
            log.error("messages found that had no job", count=len(rows))
