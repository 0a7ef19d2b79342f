"""What the webhook reads of Twilio's forms, and what it answers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from structlog.testing import capture_logs
from tests.unit.channels.twilio.signed_forms import MESSAGE, PUBLIC_URL, SID, STATUS, Listener, signature

from clara.channels.twilio.forms import MAX_TEXT, incoming_of, report_of
from clara.delivery.message import Incoming, Report
from clara.delivery.ports import StoreUnavailableError

FORM = {"MessageSid": SID, "MessageStatus": "failed", "ErrorCode": "63018"}
ANYTHING = st.text(st.characters(exclude_categories=[]), max_size=40)


class Away(Listener):
    """A listener whose store is away."""

    def accept(self, incoming: Incoming) -> bool:
        raise StoreUnavailableError("host=10.0.0.1 is away")

    def delivery(self, report: Report) -> bool:
        raise StoreUnavailableError("host=10.0.0.1 is away")


def test_a_report() -> None:
    """Number, id, status and code are read, and whether sending again may help."""
    assert report_of(FORM, "12", 60.0) == Report(12, SID, "failed", "63018", 60.0)
    assert report_of({"MessageSid": SID, "MessageStatus": "read"}, "12", 60.0) == Report(12, SID, "read", None)


@pytest.mark.parametrize("reply", [None, "", "-1", "1x", " 1", "1\t", "1_0", "٣", "²", "1.0", "9" * 20, "9" * 5_000, "\ud800"])
def test_no_number_no_report(reply: str | None) -> None:
    """A report whose address has no number of ours names no reply."""
    assert report_of(FORM, reply, 60.0) is None


@pytest.mark.parametrize("sid", ["", "S" * 65, "S" * 100_000])
def test_no_id_no_report(sid: str) -> None:
    """Without an id, or with one that cannot be, neither a report nor a message is read."""
    assert report_of({**FORM, "MessageSid": sid}, "12", 60.0) is None
    assert incoming_of({"MessageSid": sid, "From": "whatsapp:+1"}) is None


@pytest.mark.parametrize("code", ["", "0", "00", "x", "-63018", "63018 ", "٣", "9" * 5_000, "\ud800", "\x00"])
def test_no_code(code: str) -> None:
    """What is no code of an error is none."""
    assert report_of({**FORM, "ErrorCode": code}, "12", 60.0) == Report(12, SID, "failed", None)


@given(st.dictionaries(st.sampled_from([*FORM, "SmsStatus", "To"]), ANYTHING), ANYTHING | st.none())
def test_any_report(form: dict[str, str], reply: str | None) -> None:
    """Any form is read or refused, never an error."""
    report = report_of(form, reply, 60.0)
    assert report is None or (report.provider_sid and 0 <= report.outgoing_id < 10**19)


def test_a_long_text_is_cut() -> None:
    """More text than WhatsApp takes is cut well above its limit; addresses that cannot be make no message."""
    form = {"MessageSid": SID, "From": "whatsapp:+1", "Body": "ñ" * 100_000, "NumMedia": "1", "MediaContentType0": "x" * 9_000}
    incoming = incoming_of(form)
    assert len(incoming.text) == MAX_TEXT > 4_096
    assert len(incoming.media_types[0]) < 1_000
    assert incoming_of({**form, "From": "x" * 1_000}) is None
    assert incoming_of({**form, "To": "x" * 1_000}) is None


@pytest.mark.parametrize("path", ["/webhook", "/webhook/fallback"])
def test_the_fallback_takes_messages_too(path: str) -> None:
    """Both addresses take a message, each under its own signature, and say in the log which it was."""
    listener = Listener()
    with capture_logs() as logs:
        assert listener.post(path, MESSAGE, signature(PUBLIC_URL + path, MESSAGE)) == 200
    assert [(log["event"], log["path"]) for log in logs] == [("message accepted", path)]
    other = "/webhook" if path != "/webhook" else "/webhook/fallback"
    with capture_logs() as logs:
        assert listener.post(path, MESSAGE, signature(PUBLIC_URL + other, MESSAGE)) == 403
    assert [(log["event"], log["path"]) for log in logs] == [("webhook refused", path)]
    assert [incoming.sid for incoming in listener.messages] == [SID]


@pytest.mark.parametrize("path", ["/webhook", "/webhook/fallback", "/webhook/status?reply=1"])
def test_a_store_that_is_away(path: str) -> None:
    """The answer is 503, so that the channel turns to the fallback, without the address of the database."""
    fields = STATUS if "status" in path else MESSAGE
    answer = Away().client.post(path, data=dict(fields), headers={"X-Twilio-Signature": signature(PUBLIC_URL + path, fields)})
    assert answer.status_code == 503
    assert "10.0.0.1" not in answer.text


def test_a_report_without_a_number_is_acknowledged() -> None:
    """Twilio is not asked to repeat what cannot be attributed."""
    listener = Listener()
    url = f"{PUBLIC_URL}/webhook/status"
    assert listener.post("/webhook/status", STATUS, signature(url, STATUS)) == 204
    assert listener.reports == []
