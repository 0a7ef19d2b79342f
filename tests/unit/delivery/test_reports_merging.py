"""What becomes of a part of a reply: the same in whatever order its reports come, and however often."""

import itertools
import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clara.delivery.message import Report
from clara.delivery.records import read
from clara.delivery.status_reports import (
    ARRIVED,
    FAILED,
    MOST_RESENDS,
    PENDING,
    PROGRESS,
    REPORTED,
    Finding,
    ReplyPart,
    hopeful,
    merge,
)

RATE, BLOCKED, OTHER = "63018", "63024", "63003"
# Every status, and failures with several codes: final ones, one for the rate, and without any.
REPORTS = (
    ("accepted", None),
    ("queued", None),
    ("sending", None),
    ("sent", None),
    ("delivered", None),
    ("read", None),
    ("undelivered", RATE),
    ("undelivered", BLOCKED),
    ("failed", None),
    ("failed", RATE),
    ("failed", OTHER),
    ("canceled", None),
)
STARTS = {
    "not sent yet": ReplyPart(),
    "taken": ReplyPart("sent", None, "SM1"),
    "sent again": ReplyPart(PENDING, None, None, ("SM0",), 1),
    "sent too often": ReplyPart("sent", None, "SM1", ("SM0", "SM8", "SM9"), MOST_RESENDS),
    "too late for more": ReplyPart("sent", None, "SM1", timely=False),
}


def after(part: ReplyPart, told: tuple[str, str | None], sid: str = "SM1") -> tuple[ReplyPart, Finding]:
    """Merge a report of a status and a code."""
    return merge(part, Report(1, sid, *told, 60.0 if told[1] == RATE else 0.0))


def after_all(part: ReplyPart, reports: Sequence[tuple[str, str | None]]) -> ReplyPart:
    """Merge reports one after the other."""
    for told in reports:
        part, _ = after(part, told)
    return part


@pytest.mark.parametrize("start", STARTS.values(), ids=STARTS.keys())
def test_any_order_of_up_to_five_reports(start: ReplyPart) -> None:
    """All sequences of up to five reports, repeated ones included, end alike when they hold the same reports as often."""
    parts: dict[tuple[tuple[str, str | None], ...], ReplyPart] = {(): start}
    ends: dict[tuple[int, ...], ReplyPart] = {}
    for length in range(1, 6):
        for sequence in itertools.product(REPORTS[1:10], repeat=length):
            part, _ = after(parts[sequence[:-1]], sequence[-1])
            parts[sequence] = part
            assert ends.setdefault(tuple(sorted(map(REPORTS.index, sequence))), part) == part, sequence
    assert len(parts) == sum(9**length for length in range(6))
    assert len(ends) == 2_001  # multisets of one to five out of nine


@given(st.sampled_from(list(STARTS.values())), st.lists(st.sampled_from(REPORTS), max_size=9), st.randoms())
def test_any_order_of_many_reports(start: ReplyPart, reports: list[tuple[str, str | None]], random: object) -> None:
    """More reports in another order, some of them twice, end alike as well."""
    shuffled = [*reports, *reports[::2]]
    random.shuffle(shuffled)
    assert after_all(start, shuffled) == after_all(start, reports)


@given(st.sampled_from(list(STARTS.values())), st.lists(st.sampled_from(REPORTS), min_size=1, max_size=6))
def test_a_repeated_report_changes_nothing(start: ReplyPart, reports: list[tuple[str, str | None]]) -> None:
    """What was told before is known, wherever it comes again."""
    end = after_all(start, reports)
    for told in reports:
        again, finding = after(end, told)
        assert again == end
        assert finding in {Finding.KNOWN, Finding.SUPERSEDED}


@pytest.mark.parametrize("failure", [(status, code) for status in FAILED for code in (None, BLOCKED)])
def test_who_has_it_has_it(failure: tuple[str, str | None]) -> None:
    """Arrival outweighs failure, whichever is told first, and takes the failure's code away."""
    for arrival, order in itertools.product(ARRIVED, (1, -1)):
        end = after_all(STARTS["taken"], [failure, (arrival, None)][::order])
        assert (end.status, end.error_code) == (arrival, None)


@pytest.mark.parametrize("status", ["undelivered", "failed"])
def test_a_failure_for_the_rate_is_sent_again(status: str) -> None:
    """The part waits again without an id; what is told of the old id no longer counts; the new id is taken."""
    part, finding = after(STARTS["taken"], (status, RATE))
    assert (part, finding) == (ReplyPart(PENDING, None, None, ("SM1",), 1), Finding.TRY_AGAIN)
    for told in (("sent", None), ("queued", None), ("failed", RATE), ("failed", BLOCKED)):
        assert after(part, told) == (part, Finding.SUPERSEDED)
    part, finding = after(part, ("sent", None), "SM2")
    assert (part.status, part.provider_sid, finding) == ("sent", "SM2", Finding.NEWS)
    for told in REPORTS:  # the new message decides now, even if the old one should have arrived
        assert after(part, told) == (part, Finding.SUPERSEDED)


def test_a_channel_that_contradicts_itself_doubles_nothing() -> None:
    """When what failed for its rate arrived after all, and nothing was sent since, it is not sent again."""
    waiting, _ = after(STARTS["sent again"], ("failed", RATE), "SM1")
    arrived, finding = after(waiting, ("read", None), "SM1")
    assert (arrived, finding) == (ReplyPart("read", None, "SM1", ("SM0",), 1), Finding.NEWS)
    for told in REPORTS:
        assert after(arrived, told)[0] == arrived


def test_no_more_than_three_times_and_not_too_late() -> None:
    """After three more tries, and once the window for free text has closed, a failure for the rate is the end."""
    part, statuses = STARTS["taken"], []
    for sid in ("SM1", "SM2", "SM3", "SM4"):
        part, _ = after(part, ("sent", None), sid)
        part, finding = after(part, ("failed", RATE), sid)
        statuses.append((part.status, part.error_code, finding))
    assert statuses == [(PENDING, None, Finding.TRY_AGAIN)] * MOST_RESENDS + [("failed", RATE, Finding.NEWS)]
    late, _ = after(STARTS["too late for more"], ("failed", RATE))
    assert (late.status, late.error_code, late.resends) == ("failed", RATE, 0)


def test_a_canceled_message_is_not_sent_again() -> None:
    """Somebody canceled it on purpose."""
    assert not hopeful(Report(1, "SM1", "canceled", RATE, 60.0))


def test_a_report_of_another_message() -> None:
    """A part that has its id keeps it, and a report of any other says nothing about it."""
    for start, told in itertools.product(("taken", "sent too often"), REPORTS):
        assert after(STARTS[start], told, "SM77") == (STARTS[start], Finding.ANOTHER)


def test_every_status_has_its_place() -> None:
    """Nothing is reported that has no place, and nothing is reported as pending."""
    assert {status for status, _ in REPORTS} | {"scheduled"} == REPORTED == set(PROGRESS) - {PENDING}
    assert len(PROGRESS) == len(set(PROGRESS))


@pytest.mark.parametrize(("code", "again"), [(RATE, True), ("30001", True), (BLOCKED, False), (None, False)])
def test_what_the_previous_release_spooled_goes_out_again(code: str | None, again: bool) -> None:
    """Its records do not say for how long another try may help: for the channel's rate that was always a day."""
    fields = {"outgoing_id": 1, "provider_sid": "SM1", "status": "undelivered", "error_code": code}
    report = read(json.dumps({"kind": "Report", "fields": fields}).encode())
    assert isinstance(report, Report)
    part, finding = merge(ReplyPart("sent", None, "SM1"), report)
    assert (part.status, finding) == ((PENDING, Finding.TRY_AGAIN) if again else ("undelivered", Finding.NEWS))
    assert report.resend_within == (24 * 3600.0 if again else 0.0)
