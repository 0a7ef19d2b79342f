"""The files of a spool, made, locked and adopted one at a time; and records as frames in them."""

import fcntl
import os
import struct
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from errno import ENOSPC
from pathlib import Path
from typing import Final
from zlib import crc32

# Four bytes that no text begins with. A record may hold them by chance: then the checksum tells.
MAGIC: Final = b"\xc1\x1aSP"
_HEADER: Final = struct.Struct(">4sII")  # magic, length of the record, checksum


@dataclass(frozen=True, slots=True)
class Stretch:
    """The bytes from `start` up to `end`: a frame with its record, or without one what cannot be read."""

    start: int
    end: int
    record: bytes | None


def framed(record: bytes) -> bytes:
    """Write a record as a frame."""
    return _HEADER.pack(MAGIC, len(record), _checksum(record)) + record


def stretches(data: bytes) -> Iterator[Stretch]:
    """Cut the bytes into frames and what lies between them. Nothing is left out, and nothing is raised."""
    at = 0
    while at < len(data):
        end = _end_of_frame(data, at)
        if end is not None:
            yield Stretch(at, end, data[at + _HEADER.size : end])
        else:
            end = _next_frame(data, at + 1)
            yield Stretch(at, end, None)
        at = end


def _checksum(record: bytes) -> int:
    """Sum up record and length: or the magic with zeros behind it, as a power cut leaves it, would be an empty record."""
    return crc32(record, crc32(len(record).to_bytes(4)))


def _end_of_frame(data: bytes, at: int) -> int | None:
    """Give where the frame that begins here ends; None when no good frame does."""
    if len(data) - at < _HEADER.size:
        return None
    magic, length, checksum = _HEADER.unpack_from(data, at)
    end = at + _HEADER.size + int(length)
    if magic != MAGIC or end > len(data) or _checksum(data[at + _HEADER.size : end]) != checksum:
        return None
    return end


def _next_frame(data: bytes, at: int) -> int:
    """Give where the next good frame begins; the end of the bytes when there is none."""
    while (at := data.find(MAGIC, at)) >= 0:
        if _end_of_frame(data, at) is not None:
            return at
        at += 1
    return len(data)


SUFFIX: Final = ".spool"
DAMAGED: Final = ".damaged"

Fsync = Callable[[int], None]


@dataclass(eq=False, slots=True)
class SpoolFile:
    """A file that this process holds. Its bytes up to `read` were handed over, up to `safe` they are on the disk.

    `count` is the number of records that wait in it. `keep` is set when it holds what nobody could read or copy.
    """

    path: Path
    descriptor: int
    end: int = 0
    safe: int = 0
    read: int = 0
    count: int = 0
    keep: bool = False

    def write(self, frame: bytes) -> None:
        """Write at the end. Raises OSError; then the file ends where it did."""
        if os.pwrite(self.descriptor, frame, self.end) < len(frame):
            self.cut(self.end)
            raise OSError(ENOSPC, os.strerror(ENOSPC))
        self.end += len(frame)

    def cut(self, end: int) -> None:
        """Take back what stands behind `end`. When even that fails, the next record is written over it."""
        self.end = end
        with suppress(OSError):
            os.ftruncate(self.descriptor, end)

    def unread(self) -> bytes:
        """Give what is on the disk and was not handed over. Raises OSError."""
        return os.pread(self.descriptor, self.safe - self.read, self.read)

    def empty(self) -> None:
        """Take out everything. When that fails, what comes is written behind it."""
        with suppress(OSError):
            if self.end:
                os.ftruncate(self.descriptor, 0)
            self.end = self.safe = self.read = 0

    def is_linked(self) -> bool:
        """Whether the file still has its name: nobody removed it."""
        return os.fstat(self.descriptor).st_nlink > 0

    def remove(self) -> None:
        """Close the file and remove it, or name it as a damaged one. Raises OSError; then it is closed all the same."""
        try:
            if self.keep:
                self.path.rename(self.path.with_name(self.path.name + DAMAGED))
            else:
                self.path.unlink(missing_ok=True)
        finally:
            os.close(self.descriptor)


@contextmanager
def _opened(path: Path, flags: int) -> Iterator[tuple[int, ExitStack]]:
    """Open a file for us alone; it is closed at the end, unless that is taken from the stack."""
    with ExitStack() as closing:
        descriptor = os.open(path, flags | os.O_CLOEXEC, 0o600)
        closing.callback(os.close, descriptor)
        yield descriptor, closing


def make_file(path: Path, fsync: Fsync) -> SpoolFile | None:
    """Make a file and lock it, and its folder if need be; None when somebody took it for an orphan before. Raises OSError."""
    _make_folder(path.parent, fsync)
    with _opened(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW) as (descriptor, closing):
        if not _locked(descriptor):
            return None
        _sync_folder(path.parent, fsync)
        closing.pop_all()
    return SpoolFile(path, descriptor)


def adopt_file(path: Path) -> SpoolFile | None:
    """Take over the file of a dead process; None when its process lives. Raises OSError."""
    with _opened(path, os.O_RDWR | os.O_NOFOLLOW) as (descriptor, closing):
        if not _locked(descriptor):
            return None
        parts = list(stretches(os.pread(descriptor, os.fstat(descriptor).st_size, 0)))
        closing.pop_all()
    end = parts[-1].end if parts else 0
    return SpoolFile(path, descriptor, end=end, safe=end, count=sum(part.record is not None for part in parts))


def add_durably(path: Path, data: bytes, fsync: Fsync) -> None:
    """Add the bytes to a file that several processes may add to. Raises OSError; then nothing was added."""
    _make_folder(path.parent, fsync)
    with _opened(path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW) as (descriptor, _):
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        SpoolFile(path, descriptor, os.fstat(descriptor).st_size).write(data)
        fsync(descriptor)
    _sync_folder(path.parent, fsync)


def _locked(descriptor: int) -> bool:
    """Lock the file for as long as this process lives; False when another holds it, or has removed it meanwhile."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return os.fstat(descriptor).st_nlink > 0


def _make_folder(folder: Path, fsync: Fsync) -> None:
    if not folder.exists():
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _sync_folder(folder.parent, fsync)


def _sync_folder(folder: Path, fsync: Fsync) -> None:
    with _opened(folder, os.O_RDONLY | os.O_DIRECTORY) as (descriptor, _):
        fsync(descriptor)
