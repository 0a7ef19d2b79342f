"""The stand-in for Twilio in a process of its own, so that it never dies and writes down everything that it sees."""

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from threading import Event
from time import monotonic
from typing import Any, Final

from tests.failing_twilio import CallbackOptions, FailingTwilio, FaultMode, FaultPlan, UnreliableReporter

from clara.processes.children import end_with_parent
from clara_lab.stand_ins.twilio_callbacks import Reported
from clara_lab.stand_ins.twilio_server import TakenMessage

STATUSES: Final = ("sent", "delivered", "read")
# Shares of the requests that go wrong when one sends, and when one lists.
SENDING: Final = {
    FaultMode.ACCEPT_THEN_CUT: 0.02,
    FaultMode.ACCEPT_THEN_500: 0.01,
    FaultMode.CUT: 0.01,
    FaultMode.GARBAGE: 0.005,
    FaultMode.TRUNCATED: 0.005,
    FaultMode.RATE: 0.02,
    FaultMode.ERROR: 0.01,
    FaultMode.ACCEPT_SLOW: 0.01,
}
LISTING: Final = {FaultMode.CUT: 0.02, FaultMode.ERROR: 0.02, FaultMode.RATE: 0.01}
LIST_LAG_SECONDS: Final = 1.0
LONGEST_DELAY_SECONDS: Final = 0.5
Write = Callable[[dict[str, Any]], None]


class RecordingReporter(UnreliableReporter):
    """Sends callbacks, and writes down what each said and what came back."""

    def __init__(self, auth_token: str, manner: CallbackOptions, write: Write) -> None:
        super().__init__(auth_token, manner)
        self._write = write

    async def send(self, message: Reported, status: str) -> str:
        began = monotonic()
        outcome = await super().send(message, status)
        seconds = monotonic() - began
        self._write({
            "at": began, "seconds": seconds, "sid": message.sid, "status": status, "outcome": outcome,
            "callback": message.callback,
        })  # fmt: skip
        return outcome


def writing(path: Path) -> Write:
    """Build what appends a line to a file."""
    file = path.open("a", encoding="utf-8", buffering=1)
    return lambda line: file.write(json.dumps(line) + "\n") and None


def stand_in(account: str, token: str, folder: Path, seed: int | None) -> FailingTwilio:
    """Build the stand-in; with a seed it makes faults, shuffles and repeats callbacks."""
    write = writing(folder / "taken.jsonl")

    def taken(message: TakenMessage) -> None:
        write({
            "at": message.at, "sid": message.sid, "sender": message.sender, "recipient": message.recipient,
            "body": message.body, "reply": message.reply,
        })  # fmt: skip

    made = FailingTwilio(account, token, taken)
    manner = CallbackOptions(STATUSES)
    if seed is not None:
        made.plan = FaultPlan(seed, SENDING)
        made.list_plan = FaultPlan(seed + 1, LISTING)
        made.list_lag = LIST_LAG_SECONDS
        manner = CallbackOptions(STATUSES, shuffled=True, delay=LONGEST_DELAY_SECONDS, repeated=0.2, seed=seed)
    made.callbacks = RecordingReporter(token, manner, writing(folder / "told.jsonl"))
    return made


def main() -> None:
    """Serve until standard input closes or SIGTERM comes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--account", required=True)
    parser.add_argument("--token", required=True)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--seed", type=int, help="make faults; without it everything goes well")
    chosen = parser.parse_args()
    end_with_parent()
    stand_in(chosen.account, chosen.token, chosen.folder, chosen.seed).serve(chosen.port)
    Event().wait()


if __name__ == "__main__":
    main()
