"""What tests of the spool share: processes that use one, and looking into its folder."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from clara.adapters.spool.spool import FileSpool
from clara.settings import child_environment

PLENTY = 10_000_000
MAKE = "import sys, os, threading\nfrom pathlib import Path\nfrom clara.adapters.spool.spool import FileSpool\n"
OPEN = MAKE + "spool = FileSpool(Path(sys.argv[1]), 10_000_000)\n"


@contextmanager
def process(script: str, *arguments: object) -> Iterator[subprocess.Popen[str]]:
    """Run Python beside us; it is killed at the end."""
    command = [sys.executable, "-c", script, *map(str, arguments)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=child_environment(OMP_NUM_THREADS="1")) as child:
        try:
            yield child
        finally:
            child.kill()


def drained(spool: FileSpool) -> list[bytes]:
    gone: list[bytes] = []
    assert spool.drain(gone.extend) == len(gone)
    return gone


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.suffix == ".spool")


def numbered(count: int, size: int = 0) -> list[bytes]:
    return [b"%06d" % number + b"." * size for number in range(count)]
