"""The embedded server: shared by its users, stopped by the last, back after a crash."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from clara.adapters.postgres.connections import check_server, open_engine
from clara.adapters.postgres.embedded import Account, EmbeddedServer, EmbeddedServerError, reachable_by_others


@pytest.fixture
def folder() -> Iterator[Path]:
    made = Path(tempfile.mkdtemp(prefix="clara-embedded-"))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made, ignore_errors=True)


def answers(url: str) -> bool:
    try:
        psycopg.connect(url, connect_timeout=2).close()
    except psycopg.OperationalError:
        return False
    return True


def postmaster(folder: Path) -> int:
    (found,) = folder.glob("postgresql-*/data/postmaster.pid")
    return int(found.read_text().splitlines()[0])


def test_the_last_user_stops_the_server(folder: Path) -> None:
    """Two users share one server; it runs until both have left, and starts again with its data."""
    first, second = EmbeddedServer(folder), EmbeddedServer(folder)
    url = first.start()
    assert second.start() == url
    with psycopg.connect(url) as connection:
        connection.execute("create table kept (x int)")
    first.stop()
    assert answers(url)
    second.stop()
    assert not answers(url)
    assert first.start() == url
    with psycopg.connect(url) as connection:
        connection.execute("select x from kept")
    first.stop()
    first.stop()  # leaving twice is leaving once


def test_a_user_that_was_killed_does_not_count(folder: Path) -> None:
    """A process that ends by SIGKILL holds the server for nobody."""
    code = (
        "import sys, time; from pathlib import Path; from clara.adapters.postgres.embedded import EmbeddedServer;"
        f"EmbeddedServer(Path({str(folder)!r})).start(); print('up', flush=True); time.sleep(60)"
    )
    other = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert other.stdout is not None
    assert other.stdout.readline() == b"up\n"
    mine = EmbeddedServer(folder)
    url = mine.start()
    other.send_signal(signal.SIGKILL)
    other.wait()
    other.stdout.close()
    assert answers(url)
    mine.stop()
    assert not answers(url)


def test_a_killed_server_comes_back_with_its_data(folder: Path) -> None:
    """After kill -9 of the postmaster the next start recovers what was committed."""
    server = EmbeddedServer(folder)
    url = server.start()
    with psycopg.connect(url) as connection:
        connection.execute("create table kept (x int)")
    os.kill(postmaster(folder), signal.SIGKILL)
    deadline = time.monotonic() + 15
    while answers(url) and time.monotonic() < deadline:
        pass
    again = EmbeddedServer(folder)
    assert again.start() == url
    with psycopg.connect(url) as connection:
        connection.execute("select x from kept")
    again.stop()
    server.stop()


def test_a_server_that_died_under_its_users_is_revived(folder: Path) -> None:
    """Reviving starts it again with its data, and leaves a server that runs alone."""
    server = EmbeddedServer(folder)
    url = server.start()
    with psycopg.connect(url) as connection:
        connection.execute("create table kept (x int)")
    assert not server.revive()
    os.kill(postmaster(folder), signal.SIGKILL)
    deadline = time.monotonic() + 15
    while answers(url) and time.monotonic() < deadline:
        pass
    assert server.revive()
    with psycopg.connect(url) as connection:
        connection.execute("select x from kept")
    server.stop()
    assert not answers(url)


def test_a_forked_child_leaves_the_server_alone(folder: Path) -> None:
    """A web process that ends unwinds what it inherited; the server is its parent's."""
    code = (
        "import os; from pathlib import Path; import psycopg; from clara.adapters.postgres.embedded import EmbeddedServer;"
        f"server = EmbeddedServer(Path({str(folder)!r})); url = server.start(); child = os.fork();"
        "child or (server.stop(), os._exit(0)); os.waitpid(child, 0);"
        "psycopg.connect(url).close(); server.stop(); print('alive')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=200, check=False)
    assert (done.stdout, done.returncode) == ("alive\n", 0), done.stderr


def test_it_listens_on_no_port_and_offers_pgvector(folder: Path) -> None:
    """Only the UNIX socket of its own folder leads in; the server passes the check that every server must pass."""
    server = EmbeddedServer(folder)
    url = server.start()
    with psycopg.connect(url) as connection:
        assert connection.execute("show listen_addresses").fetchone() == ("",)
    engine = open_engine(url)
    check_server(engine)
    engine.dispose()
    server.stop()


def test_a_long_path_moves_the_socket(folder: Path) -> None:
    """A socket address holds 107 bytes: below a long path the socket goes to the temporary folder."""
    server = EmbeddedServer(folder / ("long" * 30))
    url = server.start()
    assert answers(url)
    assert "long" not in url
    server.stop()


@pytest.mark.parametrize(
    ("prepare", "message"),
    [
        pytest.param(lambda folder: (folder / "file").write_text("x"), "CLARA_HOME", id="not a folder"),
        pytest.param(
            lambda folder: (
                (folder / "file" / "postgresql-18" / "data").mkdir(parents=True)
                or (folder / "file" / "postgresql-18" / "data" / "PG_VERSION").write_text("18")
            ),
            "RAG_DB_URL",
            id="broken data",
        ),
    ],
)
def test_what_prevents_the_start_is_named(folder: Path, prepare: Callable[[Path], object], message: str) -> None:
    """The error says where and what to do."""
    prepare(folder)
    with pytest.raises(EmbeddedServerError, match=message):
        EmbeddedServer(folder / "file").start()


def test_root_is_told_about_a_closed_folder(folder: Path) -> None:
    """Root's server runs as somebody else, who must be able to enter; nothing is opened behind root's back."""
    closed = folder / "closed"
    closed.mkdir(mode=0o700)
    assert not reachable_by_others(closed / "below")
    with pytest.raises(EmbeddedServerError, match="/var/lib/clara"):
        EmbeddedServer(closed / "below", account=Account("somebody", os.getuid() + 1, os.getgid() + 1)).start()
    assert closed.stat().st_mode & 0o777 == 0o700


@pytest.fixture
def far_away(folder: Path) -> Path:
    """A folder whose path is too long for a socket, which is made in the temporary folder then."""
    return folder / ("x" * 90)


def socket_folder(home: Path) -> Path:
    return EmbeddedServer(home)._socket_folder()


@pytest.mark.parametrize(
    ("make", "fault"),
    [
        pytest.param(lambda path, _: path.mkdir(mode=0o700) or os.chown(path, 12345, 12345), "another user", id="another-s"),
        pytest.param(lambda path, _: path.mkdir() or path.chmod(0o777), "open to other users", id="open"),
        pytest.param(lambda path, folder: path.symlink_to(folder), "link", id="link"),
    ],
)
def test_a_socket_folder_that_somebody_else_made_is_refused(
    folder: Path, far_away: Path, make: Callable[[Path, Path], object], fault: str
) -> None:
    """Its name can be known beforehand; nothing of it is changed, and the message says what to do."""
    sockets = socket_folder(far_away)
    assert sockets.parent == Path(tempfile.gettempdir())
    if fault == "another user" and os.geteuid() != 0:
        pytest.skip("only root can give a folder away")
    make(sockets, folder)
    before = sockets.lstat()
    try:
        with pytest.raises(EmbeddedServerError, match=f"{fault}.*RAG_DB_URL"):
            EmbeddedServer(far_away).start()
        after = sockets.lstat()
        assert (after.st_uid, after.st_mode) == (before.st_uid, before.st_mode)
    finally:
        sockets.unlink() if sockets.is_symlink() else sockets.rmdir()


def test_its_own_socket_folder_is_used_again(far_away: Path) -> None:
    """A second start finds it as the first one left it."""
    sockets = socket_folder(far_away)
    try:
        for _ in range(2):
            server = EmbeddedServer(far_away)
            assert answers(server.start())
            server.stop()
        assert sockets.stat().st_mode & 0o077 == 0
    finally:
        shutil.rmtree(sockets, ignore_errors=True)


def test_lock_files_are_for_their_owner(folder: Path) -> None:
    """Whoever could open them could hold their locks; those of an older release are closed as well."""
    home = folder / f"postgresql-{EmbeddedServer(folder)._release.split('.')[0]}"
    home.mkdir()
    (home / "users.lock").touch(mode=0o666)
    server = EmbeddedServer(folder)
    server.start()
    server.stop()
    assert {path.name: path.stat().st_mode & 0o777 for path in home.glob("*.lock")} == {
        "users.lock": 0o600,
        "start.lock": 0o600,
    }


def test_a_lock_file_that_is_a_link_is_refused(folder: Path) -> None:
    """Nothing is written where it leads."""
    home = folder / f"postgresql-{EmbeddedServer(folder)._release.split('.')[0]}"
    home.mkdir()
    (home / "start.lock").symlink_to(folder / "elsewhere")
    with pytest.raises(EmbeddedServerError, match=r"start\.lock"):
        EmbeddedServer(folder).start()
    assert not (folder / "elsewhere").exists()
