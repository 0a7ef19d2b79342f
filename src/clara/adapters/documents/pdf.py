"""The text of a PDF, read by a process of its own that the system ends when it takes too much."""

import subprocess
import sys
from typing import Final

from clara.editorial.sources import DocumentError

# Nothing of the other module is imported here: what reads PDF takes 25 MB, in every process that has it.
SECONDS: Final = 60
UNREADABLE: Final = 3
MOST_BYTES: Final = 25_000_000
COMMAND: Final = (sys.executable, "-m", "clara.adapters.documents.pdf_process")


def pdf_text(content: bytes, seconds: float = SECONDS + 5.0) -> str:
    """Give the lines of all pages. Raises DocumentError, naming the page where something is wrong."""
    if len(content) > MOST_BYTES:
        raise DocumentError(f"the document has {len(content)} bytes; at most {MOST_BYTES} are read")
    try:
        done = subprocess.run(COMMAND, input=content, capture_output=True, timeout=seconds, check=False)  # noqa: S603  our own
    except subprocess.TimeoutExpired as error:
        raise DocumentError(f"the document takes longer than {seconds:.0f} seconds to read; it is left out") from error
    if done.returncode == UNREADABLE:
        raise DocumentError(done.stderr.decode("utf-8", "replace"))
    if done.returncode != 0:
        last = done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
        raise DocumentError(f"the document ended its reader ({last or f'signal {-done.returncode}'}); it is left out")
    return done.stdout.decode("utf-8", "replace")
