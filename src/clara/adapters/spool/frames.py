"""Records as frames in a file: what was written whole can be found again, whatever happened to its neighbours."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
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
