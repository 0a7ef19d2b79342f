"""Tests of what may be written to the log."""

import json
from collections.abc import Iterator

import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st

from clara.logs import ALLOWED, allow_listed, configure_logs


@pytest.fixture
def _unconfigured() -> Iterator[None]:
    """Undo what a test configured."""
    yield
    structlog.reset_defaults()


@pytest.mark.parametrize("field", ["sender", "recipient", "text", "body", "phone", "question", "sid", "Status", "event2"])
def test_other_fields_are_dropped(field: str) -> None:
    """A field that is not on the list is not written, whatever it holds."""
    assert allow_listed(None, "info", {"event": "message accepted", field: "whatsapp:+34600"}) == {"event": "message accepted"}


@pytest.mark.parametrize("field", sorted(ALLOWED))
def test_listed_fields_stay(field: str) -> None:
    """A field on the list is written as it is."""
    assert allow_listed(None, "info", {field: 1}) == {field: 1}


@pytest.mark.parametrize("field", ["sender", "recipient", "text", "question", "phone", "sid", "body", "name", "passage"])
def test_nothing_personal_is_listed(field: str) -> None:
    """No field for a person's address or words is on the list."""
    assert field not in ALLOWED


@given(st.dictionaries(st.text() | st.sampled_from(sorted(ALLOWED)), st.text()))
def test_any_event(event: dict[str, str]) -> None:
    """Of any event exactly the listed fields remain."""
    assert allow_listed(None, "info", dict(event)) == {name: event[name] for name in event.keys() & ALLOWED}


@pytest.mark.usefixtures("_unconfigured")
def test_line(capsys: pytest.CaptureFixture[str]) -> None:
    """An event is one JSON line on standard error, with level and time, without fields that are not listed."""
    configure_logs()
    structlog.get_logger().info("message accepted", new=True, sender="whatsapp:+34600", text="mi dirección es")
    out, err = capsys.readouterr()
    line = json.loads(err)
    assert out == ""
    assert (line["event"], line["level"], line["new"]) == ("message accepted", "info", True)
    assert set(line) == {"event", "level", "new", "timestamp"}


@pytest.mark.usefixtures("_unconfigured")
def test_exception(capsys: pytest.CaptureFixture[str]) -> None:
    """An exception is written with its traceback in the same line."""
    configure_logs()
    try:
        1 / 0  # noqa: B018
    except ZeroDivisionError:
        structlog.get_logger().exception("part is down", part="search")
    line = json.loads(capsys.readouterr().err)
    assert (line["level"], line["part"]) == ("error", "search")
    assert "ZeroDivisionError" in line["exception"]


@pytest.mark.usefixtures("_unconfigured")
def test_level(capsys: pytest.CaptureFixture[str]) -> None:
    """Events below the level are not written."""
    configure_logs()
    structlog.get_logger().debug("detail")
    assert capsys.readouterr().err == ""
