"""Records that survive the death of this process and of this machine's power, in order, until they are handed over.

Each process writes files of its own and holds a lock on them as long as it lives; whoever finds one without a lock adopts it.
"""

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from errno import ESHUTDOWN
from itertools import islice
from pathlib import Path
from threading import Condition, Lock
from typing import Final
from uuid import uuid4

import structlog

from clara.adapters.spool.files import DAMAGED, SUFFIX, Fsync, SpoolFile, add_durably, adopt_file, framed, make_file, stretches
from clara.delivery.ports import SpoolFullError, SpoolUnavailableError

__all__ = ["SET_ASIDE", "SUFFIX", "FileSpool"]
# A file is read in one piece, and goes when it was handed over: small for the smallest machine (512 MB), and enough for a
# thousand messages.
FILE_BYTES: Final = 1024 * 1024
# Records are handed over so many at a time: one by one, messages went into the database at 560 a second (100 beside two busy
# threads), 32 at a time at 1,100 to 1,500 (140); medians of three rounds of 1,000 to 2,000. 64 are no faster.
TOGETHER: Final = 32
# What was set aside is not adopted. Under another name with the same suffix it is: renaming it is trying it again.
SET_ASIDE: Final = "set-aside" + SUFFIX
log = structlog.get_logger()


@dataclass(eq=False, slots=True)
class _Batch:
    """Records that share one fsync."""

    count: int = 0
    settled: bool = False
    error: OSError | None = None


class FileSpool:
    """Implements the port Spool in a folder that several processes may share; safe between threads, not across a fork.

    `most_bytes` bounds what waits in the files that this process holds; on the disk it may be one file of `file_bytes` more,
    because what was handed over goes file by file. How far a file was handed over is not remembered across a crash: what
    takes the records must know those it has had. Files of dead processes are adopted when this is made, and whenever it is
    drained.
    """

    def __init__(self, folder: Path, most_bytes: int, fsync: Fsync = os.fsync, file_bytes: int = FILE_BYTES) -> None:
        self._folder = folder
        self._most_bytes = most_bytes
        self._fsync = fsync
        self._file_bytes = file_bytes
        self._name = uuid4().hex
        self._made = 0
        self._draining = Lock()  # taken before the next one
        self._lock = Lock()  # for the fields below; never held while records go to the disk
        self._settled = Condition(self._lock)  # an fsync has ended
        self._syncing = False  # somebody does an fsync: one at a time
        self._adopted: list[SpoolFile] = []
        self._written: list[SpoolFile] = []
        self._current: SpoolFile | None = None
        self._batch = _Batch()
        self._left_alone: set[str] = set()
        self._closed = False
        self._adopt()

    def append(self, record: bytes) -> None:
        """Store a record; once this returns it survives a crash. Threads that wait at the same time share an fsync.

        Raises SpoolFullError, SpoolUnavailableError: the record is not kept, and the next one may succeed.
        """
        try:
            with self._settled:
                batch = self._write(framed(record))
                # All wait to be told, nobody for a lock: whoever had just ended an fsync took that again before those it woke,
                # and they came one at a time. Of 8 and 32 threads, on a disk that takes 5 ms, 95 % waited 41 and 101 ms; now
                # 20 and 19 (medians of nine rounds of 640 records). One thread alone is as fast as it was.
                self._settled.wait_for(lambda: batch.settled or not self._syncing)
                leads = not batch.settled
                self._syncing |= leads
            if leads:
                self._settle()
        except OSError as error:
            raise self._unavailable(error) from error
        if batch.error is not None:
            raise self._unavailable(batch.error) from batch.error

    def waiting(self) -> int:
        """Count the records that wait, own and adopted."""
        with self._lock:
            return sum(file.count for file in self._files())

    def drain(self, take: Callable[[Sequence[bytes]], None]) -> int:
        """Hand over what waits now, in order, adopted files first, at most TOGETHER at a time; give how many went.

        What `take` raises ends it: what it was given comes first the next time.

        Bytes that are no record are copied to `<name>.spool.damaged` and passed over. A file that cannot be read is left for
        the next time.
        """
        with self._draining:
            self._adopt()
            with self._lock:
                files = self._files()
            return sum(self._hand_over(file, take) for file in files)

    def set_aside(self, record: bytes) -> None:
        """Keep a record that nobody could take in `set-aside.spool`. Raises SpoolUnavailableError."""
        try:
            add_durably(self._folder / SET_ASIDE, framed(record), self._fsync)
        except OSError as error:
            raise self._unavailable(error) from error

    def close(self) -> None:
        """Let go of the files: what waits in them is for the next process. Those in which nothing waits are removed."""
        with self._draining, self._settled:
            self._closed = True
            # Whoever has written waits in `append`, and sees to the disk itself.
            self._settled.wait_for(lambda: not self._syncing and not self._batch.count)
            for file in self._files():
                if file.read == file.end:
                    self._let_go(file)
                else:
                    os.close(file.descriptor)
            self._adopted, self._written, self._current = [], [], None

    def _files(self) -> list[SpoolFile]:
        return [*self._adopted, *self._written]

    def _unavailable(self, error: OSError) -> SpoolUnavailableError:
        return SpoolUnavailableError(
            f"the spool in {self._folder} cannot be used ({error.strerror}). Make room there, and let Clara write there."
        )

    def _write(self, frame: bytes) -> _Batch:
        if self._closed:
            raise OSError(ESHUTDOWN, "it is closed")
        if sum(file.end - file.read for file in self._files()) + len(frame) > self._most_bytes:
            msg = f"the spool in {self._folder} holds its {self._most_bytes} bytes. Bring the database back, or allow it more."
            raise SpoolFullError(msg)
        self._file_to_write().write(frame)
        self._batch.count += 1
        return self._batch

    def _file_to_write(self) -> SpoolFile:
        """Give the current file; a new one when there is none, when it is full, or when somebody removed it."""
        file = self._current
        # What goes to the disk together goes into one file.
        while file is None or (file.end == file.safe and (file.end >= self._file_bytes or not file.is_linked())):
            self._made += 1
            file = make_file(self._folder / f"{self._name}-{self._made:06}{SUFFIX}", self._fsync)
            if file is not None:
                self._written.append(file)
        self._current = file
        return file

    def _settle(self) -> None:
        """Bring to the disk what was written until now. The caller has set `_syncing`, and something was written."""
        with self._lock:
            batch, self._batch = self._batch, _Batch()
            file = self._file_to_write()
            end = file.end
        try:
            self._fsync(file.descriptor)
        except OSError as error:
            # The system may have thrown away whatever was not on the disk, so later records go as well.
            with self._lock:
                for failed in (batch, self._batch):
                    failed.error, failed.settled = error, True
                self._batch = _Batch()
                file.cut(file.safe)
        else:
            with self._lock:
                file.safe = end
                file.count += batch.count
                batch.settled = True
        finally:
            with self._settled:
                self._syncing = False
                self._settled.notify_all()

    def _hand_over(self, file: SpoolFile, take: Callable[[Sequence[bytes]], None]) -> int:
        gone, start = 0, file.read
        parts = stretches(self._unread(file))
        while group := list(islice(parts, TOGETHER)):
            records = [part.record for part in group if part.record is not None]
            if records:
                take(records)
            for part in group:
                if part.record is None:
                    self._save_damaged(file, start + part.start, part.end - part.start)
            gone += len(records)
            with self._lock:
                file.read = start + group[-1].end
                file.count -= len(records)
        with self._lock:
            if file.read == file.end:
                self._finish(file)
        return gone

    def _unread(self, file: SpoolFile) -> bytes:
        try:
            return file.unread()
        except OSError as error:
            self._warn_once(file.path.name, error)
            return b""

    def _save_damaged(self, file: SpoolFile, start: int, size: int) -> None:
        log.warning("spool damaged", path=file.path.name, reason=f"{size} bytes cannot be read")
        try:
            stretch = os.pread(file.descriptor, size, start)
            add_durably(file.path.with_name(file.path.name + DAMAGED), stretch, self._fsync)
        except OSError:
            file.keep = True

    def _finish(self, file: SpoolFile) -> None:
        """Let go of a file that was handed over. Nothing is raised: to hand it over again does no harm."""
        file.count = 0
        if file is self._current and not file.keep:
            file.empty()
            return
        if file is self._current:
            self._current = None
        (self._adopted if file in self._adopted else self._written).remove(file)
        self._let_go(file)

    def _let_go(self, file: SpoolFile) -> None:
        try:
            file.remove()
        except OSError as error:
            self._warn_once(file.path.name, error)

    def _adopt(self) -> None:
        """Take over the files that no living process holds, the oldest first."""
        with self._lock:
            held = {file.path.name for file in self._files()} | self._left_alone | {SET_ASIDE}
        for path in self._found():
            if path.name not in held:
                self._adopt_one(path)

    def _found(self) -> list[Path]:
        try:
            ages = [(age, path.name, path) for path in self._folder.iterdir() if (age := _age(path)) is not None]
        except FileNotFoundError:
            return []
        except OSError as error:
            self._warn_once(self._folder.name, error)
            return []
        return [path for *_, path in sorted(ages)]

    def _adopt_one(self, path: Path) -> None:
        try:
            file = adopt_file(path)
        except FileNotFoundError:
            return
        except OSError as error:
            self._warn_once(path.name, error)
            return
        if file is not None:
            with self._lock:
                self._adopted.append(file)
                if file.end == 0:
                    self._finish(file)

    def _warn_once(self, name: str, error: OSError) -> None:
        if name not in self._left_alone:
            self._left_alone.add(name)
            log.warning("spool file left alone", path=name, reason=error.strerror)


def _age(path: Path) -> int | None:
    """Give when a file of records was last written, in nanoseconds; None for other files, and when it is gone."""
    try:
        return path.stat().st_mtime_ns if path.suffix == SUFFIX else None
    except FileNotFoundError:
        return None


def records_in(folder: Path) -> int:
    """Count what the spool files of this machine hold, without touching them: a process may be writing, or removing one."""
    count = 0
    for path in folder.glob("*" + SUFFIX):
        if path.name != SET_ASIDE:
            with suppress(FileNotFoundError):
                count += sum(part.record is not None for part in stretches(path.read_bytes()))
    return count
