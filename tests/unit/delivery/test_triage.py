"""By which lane a message goes, told at intake."""

from dataclasses import replace
from datetime import UTC, datetime
from threading import Event

import pytest
from structlog.testing import capture_logs

from clara.delivery.message import Incoming, Lane, Report
from clara.delivery.ports import StoreUnavailableError
from clara.delivery.records import read, written
from clara.delivery.triage import LONG_CHARACTERS, MOST_WAITING, LongReader, TriagingInbox

CRY = "quiero morir"
STORY = "Llevo tres meses esperando. " * 100


def in_danger(text: str) -> bool:
    return CRY in text


class Inbox:
    """Keeps what it is given; knows each id once."""

    def __init__(self) -> None:
        self.lanes: dict[str, Lane] = {}

    def accept(self, incoming: Incoming) -> bool:
        known = incoming.sid in self.lanes
        self.lanes.setdefault(incoming.sid, incoming.lane)
        return not known


def message(text: str | None, sid: str = "SM1") -> Incoming:
    return Incoming(sid, "whatsapp", "whatsapp:+34600000001", "whatsapp:+15555550100", text)


@pytest.mark.parametrize(
    ("text", "lane", "later"),
    [
        pytest.param("¿Cuánto cuesta el NIE?", Lane.ORDINARY, False, id="question"),
        pytest.param(None, Lane.ORDINARY, False, id="voice-note"),
        pytest.param(CRY, Lane.EMERGENCY, False, id="cry"),
        pytest.param("x" * LONG_CHARACTERS, Lane.ORDINARY, False, id="not-yet-long"),
        pytest.param("x" * (LONG_CHARACTERS + 1), Lane.LONG, True, id="long"),
        pytest.param(f"{STORY}{CRY} {STORY}", Lane.LONG, True, id="cry-in-a-long-one"),
    ],
)
def test_a_message_goes_by_its_lane(text: str | None, lane: Lane, later: bool) -> None:
    """Who is in danger by that of emergencies; a long text is acknowledged first and read then."""
    inbox, read_later = Inbox(), list[tuple[str, str]]()
    assert TriagingInbox(inbox, in_danger, lambda *said: read_later.append(said)).accept(message(text))
    assert (inbox.lanes, read_later) == ({"SM1": lane}, [("SM1", text)] if later else [])


def test_a_long_message_that_was_known_is_not_read_again() -> None:
    """Its lane was told when it came first."""
    read_later: list[str] = []
    inbox = TriagingInbox(Inbox(), in_danger, lambda sid, _text: read_later.append(sid))
    assert [inbox.accept(message(STORY)), inbox.accept(message(STORY))] == [True, False]
    assert read_later == ["SM1"]


def test_a_cry_in_a_long_message_is_hastened() -> None:
    """Only that one, and an outage of the store stops nobody; the log says nothing of what was read."""
    hastened: list[str] = []

    def hasten(sid: str) -> None:
        hastened.append(sid)
        if sid == "SM2":
            raise StoreUnavailableError("away")

    with capture_logs() as logs:
        reader = LongReader(in_danger, hasten)
        for number, text in enumerate((STORY, f"{STORY}{CRY}", f"{CRY}{STORY}"), start=1):
            reader.read(f"SM{number}", text)
        reader.close()
    assert hastened == ["SM2", "SM3"]
    assert [log["event"] for log in logs] == ["emergency not hastened"]
    assert CRY not in str(logs)


def test_too_many_long_messages_hold_up_nobody() -> None:
    """While one is read so many wait; whoever brings more does not wait for them."""
    begun, gate, seen = Event(), Event(), list[str]()

    def slowly(text: str) -> bool:
        seen.append(text)
        begun.set()
        return not gate.wait(200.0)

    reader = LongReader(slowly, lambda _sid: None)
    reader.read("SM0", "first")
    assert begun.wait(200.0)
    with capture_logs() as logs:
        for number in range(MOST_WAITING + 5):
            reader.read(f"SM{number}", str(number))
    gate.set()
    reader.close()
    assert len(logs) == 5
    assert seen == ["first", *map(str, range(MOST_WAITING))]


def test_the_lane_outlives_the_spool() -> None:
    """What waits on the disk keeps its lane; a record of the previous release names none and goes with the others."""
    kept = Incoming("SM1", "whatsapp", "a", "b", CRY, lane=Lane.EMERGENCY)
    record = written(kept, lambda: datetime(2026, 11, 21, tzinfo=UTC))
    assert read(record).lane is Lane.EMERGENCY
    assert read(record.replace(b', "lane": "emergency"', b"")).lane is Lane.ORDINARY


def test_a_report_outlives_the_spool() -> None:
    """It keeps for how long sending again may help; a record of the previous release does not say so, and is of a day."""
    report = Report(7, "SM1", "failed", "63018", 60.0)
    record = written(report, lambda: datetime(2026, 11, 21, tzinfo=UTC))
    assert read(record) == report
    assert read(record.replace(b', "resend_within": 60.0', b"")) == replace(report, resend_within=24 * 3600.0)
