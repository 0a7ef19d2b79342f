"""What happens in a run, one JSON object a line, written as it happens: to be looked at with jq or pandas, and to resume from.

Kinds of events: `run_start`, `query_result`, `embedding_batch`, `llm_request`, `run_complete`. Each has `event`, `at` (UTC) and
its own fields; a `query_result` has the question's whole record.
"""

import json
import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Literal

from clara_lab.bench.record import QuestionRecord, finite, question_fields, question_of

Kind = Literal["run_start", "query_result", "embedding_batch", "llm_request", "run_complete", "sentence"]
QUERY_RESULT: Final = "query_result"


def _now() -> datetime:
    return datetime.now(UTC)


class EventLog:
    """Appends events to a file; threads may share it. Each event is one write, so a killed run loses at most the last line.

    What the system holds in memory outlives the process, not the machine: nothing waits for the disk.
    """

    def __init__(self, file: Path, now: Callable[[], datetime] = _now) -> None:
        """Open for appending, after whatever is there. Raises OSError, as writing does (no room on the disk)."""
        file.parent.mkdir(parents=True, exist_ok=True)
        self._now = now
        self._lock = threading.Lock()
        is_torn = _is_torn(file)
        self._descriptor = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        if is_torn:
            self._append(b"\n")

    def write(self, event: Kind, **fields: Any) -> None:  # noqa: ANN401  whatever JSON has
        """Append one event. The fields may hold ids, figures and names, never texts of documents."""
        line = json.dumps(finite({"event": event, "at": self._now().isoformat(), **fields})) + "\n"
        with self._lock:
            self._append(line.encode())

    def write_result(self, record: QuestionRecord) -> None:
        """Append what came of one question."""
        self.write(QUERY_RESULT, **question_fields(record))

    def close(self) -> None:
        """Close the file; nothing may be written after."""
        os.close(self._descriptor)

    def _append(self, line: bytes) -> None:
        while line:
            line = line[os.write(self._descriptor, line) :]


def _is_torn(file: Path) -> bool:
    """Say whether the last line has no end: whoever wrote it was killed."""
    try:
        with file.open("rb") as opened:
            opened.seek(-1, os.SEEK_END)
            return opened.read() != b"\n"
    except OSError:  # not there yet, or empty
        return False


@dataclass(frozen=True, slots=True)
class Events:
    """The events of a log in their order, and how many lines could not be read: more than one a kill is worth a look."""

    events: tuple[dict[str, Any], ...]
    torn: int

    def results(self) -> Iterator[QuestionRecord]:
        """Give what came of each question; of a question answered twice, the last."""
        last = {event["id"]: event for event in self.events if event.get("event") == QUERY_RESULT}
        return map(question_of, last.values())


def read_events(file: Path) -> Events:
    """Read a log, whoever wrote it and however it ended. Lines cut short are counted and passed over. Raises OSError."""
    events, torn = [], 0
    with file.open("rb") as opened:
        for line in opened:
            event = _event(line)
            if event is None:
                torn += bool(line.strip())
            else:
                events.append(event)
    return Events(tuple(events), torn)


def _event(line: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
