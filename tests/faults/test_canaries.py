"""The search for addresses and words finds them wherever they stand."""

from pathlib import Path
from random import Random

import psycopg
import pytest
from tests.faults.canaries import in_database, in_files
from tests.faults.plan import Shape, canary, plan_messages

MESSAGES = plan_messages(1, Shape(20, 10.0, senders=20))
SENDERS = sorted({message.sender for message in MESSAGES})


@pytest.mark.parametrize("personal", [SENDERS[0], SENDERS[-1], canary(Random(1))])
def test_a_log_with_something_personal_is_found_out(tmp_path: Path, personal: str) -> None:
    """The finding names file and line, and does not repeat what it found."""
    log = tmp_path / "web.log"
    log.write_text(f"fine\nreceived {personal}!\n")
    (found,) = in_files([log])
    assert found.startswith("web.log:2 ")
    assert personal not in found


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("sender", "%s"),
        ("pseudonym", "who%sever"),
        ("media_types", "{%s}"),
        ("address", "%s"),
    ],
)
@pytest.mark.parametrize("personal", [SENDERS[0], SENDERS[-1], canary(Random(1))])
def test_a_column_with_something_personal_is_found_out(empty_url: str, column: str, value: str, personal: str) -> None:
    """In text, inside lists and in bytes; the texts of messages themselves may hold what they like."""
    row = {"message_sid": "SM1", "channel": "whatsapp", "pseudonym": "p", "body": f"{personal} {SENDERS[0]}"}
    with psycopg.connect(empty_url) as connection:
        for sid, changed in (("SM1", {}), ("SM2", {column: value % personal})):
            values = row | {"message_sid": sid} | changed
            if "address" in values:
                values["address"] = values["address"].encode()
            names, places = ", ".join(values), ", ".join(["%s"] * len(values))
            connection.execute(f"insert into inbox ({names}) values ({places})", list(values.values()))  # noqa: S608
    found = list(in_database(empty_url, SENDERS))
    assert [text.split(" ")[0] for text in found] == [f"inbox.{column}"]
