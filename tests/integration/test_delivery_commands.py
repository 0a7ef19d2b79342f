"""`clara delivery`: what an operator sees of messages on their way, as a person runs it."""

import json
from pathlib import Path

from tests.integration.delivering import store_on
from tests.integration.wired import CommandLine


def test_an_operator_finds_what_waits_and_what_was_set_aside(empty_url: str, tmp_path: Path) -> None:
    """A message that broke its worker twice is listed until a person has looked at it; its text only when asked for."""
    clara = CommandLine(empty_url, CLARA_SPOOL=str(tmp_path / "spool"))
    try:
        clean = clara("delivery", "status", "--json")
        assert (clean.code, json.loads(clean.out)["unanswered"]) == (0, 0)
        with store_on(empty_url) as store:
            number = store.accept("SM1")
            for _ in range(3):  # begun, and never answered
                store.desk.begin(number)
            assert json.loads(clara("delivery", "status", "--json").out) | {"unanswered_for": 0} == {
                "unanswered": 1, "unanswered_for": 0, "unsent": 0, "uncertain": 0, "refused": 0, "over_limit": 0,
                "set_aside": 1, "spooled": 0,
            }  # fmt: skip
            (text,) = store.rows("select body from inbox")[0]
        listed = clara("delivery", "aside")
        assert (listed.code, listed.out.split()[0], text in listed.out) == (1, str(number), False)
        assert text in clara("delivery", "aside", "--text").out
        assert clara("delivery", "looked-at", number).code == 0
        assert clara("delivery", "aside").code == 0
        again = clara("delivery", "looked-at", number)
        assert (again.code, "clara delivery aside" in again.err, again.raised) == (2, True, None)
    finally:
        clara.close()
