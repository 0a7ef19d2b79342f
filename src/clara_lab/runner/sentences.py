"""Keeping the sentences that situate passages: a model is asked once for each, whatever ends the run."""

import hashlib
import json
from contextlib import suppress
from pathlib import Path
from threading import Lock

from clara.retrieval.passage import Passage
from clara_lab.bench.enriching import Situate


def remembered(situate: Situate, file: Path) -> Situate:
    """Take the sentences that the file has, and add each new one as a line; a line that was cut short is asked for again."""
    known = _read(file)
    lock = Lock()
    file.parent.mkdir(parents=True, exist_ok=True)

    def remembering(passage: Passage, parent: str) -> str:
        key = hashlib.sha256("\0".join((*passage.heading, passage.text, parent)).encode("utf-8", "replace")).hexdigest()
        if key not in known:
            said = situate(passage, parent)
            with lock:
                known[key] = said
                with file.open("a", encoding="utf-8") as lines:
                    lines.write(f"{json.dumps({'key': key, 'sentence': said})}\n")
        return known[key]

    return remembering


def _read(file: Path) -> dict[str, str]:
    known: dict[str, str] = {}
    with suppress(FileNotFoundError):
        content = file.read_bytes()
        if not content.endswith(b"\n"):  # the process ended in the middle of a line; the next one must not be glued to it
            whole = content[: content.rfind(b"\n") + 1]
            file.write_bytes(whole)
            content = whole
        for line in content.splitlines():
            with suppress(ValueError, KeyError, TypeError):
                entry = json.loads(line)
                known[entry["key"]] = entry["sentence"]
    return known
