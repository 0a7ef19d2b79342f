"""A worker as `clara worker` is, but for the writer: a stand-in that waits and names the question in its reply."""

import argparse
import json
import os
from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep

from tests.faults.answering import notice_text, reply_text

from clara.cli.running import staying
from clara.conversation.message import Reply, ReplyStatus
from clara.delivery.message import Case
from clara.jobs.working import build_worker


def stand_in_writer(seconds: float, journal: Path) -> Callable[[Case], Reply]:
    """Build the stand-in. Each beginning is a line of `journal`, written at once: it must survive a kill."""
    descriptor = os.open(journal, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def answer(case: Case) -> Reply:
        line = json.dumps({"at": monotonic(), "pid": os.getpid(), "sid": case.incoming.sid}) + "\n"
        os.write(descriptor, line.encode())
        question = case.incoming.text or ""
        if case.limit is not None:
            return Reply(notice_text(case.limit.value, question), ReplyStatus.COMMAND, "es")
        sleep(seconds)
        return Reply(reply_text(question), ReplyStatus.ANSWERED, "es", timings_ms={"total": seconds * 1000})

    return answer


def main() -> None:
    """Work until told to stop."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--writer-ms", type=float, default=20.0)
    parser.add_argument("--journal", type=Path, required=True)
    chosen = parser.parse_args()
    with staying(attached=True) as services:
        build_worker(services, stand_in_writer(chosen.writer_ms / 1000, chosen.journal)).run()


if __name__ == "__main__":
    main()
