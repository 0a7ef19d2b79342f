"""A spool gives back every record it took, in order, whoever was killed and whatever the disk did."""

import os
import random
import stat
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Lock, Thread

import pytest
from structlog.testing import capture_logs
from tests.journeys.talking import until

from clara.adapters.spool.frames import framed
from clara.adapters.spool.spool import TOGETHER, FileSpool
from clara.delivery.ports import SpoolFullError, SpoolUnavailableError
from clara.settings import child_environment

PLENTY = 10_000_000
MAKE = "import sys, os, threading\nfrom pathlib import Path\nfrom clara.adapters.spool.spool import FileSpool\n"
OPEN = MAKE + "spool = FileSpool(Path(sys.argv[1]), 10_000_000)\n"
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
HOLDER = OPEN + "spool.append(b'held')\nprint('ready', flush=True)\nsys.stdin.read()\n"


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


def test_records_come_out_in_order_once(tmp_path: Path):
    """They wait, are counted, go in the order they came in, and are gone; the next ones go into the same file."""
    spool = FileSpool(tmp_path / "a" / "spool", PLENTY)
    assert (spool.waiting(), drained(spool)) == (0, [])
    for turn in range(3):
        for record in numbered(20):
            spool.append(record)
        assert spool.waiting() == 20
        assert drained(spool) == numbered(20)
        assert (spool.waiting(), drained(spool)) == (0, [])
        (only,) = files(tmp_path / "a" / "spool")
        assert only.stat().st_size == 0, turn


def test_nobody_else_may_read_it(tmp_path: Path):
    """The folder and each file are for Clara's account alone."""
    folder = tmp_path / "spool"
    spool = FileSpool(folder, PLENTY)
    spool.append(b"one")
    spool.set_aside(b"two")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}


def test_what_take_raises_ends_the_draining_there(tmp_path: Path):
    """They come so many at a time; those that were not taken come first the next time."""
    spool, count = FileSpool(tmp_path, PLENTY), 2 * TOGETHER + 3
    for record in numbered(count):
        spool.append(record)
    gone: list[list[bytes]] = []

    def take(records: Sequence[bytes]) -> None:
        if len(gone) == 1:
            raise ArithmeticError
        gone.append(list(records))

    with pytest.raises(ArithmeticError):
        spool.drain(take)
    assert (gone, spool.waiting()) == ([numbered(TOGETHER)], count - TOGETHER)
    assert gone[0] + drained(spool) == numbered(count)


@pytest.mark.parametrize("file_bytes", [100, 1024 * 1024])
def test_writing_goes_on_while_it_is_drained(tmp_path: Path, file_bytes: int):
    """Four threads append while one drains: each thread's records come out once and in its order, in small and large files."""
    spool, gone, written = FileSpool(tmp_path, PLENTY, file_bytes=file_bytes), [], Event()

    def write(thread: int) -> None:
        for number in range(150):
            spool.append(b"%d %d" % (thread, number))

    def read() -> None:
        while not written.is_set() or spool.waiting():
            spool.drain(gone.extend)

    reader = Thread(target=read)
    reader.start()
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(4)))
    written.set()
    reader.join(60)
    assert len(gone) == 600
    for thread in range(4):
        assert [record for record in gone if record.startswith(b"%d " % thread)] == [b"%d %d" % (thread, n) for n in range(150)]
    spool.close()
    assert files(tmp_path) == []


def test_threads_share_an_fsync(tmp_path: Path):
    """Those who come while one fsync hangs go to the disk together with the next one; none returns before it."""
    synced, begun, release = [], Event(), Event()

    def fsync(descriptor: int) -> None:
        synced.append(descriptor)
        if len(synced) == 3:  # the first two are the folder's and the one of the first record
            begun.set()
            assert release.wait(20)
        os.fsync(descriptor)

    spool = FileSpool(tmp_path, PLENTY, fsync)
    spool.append(b"first")
    with ThreadPoolExecutor(6) as pool:
        leader = pool.submit(spool.append, b"second")
        assert begun.wait(20)
        others = [pool.submit(spool.append, record) for record in numbered(5)]
        until(lambda: spool._batch.count == 5)
        assert not any(other.done() for other in others)
        assert spool.waiting() == 1
        release.set()
        for future in (leader, *others):
            future.result(20)
    assert len(synced) == 4
    assert sorted(drained(spool)) == [*numbered(5), b"first", b"second"]


def test_it_holds_no_more_than_it_may(tmp_path: Path):
    """At the limit nothing more is taken; when it was drained there is room again. What was adopted counts as well."""
    room = 5 * len(framed(b"000000"))
    spool = FileSpool(tmp_path, room)
    for record in numbered(5):
        spool.append(record)
    for _ in range(2):
        with pytest.raises(SpoolFullError, match=r"Bring the database back"):
            spool.append(b"x")
    spool.close()
    heir = FileSpool(tmp_path, room)
    with pytest.raises(SpoolFullError):
        heir.append(b"x")
    assert drained(heir) == numbered(5)
    heir.append(b"x")
    assert drained(heir) == [b"x"]


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


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path):
    """It is there from the moment that it can be made; until then the error says where."""
    (tmp_path / "file").write_text("in the way")
    spool = FileSpool(tmp_path / "file" / "spool", PLENTY)
    for _ in range(2):
        with pytest.raises(SpoolUnavailableError, match="file/spool"):
            spool.append(b"one")
    with pytest.raises(SpoolUnavailableError, match="file/spool"):
        spool.set_aside(b"one")
    assert (spool.waiting(), drained(spool)) == (0, [])
    (tmp_path / "file").unlink()
    spool.append(b"one")
    assert drained(spool) == [b"one"]


def test_a_file_that_somebody_removed_is_not_written_to(tmp_path: Path):
    """After a clean-up of old files the next record goes into a file that has a name, and survives."""
    spool = FileSpool(tmp_path, PLENTY)
    spool.append(b"one")
    assert drained(spool) == [b"one"]
    for path in files(tmp_path):
        path.unlink()
    spool.append(b"two")
    assert [path.read_bytes() for path in files(tmp_path)] == [framed(b"two")]
    assert drained(spool) == [b"two"]


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


def test_the_file_of_a_living_process_is_left_alone(tmp_path: Path):
    """Another process' records are taken once it is dead, and before one's own."""
    with process(HOLDER, tmp_path) as child:
        assert child.stdout.readline() == "ready\n"
        spool = FileSpool(tmp_path, PLENTY)
        spool.append(b"own")
        assert (spool.waiting(), len(files(tmp_path))) == (1, 2)
        assert drained(spool) == [b"own"]
        spool.append(b"later")
        child.kill()
        child.wait()
        assert drained(spool) == [b"held", b"later"]
    assert len(files(tmp_path)) == 1


def test_orphans_are_adopted_once_and_oldest_first(tmp_path: Path):
    """Of two processes that start at the same time one has each file; by age, then by name."""
    for age, name in [(3, "a"), (1, "c"), (2, "z"), (2, "b")]:
        (tmp_path / f"{name}.spool").write_bytes(framed(name.encode()))
        os.utime(tmp_path / f"{name}.spool", (age, age))
    (tmp_path / "note.txt").write_bytes(framed(b"no"))
    first, second = FileSpool(tmp_path, PLENTY), FileSpool(tmp_path, PLENTY)
    assert (first.waiting(), second.waiting()) == (4, 0)
    assert drained(second) == []
    assert drained(first) == [b"c", b"b", b"z", b"a"]
    assert [path.name for path in tmp_path.iterdir()] == ["note.txt"]


def test_a_closed_spool_is_for_the_next_one(tmp_path: Path):
    """What waits is left to the heir; whoever still appends is refused, not lost."""
    spool = FileSpool(tmp_path, PLENTY)
    spool.append(b"one")
    spool.close()
    with pytest.raises(SpoolUnavailableError, match="closed"):
        spool.append(b"two")
    heir = FileSpool(tmp_path, PLENTY)
    assert heir.waiting() == 1
    assert drained(heir) == [b"one"]
    assert list(tmp_path.iterdir()) == []


def test_a_torn_end_is_cut(tmp_path: Path):
    """At whatever byte a dead process' file ends, all its whole records come out, and nothing is called damaged."""
    data = b"".join(map(framed, numbered(3)))
    size = len(framed(numbered(1)[0]))
    for cut in range(len(data) + 1):
        (tmp_path / "dead.spool").write_bytes(data[:cut])
        spool = FileSpool(tmp_path, PLENTY)
        assert spool.waiting() == cut // size
        assert drained(spool) == numbered(3)[: cut // size]
        assert list(tmp_path.iterdir()) == []


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


def test_what_was_set_aside_waits_for_a_person(tmp_path: Path):
    """It is not drained until somebody gives the file another name; then it is tried again."""
    spool = FileSpool(tmp_path, PLENTY)
    for record in numbered(3):
        spool.set_aside(record)
    assert (spool.waiting(), drained(spool), drained(FileSpool(tmp_path, PLENTY))) == (0, [], [])
    (tmp_path / "set-aside.spool").rename(tmp_path / "again.spool")
    assert drained(spool) == numbered(3)
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_opened_is_told_once_and_left_alone(tmp_path: Path):
    """A link or a folder among the files stops nobody."""
    (tmp_path / "x.spool").mkdir()
    (tmp_path / "outside").write_bytes(framed(b"secret"))
    (tmp_path / "y.spool").symlink_to(tmp_path / "outside")
    with capture_logs() as logs:
        spool = FileSpool(tmp_path, PLENTY)
        spool.append(b"one")
        assert drained(spool) == [b"one"]
        assert drained(spool) == []
    assert [(entry["event"], entry["path"]) for entry in logs] == [
        ("spool file left alone", "x.spool"),
        ("spool file left alone", "y.spool"),
    ]
    assert (tmp_path / "outside").read_bytes() == framed(b"secret")
