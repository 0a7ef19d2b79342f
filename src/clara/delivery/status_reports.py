"""What becomes of a part of a reply when the channel reports on it: one state, in whatever order the reports come.

The states form a chain, and a part stays at the furthest one that was reported. Two things are decided here:

- Arrival outweighs failure. Who has read a message has it, whatever else was said of it, and nothing may be sent again.
- A failure for the channel's rate is not the end: the part waits again, and the failed message's id is superseded. What is
  said of that id later is ignored, unless it is that the message arrived after all while the part still waits: then the
  channel has contradicted itself, and sending again would bring the part out twice. So {failed for its rate, delivered}
  ends as delivered in both orders.
"""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from clara.delivery.message import Report

PENDING: Final = "pending"
ARRIVED: Final = ("delivered", "read")
FAILED: Final = ("canceled", "undelivered", "failed")
# Our own `sent` means that the channel took the part, so a channel's steps towards `sent` are news and its own `sent` is none.
PROGRESS: Final = (PENDING, "sent", "accepted", "scheduled", "queued", "sending", *FAILED, *ARRIVED)
REPORTED: Final = frozenset(PROGRESS) - {PENDING}
# A limit that still holds after so many tries in a row is no burst: a day's allowance is used up, or the account is blocked.
MOST_RESENDS: Final = 3


@dataclass(frozen=True, slots=True)
class ReplyPart:
    """A part of a reply as it is stored. `timely` says that it may still be sent again."""

    status: str = PENDING
    error_code: str | None = None
    provider_sid: str | None = None
    superseded_sids: tuple[str, ...] = ()
    resends: int = 0
    timely: bool = True


class Finding(StrEnum):
    """What a report turned out to be."""

    NEWS = "news"
    KNOWN = "known"
    TRY_AGAIN = "try again"
    SUPERSEDED = "superseded"
    ANOTHER = "another message"


def hopeful(report: Report) -> bool:
    """Whether the report is of a failure that another try may overcome."""
    return report.resend_within > 0 and report.status in FAILED and report.status != "canceled"


def merge(part: ReplyPart, report: Report) -> tuple[ReplyPart, Finding]:
    """Give the part as it is after the report, whose status must be one of REPORTED, and what the report was.

    A part without an id takes the report's: our number of the part is in the signed address, so the channel took it, and
    its answer was lost or is slower. Whatever is stored then, no try of the part has an unknown outcome any more.
    """
    sid = report.provider_sid
    if sid in part.superseded_sids:
        return _contradicted(part, report)
    if part.provider_sid not in {None, sid}:
        return part, Finding.ANOTHER
    if hopeful(report) and _may_go_again(part):
        return _waiting_again(part, sid), Finding.TRY_AGAIN
    taken = replace(part, provider_sid=sid)
    if _place(part.status, part.error_code) < _place(report.status, report.error_code):
        taken = replace(taken, status=report.status, error_code=report.error_code)
    return taken, Finding.KNOWN if taken == part else Finding.NEWS


def _contradicted(part: ReplyPart, report: Report) -> tuple[ReplyPart, Finding]:
    if part.status != PENDING or report.status not in ARRIVED:
        return part, Finding.SUPERSEDED
    arrived = replace(
        part,
        status=report.status,
        error_code=report.error_code,
        provider_sid=report.provider_sid,
        superseded_sids=tuple(sid for sid in part.superseded_sids if sid != report.provider_sid),
        resends=part.resends - 1,
    )
    return arrived, Finding.NEWS


def _may_go_again(part: ReplyPart) -> bool:
    return part.status not in ARRIVED and part.resends < MOST_RESENDS and part.timely


def _waiting_again(part: ReplyPart, sid: str) -> ReplyPart:
    return replace(
        part,
        status=PENDING,
        error_code=None,
        provider_sid=None,
        superseded_sids=(*part.superseded_sids, sid),
        resends=part.resends + 1,
    )


def _place(status: str, error_code: str | None) -> tuple[int, str]:
    """Order states; among failures of one kind the greater code stays, so that the order of reports does not matter."""
    return PROGRESS.index(status), error_code or ""
