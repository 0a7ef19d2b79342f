"""Twilio's codes by what they mean."""

import pytest

from clara.channels.twilio.codes import KNOWN, Meaning, judge, retryable_report


@pytest.mark.parametrize(
    ("status", "code", "meaning", "final"),
    [
        (429, None, Meaning.RATE, False),
        (429, "20429", Meaning.RATE, False),
        (429, "99999", Meaning.RATE, False),
        (400, "63018", Meaning.RATE, False),
        (401, None, Meaning.ACCOUNT, False),
        (401, "99999", Meaning.ACCOUNT, False),
        (403, "20005", Meaning.ACCOUNT, False),
        (403, "21610", Meaning.BLOCKED, True),
        (400, "21211", Meaning.INVALID_RECIPIENT, True),
        (400, "63016", Meaning.WINDOW_CLOSED, True),
        (400, "21617", Meaning.TOO_LONG, True),
        (400, "63013", Meaning.CONTENT, True),
        (400, "99999", Meaning.UNKNOWN, True),
    ],
)
def test_judge(status: int, code: str | None, meaning: Meaning, final: bool) -> None:
    """The code decides where it is known, the status otherwise; only a known or plain refusal of the message is final."""
    refusal = judge(status, code)
    assert (refusal.code, refusal.meaning, refusal.final) == (code or str(status), meaning, final)


def test_every_code_has_a_remedy() -> None:
    """The table has no code twice and none without words for the operator."""
    assert all(refusal.code == code and refusal.remedy.endswith(".") for code, refusal in KNOWN.items())


@pytest.mark.parametrize(
    ("code", "worth"),
    [("63018", True), ("30001", True), ("63016", False), ("63024", False), ("20003", False), ("99999", False), (None, False)],
)
def test_reports_worth_another_try(code: str | None, worth: bool) -> None:
    """A message that failed after it was taken is sent again for its rate only."""
    assert retryable_report(code) is worth
