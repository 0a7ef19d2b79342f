"""How the messages on their way stand, for whoever keeps Clara running."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from clara.adapters.postgres.delivery.overview import DeliveryStatus, PostgresOverview, SetAside
from clara.adapters.spool.files import stretches
from clara.adapters.spool.spool import SET_ASIDE, SUFFIX
from clara.container import Container
from clara.errors import NotFound
from clara.web.health import Part

# Turns take a second or two, three at most with what they wait for; whoever waits for ten times that is kept by something.
OVERDUE_SECONDS = 30.0
SAID = {
    "unanswered": "messages without a reply (a worker takes them)",
    "unsent": "replies that wait to be sent",
    "uncertain": "of these, may be on their way: looked for at the channel before they are sent again",
    "refused": "replies that the channel refused or could not deliver, in 24 hours",
    "over_limit": "messages over a limit, in 24 hours",
    "set_aside": "messages that broke their worker: `clara delivery aside`",
    "spooled": "messages and reports in this machine's spool",
}


class UnknownMessageError(NotFound):
    """No message with this number was set aside. `clara delivery aside` lists them."""


def status(services: Container) -> dict[str, Any]:
    """Count what is on its way, with this machine's spool. Raises StoreUnavailableError."""
    found = PostgresOverview(services.engine).status()
    return {**asdict(found), "spooled": _records_in(services.settings.spool)}


def tell(counted: dict[str, Any], say: Callable[[str], None]) -> bool:
    """Say it in words; give whether a person should do something."""
    for name, meaning in SAID.items():
        say(f"{counted[name]:>7}  {meaning}")
    overdue = counted["unanswered_for"] > OVERDUE_SECONDS
    if overdue:
        say(f"The oldest message without a reply waits for {counted['unanswered_for']:.0f} seconds. Does a worker run?")
    return overdue or bool(counted["set_aside"])


def aside(services: Container) -> list[SetAside]:
    """Give the messages that a person should look at."""
    return PostgresOverview(services.engine).set_aside()


def looked_at(services: Container, inbox_id: int) -> None:
    """Record that a person has looked at a message. Raises UnknownMessageError."""
    if not PostgresOverview(services.engine).looked_at(inbox_id):
        raise UnknownMessageError(f"no message {inbox_id} is set aside. `clara delivery aside` lists them.")


def probe(services: Container, waiting_in_spool: Callable[[], int]) -> Part:
    """Say how delivery stands, for the health page. Raises StoreUnavailableError."""
    return part_of(PostgresOverview(services.engine).status(), waiting_in_spool())


def part_of(found: DeliveryStatus, spooled: int) -> Part:
    """Judge by the age of the oldest message without a reply, which is said in seconds whatever the judgement."""
    age = round(found.unanswered_for, 1)
    counted = f"{found.unanswered} unanswered, {found.unsent} unsent, {found.set_aside} set aside, {spooled} spooled"
    rows = {"waiting": {"unanswered": found.unanswered, "oldest_seconds": age, "allowed_seconds": OVERDUE_SECONDS}}
    if age > OVERDUE_SECONDS:
        return Part(ok=False, detail=f"the oldest message waits for {age:.0f} s; {counted}", rows=rows)
    return Part(ok=True, detail=counted, rows=rows)


def _records_in(folder: Path) -> int:
    """Count what the spool files of this machine hold, without touching them: a process may be writing, or removing one."""
    count = 0
    for path in folder.glob("*" + SUFFIX):
        if path.name != SET_ASIDE:
            with suppress(FileNotFoundError):
                count += sum(part.record is not None for part in stretches(path.read_bytes()))
    return count
