"""Killed processes, a disk that fails, is full or read-only, damaged files: no record is lost, or not silently."""

import os
import random
import stat
from concurrent.futures import ThreadPoolExecutor
from errno import EROFS
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Lock

import pytest
from hypothesis import given
from hypothesis import strategies as st
from structlog.testing import capture_logs
from tests.journeys.talking import until
from tests.unit.adapters.spooling import OPEN, PLENTY, drained, files, numbered, process

from clara.adapters.spool.files import framed
from clara.adapters.spool.spool import FileSpool
from clara.delivery.ports import SpoolUnavailableError

# Three records as the first release wrote them, byte for byte. What waits on somebody's disk must open for ever.
FIRST_RELEASE = bytes.fromhex(
    "c11a53500000000608def909303030303030c11a5350000000067fd9c99f303030303031c11a535000000006e6d09825303030303032"
)
# Four threads write until they are killed, and tell of each record when it is safe.
WRITER = (
    OPEN
    + """
def write(thread):
    for number in range(10**9):
        spool.append(f"{sys.argv[2]} {thread} {number}".encode())
        os.write(1, f"{sys.argv[2]} {thread} {number}\\n".encode())
for thread in range(4):
    threading.Thread(target=write, args=[thread]).start()
"""
)
# Writes as much as a file may hold here, then tells why it ended, and goes on when there is room again.
SHORT = (
    "import resource\n"
    + OPEN
    + """
from clara.delivery.ports import SpoolUnavailableError
hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
done = 0
try:
    while True:
        spool.append(b"%04d" % done + b"x" * 90)
        done += 1
except SpoolUnavailableError as error:
    print(done, error)
print(sum(path.stat().st_size for path in Path(sys.argv[1]).iterdir()))
resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
spool.append(b"after")
"""
)
# Two threads write and one hands over, until they are killed; they tell of each record when it is safe, and before it goes.
MOVER = (
    OPEN
    + """
def write(thread):
    for number in range(10**9):
        spool.append(f"{sys.argv[2]} {thread} {number}".encode())
        os.write(1, f"in {sys.argv[2]} {thread} {number}\\n".encode())
def take(records):
    os.write(1, b"".join(b"out " + record + b"\\n" for record in records))
for thread in range(2):
    threading.Thread(target=write, args=[thread]).start()
while True:
    spool.drain(take)
"""
)


class FailingDisk:
    """An fsync that fails for those of its calls that it is told."""

    def __init__(self, *failing: int) -> None:
        self.calls, self.failing, self.lock = 0, failing, Lock()

    def __call__(self, descriptor: int) -> None:
        with self.lock:
            self.calls += 1
            if self.calls in self.failing:
                raise OSError(5, "Input/output error")
        os.fsync(descriptor)


@pytest.mark.parametrize("failing", [(1,), (2,), (3,), (2, 3), (1, 2, 3)], ids=str)
def test_a_record_that_did_not_reach_the_disk_is_refused(tmp_path: Path, failing: tuple[int, ...]):
    """The error names folder and remedy, the others are untouched, and later ones are taken again."""
    spool = FileSpool(tmp_path, PLENTY, FailingDisk(*failing))
    kept, told = [], set()
    for record in numbered(6):
        try:
            spool.append(record)
        except SpoolUnavailableError as error:
            told.add(str(error))
        else:
            kept.append(record)
    (text,) = told
    assert str(tmp_path) in text
    assert "Make room" in text
    assert len(kept) == 6 - len(failing)
    assert spool.waiting() == len(kept)
    copy = b"".join(path.read_bytes() for path in files(tmp_path))
    assert copy == b"".join(map(framed, kept))
    assert drained(spool) == kept


def test_those_behind_a_failed_fsync_are_refused_as_well(tmp_path: Path):
    """Records that were written while an fsync was failing are not kept silently: the system may have dropped them."""
    calls, begun, release = [], Event(), Event()

    def fsync(descriptor: int) -> None:
        calls.append(descriptor)
        if len(calls) == 3:
            begun.set()
            assert release.wait(20)
            raise OSError(5, "Input/output error")

    spool = FileSpool(tmp_path, PLENTY, fsync)
    spool.append(b"first")
    with ThreadPoolExecutor(4) as pool:
        futures = [pool.submit(spool.append, b"second")]
        assert begun.wait(20)
        futures += [pool.submit(spool.append, record) for record in numbered(3)]
        until(lambda: spool._batch.count == 3)
        release.set()
        assert [type(future.exception(20)) for future in futures] == [SpoolUnavailableError] * 4
    spool.append(b"last")
    assert drained(spool) == [b"first", b"last"]


def test_a_full_disk_leaves_no_torn_record(tmp_path: Path):
    """When the system writes only half a frame, the half is cut off, and the next record goes where it was."""
    with process(SHORT, tmp_path) as child:
        out, _ = child.communicate(timeout=60)
    refused, size = out.splitlines()
    done = int(refused.split()[0])
    assert 1 <= done < 10
    assert f"the spool in {tmp_path} cannot be used" in refused
    assert int(size) == done * len(framed(b"x" * 94))
    assert drained(FileSpool(tmp_path, PLENTY)) == [b"%04d" % n + b"x" * 90 for n in range(done)] + [b"after"]


def test_a_disk_that_turns_read_only_still_hands_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """New ones are refused; what waits goes out once, its file stays, and who comes later hands it over again."""
    spool = FileSpool(tmp_path, PLENTY)
    spool.append(b"old")
    spool.close()
    spool = FileSpool(tmp_path, PLENTY)
    spool.append(b"one")

    def refuse(*_: object, **__: object) -> None:
        raise OSError(EROFS, os.strerror(EROFS))

    with monkeypatch.context() as patched, capture_logs() as logs:
        for call in ("pwrite", "ftruncate", "unlink", "rename", "mkdir"):
            patched.setattr(os, call, refuse)
        with pytest.raises(SpoolUnavailableError, match="Read-only"):
            spool.append(b"two")
        assert (drained(spool), drained(spool), spool.waiting()) == ([b"old", b"one"], [], 0)
    assert [entry["event"] for entry in logs] == ["spool file left alone"]
    spool.append(b"two")
    assert drained(spool) == [b"two"]
    spool.close()
    assert drained(FileSpool(tmp_path, PLENTY)) == [b"old"]


def test_a_killed_process_loses_nothing(tmp_path: Path):
    """Three times one is killed while four threads write: all they were promised is there, and at most one more of each."""
    rounds, promised = 3, []
    for turn in range(rounds):
        with process(WRITER, tmp_path, turn) as child:
            lines = [child.stdout.readline() for _ in range(random.randint(1, 120))]
            child.kill()
            promised.append([*lines, *child.stdout.readlines()])
    spool = FileSpool(tmp_path, PLENTY)
    waited = spool.waiting()
    got = [record.decode() for record in drained(spool)]
    assert (len(got), files(tmp_path)) == (waited, [])
    assert [record.split()[0] for record in got] == sorted(record.split()[0] for record in got)
    for turn in range(rounds):
        for thread in range(4):
            mark = f"{turn} {thread} "
            told = [line for line in promised[turn] if line.startswith(mark)]
            kept = [record for record in got if record.startswith(mark)]
            assert kept == [f"{mark}{number}" for number in range(len(kept))]
            assert len(told) <= len(kept) <= len(told) + 1


def test_killed_while_it_hands_over_nothing_is_lost(tmp_path: Path):
    """Ten times one is killed while it writes and hands over: what was promised went out or waits, in order."""
    said: list[str] = []
    for turn in range(10):
        with process(MOVER, tmp_path, turn) as child:
            lines = [child.stdout.readline() for _ in range(random.randint(1, 400))]
            child.kill()
            said += [*lines, *child.stdout.readlines()]
    promised, out = ([line.split(" ", 1)[1].strip() for line in said if line.startswith(kind)] for kind in ("in ", "out "))
    out += [record.decode() for record in drained(FileSpool(tmp_path, PLENTY))]
    assert set(promised) <= set(out)
    for stream in {record.rsplit(" ", 1)[0] for record in promised}:
        first = list(dict.fromkeys(record for record in out if record.startswith(stream + " ")))
        assert first == [f"{stream} {number}" for number in range(len(first))]


def test_a_torn_end_is_put_aside(tmp_path: Path):
    """At whatever byte a dead process' file ends, all its whole records come out, and a copy of the rest stays.

    Nobody can tell a frame that was never acknowledged from one whose length was damaged later.
    """
    data = b"".join(map(framed, numbered(3)))
    size = len(framed(numbered(1)[0]))
    for cut in range(len(data) + 1):
        (tmp_path / "dead.spool").write_bytes(data[:cut])
        with capture_logs() as logs:
            spool = FileSpool(tmp_path, PLENTY)
            assert spool.waiting() == cut // size
            assert drained(spool) == numbered(3)[: cut // size]
        rest = data[cut - cut % size : cut]
        assert [path.read_bytes() for path in tmp_path.iterdir()] == [rest] * bool(rest)
        assert [entry["event"] for entry in logs] == ["spool damaged"] * bool(rest)
        for path in tmp_path.iterdir():
            path.unlink()


@given(bits=st.sets(st.integers(0, 8 * len(FIRST_RELEASE) - 1), max_size=3))
def test_no_damage_is_silent(bits: set[int]):
    """Of a file of the first release each record that is not hit comes out; those that are hit are kept, and told of."""
    data = bytearray(FIRST_RELEASE)
    for bit in bits:
        data[bit // 8] ^= 1 << bit % 8
    size = len(data) // 3
    hit = sorted({bit // 8 // size for bit in bits})
    with TemporaryDirectory() as folder, capture_logs() as logs:
        (Path(folder) / "dead.spool").write_bytes(data)
        got = drained(FileSpool(Path(folder), PLENTY))
        aside = [path.read_bytes() for path in Path(folder).iterdir()]
    assert got == [record for number, record in enumerate(numbered(3)) if number not in hit]
    assert aside == [b"".join(data[number * size : (number + 1) * size] for number in hit)] * bool(hit)
    assert {entry["event"] for entry in logs} == ({"spool damaged"} if hit else set())


@pytest.mark.parametrize("own", [True, False], ids=["own", "adopted"])
def test_a_damaged_stretch_is_passed_over_and_kept(tmp_path: Path, own: bool):
    """The records before and behind it come out; a copy of the stretch stays for a person, and the log tells of it."""
    spool = FileSpool(tmp_path, PLENTY)
    for record in numbered(5):
        spool.append(record)
    size = len(framed(numbered(1)[0]))
    (path,) = files(tmp_path)
    if not own:
        spool.close()
    for at in (2 * size + 1, 3 * size + 15):  # the magic of the third, the text of the fourth
        with path.open("r+b") as file:
            file.seek(at)
            file.write(b"?")
    damaged = path.read_bytes()[2 * size : 4 * size]
    reader = spool if own else FileSpool(tmp_path, PLENTY)
    with capture_logs() as logs:
        assert drained(reader) == [*numbered(2), numbered(5)[4]]
    assert [(entry["event"], entry["log_level"]) for entry in logs] == [("spool damaged", "warning")]
    copy = path.with_name(path.name + ".damaged")
    assert copy.read_bytes() == damaged
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert (reader.waiting(), drained(reader)) == (0, [])


@pytest.mark.parametrize("own", [True, False], ids=["own", "adopted"])
def test_without_room_for_a_copy_the_file_itself_is_kept(tmp_path: Path, own: bool):
    """Nothing raises and the readable records come out; the next ones go into another file."""
    disk = FailingDisk()
    spool = FileSpool(tmp_path, PLENTY, disk)
    for record in (b"one", b"bad", b"two"):
        spool.append(record)
    (path,) = files(tmp_path)
    if not own:
        spool.close()
    data = path.read_bytes().replace(b"bad", b"???")
    path.write_bytes(data)
    spool = spool if own else FileSpool(tmp_path, PLENTY, disk)
    disk.failing = (disk.calls + 1,)
    assert drained(spool) == [b"one", b"two"]
    spool.append(b"three")
    (kept,) = [path for path in tmp_path.iterdir() if path.suffix == ".damaged"]
    assert kept.read_bytes() == data
    assert drained(spool) == [b"three"]
