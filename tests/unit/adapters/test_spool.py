"""A spool gives back every record it took, once and in order, to this process or the next one."""

import os
import stat
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event, Thread

import pytest
from structlog.testing import capture_logs
from tests.journeys.talking import until
from tests.unit.adapters.spooling import OPEN, PLENTY, drained, files, numbered, process

from clara.adapters.spool.files import framed
from clara.adapters.spool.spool import TOGETHER, FileSpool
from clara.delivery.ports import SpoolFullError, SpoolUnavailableError

HOLDER = OPEN + "spool.append(b'held')\nprint('ready', flush=True)\nsys.stdin.read()\n"


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


def test_nobody_waits_for_a_second_fsync(tmp_path: Path):
    """Of those who come while one is under way all go with the next: thirty-two threads need far fewer than every fourth."""
    synced, pause = [], Event()

    def fsync(descriptor: int) -> None:
        synced.append(descriptor)
        pause.wait(0.005)

    spool = FileSpool(tmp_path, PLENTY, fsync)

    def write(_thread: int) -> None:
        for record in numbered(20):
            spool.append(record)

    with ThreadPoolExecutor(32) as pool:
        list(pool.map(write, range(32)))
    assert len(synced) < 32 * 20 / 8


def test_closing_waits_for_those_who_write(tmp_path: Path):
    """Who has written before it was closed is kept, also when its fsync has not begun yet."""
    begun, release = Event(), Event()

    def fsync(descriptor: int) -> None:
        begun.set()
        assert release.wait(20)

    release.set()
    spool = FileSpool(tmp_path, PLENTY, fsync)
    spool.append(b"first")
    begun.clear()
    release.clear()
    with ThreadPoolExecutor(4) as pool:
        writing = [pool.submit(spool.append, b"second")]
        assert begun.wait(20)
        writing += [pool.submit(spool.append, record) for record in numbered(2)]
        until(lambda: spool._batch.count == 2)
        closing = pool.submit(spool.close)
        until(lambda: spool._closed)
        assert not closing.done()
        release.set()
        for future in (*writing, closing):
            future.result(20)
    assert sorted(drained(FileSpool(tmp_path, PLENTY))) == [*numbered(2), b"first", b"second"]


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
