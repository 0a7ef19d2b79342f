"""A worker as `clara worker` is, but for one thing: who writes the replies, or that embedding is metered.

With `--journal` a stand-in for the writer waits and names the question in its reply. With `--meter` Clara herself answers.
"""

import argparse
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from time import monotonic, sleep, thread_time
from typing import Any

from tests.faults.answering import notice_text, reply_text

from clara.answering.message import Reply, ReplyStatus
from clara.cli.command import staying
from clara.container import Container
from clara.delivery.message import Case
from clara.processes.worker import build_worker
from clara.retrieval.ports import Embedder, Role


def journal_at(path: Path) -> Callable[[dict[str, Any]], None]:
    """Build what appends a line to a journal, written at once: it must survive a kill."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def note(line: dict[str, Any]) -> None:
        os.write(descriptor, (json.dumps({"at": monotonic(), "pid": os.getpid(), **line}) + "\n").encode())

    return note


def stand_in_writer(seconds: float, journal: Path) -> Callable[[Case], Reply]:
    """Build the stand-in. Each beginning is a line of `journal`."""
    note = journal_at(journal)

    def answer(case: Case) -> Reply:
        note({"sid": case.incoming.sid})
        question = case.incoming.text or ""
        if case.limit is not None:
            return Reply(notice_text(case.limit.value, question), ReplyStatus.COMMAND, "es")
        sleep(seconds)
        return Reply(reply_text(question), ReplyStatus.ANSWERED, "es", timings_ms={"total": seconds * 1000})

    return answer


class MeteredEmbedder:
    """Writes down the processor time of each call of an embedder that computes in the caller's thread; never a text."""

    def __init__(self, embedder: Embedder, journal: Path) -> None:
        self._embedder = embedder
        self._note = journal_at(journal)
        self.model = embedder.model
        self.dimensions = embedder.dimensions

    def embed(self, texts: Sequence[str], role: Role) -> list[list[float]]:
        """Embed as the embedder does; it raises what that raises."""
        began = thread_time()
        vectors = self._embedder.embed(texts, role)
        self._note({"seconds": thread_time() - began})
        return vectors


def meter(services: Container, journal: Path) -> None:
    """Put a meter around the bundled embedder, before anything that embeds is built."""
    embedder = MeteredEmbedder(services.embedder, journal)
    services.embedder = embedder


def main() -> None:
    """Work until told to stop."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--writer-ms", type=float, default=20.0)
    how = parser.add_mutually_exclusive_group(required=True)
    how.add_argument("--journal", type=Path, help="let the stand-in write, and note here which message it began when")
    how.add_argument("--meter", type=Path, help="let Clara answer, and note here what each embedding cost")
    chosen = parser.parse_args()
    with staying(attached=True) as services:
        if chosen.meter:
            meter(services, chosen.meter)
            build_worker(services).run()
        else:
            build_worker(services, stand_in_writer(chosen.writer_ms / 1000, chosen.journal)).run()


if __name__ == "__main__":
    main()
