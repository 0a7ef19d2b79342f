"""Counting what a piece of work does outside itself, and making one of these effects go wrong.

Statements and commits are met at the driver, so that nothing below passes by: the engine gets connections of a class of ours.
"""

import os
import re
import signal
from collections.abc import Callable
from dataclasses import dataclass, field
from errno import EIO
from pathlib import Path
from typing import Any, TypeVar

import psycopg
from sqlalchemy import Engine, event

from clara.delivery.message import Outgoing

T = TypeVar("T")
WRITES = re.compile(r"\b(?:update \w+(?: \w+)? set|update outbox|insert into|delete from)\b")
VERB = re.compile(r"\b(insert into|update|delete from|select)\b", re.IGNORECASE)
TABLE = re.compile(r"\b(inbox|outbox|turns|usage|procrastinate_\w+)\b")
BEFORE, AFTER, TIMEOUT, KILL_BEFORE, KILL_AFTER = "before", "after", "time-out", "kill before", "kill after"
MODES = (BEFORE, AFTER, TIMEOUT, KILL_BEFORE, KILL_AFTER)


@dataclass(slots=True)
class Effects:
    """Every effect in order, with the call of delivery it belongs to; the `target`th (from 1) goes wrong as `mode` says."""

    target: int = 0
    mode: str = ""
    armed: bool = False
    calls: list[str] = field(default_factory=list)
    seen: list[tuple[str, str]] = field(default_factory=list)
    on_disk: dict[int, int] = field(default_factory=dict)

    def met(self, name: str, act: Callable[[], T], wrong: Callable[[str], Exception]) -> T:
        """Do what has an effect. `wrong` prepares and gives the error of a mode."""
        if not self.armed:
            return act()
        self.seen.append((self.calls[-1] if self.calls else "", name))
        mode = self.mode if len(self.seen) == self.target else ""
        if mode == KILL_BEFORE:
            _die()
        if mode == BEFORE:
            raise wrong(mode)
        result = act()
        if mode == KILL_AFTER:
            _die()
        if mode in {AFTER, TIMEOUT}:
            raise wrong(mode)
        return result

    def fsync(self, descriptor: int) -> None:
        """Stand for os.fsync."""
        self.met("fsync", lambda: os.fsync(descriptor), lambda _mode: OSError(EIO, os.strerror(EIO)))
        status = os.fstat(descriptor)
        self.on_disk[status.st_ino] = status.st_size

    def check_on_disk(self, folder: Path) -> None:
        """Make sure that the power may fail now: a killed process leaves its bytes to the system, a dark machine does not."""
        for file in folder.glob("*"):
            assert self.on_disk.get(file.stat().st_ino) == file.stat().st_size, "acknowledged before it was on the disk"


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class Connection(psycopg.Connection[Any]):
    """A connection whose statements and commits are counted."""

    effects: Effects

    def commit(self) -> None:
        """Commit, or not."""
        self.effects.met("commit", super().commit, self.broken_off)

    def broken_off(self, mode: str) -> Exception:
        """Give what the driver raises: a time-out leaves the connection, anything else ends it."""
        if mode == TIMEOUT:
            return psycopg.errors.QueryCanceled("canceling statement due to statement timeout")
        self.close()
        return psycopg.OperationalError("server closed the connection unexpectedly")


class Cursor(psycopg.Cursor[Any]):
    """A cursor whose statements are counted."""

    def execute(self, query: Any, *args: Any, **options: Any) -> Any:
        """Execute, or not."""
        held: Any = self.connection
        act = super().execute
        name = _named(query, at_once=held.autocommit)
        return held.effects.met(name, lambda: act(query, *args, **options), held.broken_off)

    def executemany(self, query: Any, *args: Any, **options: Any) -> Any:
        """Execute many, or not."""
        held: Any = self.connection
        act = super().executemany
        return held.effects.met(_named(query, at_once=held.autocommit), lambda: act(query, *args, **options), held.broken_off)


def _named(query: Any, *, at_once: bool) -> str:
    """Name a statement by what it does first; one that writes and is its own transaction commits as well."""
    text = query if isinstance(query, str) else query.decode() if isinstance(query, bytes) else query.as_string(None)
    verb, table = VERB.search(text), TABLE.search(text)
    name = f"{verb[1].lower()} {table[1]}" if verb and table else "ping"
    return f"commit {name}" if at_once and WRITES.search(text) else name


class Watch:
    """Gives an engine connections that are counted in `effects`, which may be changed between two uses."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.effects = Effects()
        event.listen(engine, "do_connect", self._connect)

    def begin(self, effects: Effects) -> None:
        """Count in these from now on; a connection is opened, so that opening it is no effect."""
        self.effects = effects
        with self.engine.connect() as connection:
            connection.exec_driver_sql("select 1")

    def _connect(self, _dialect: object, _record: object, arguments: list[Any], options: dict[str, Any]) -> Connection:
        connection = Connection.connect(*arguments, **options)
        connection.effects = self.effects
        connection.cursor_factory = Cursor
        return connection


class Named:
    """Stands before a desk or a sender and notes each call; requests of a sender are effects."""

    def __init__(self, inner: object, effects: Effects, *requests: str) -> None:
        self._inner = inner
        self._effects = effects
        self._requests = requests

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Give the method, with a note before it."""
        method = getattr(self._inner, name)

        def noted(*arguments: Any) -> Any:
            parts = [f" {argument.part}" for argument in arguments if isinstance(argument, Outgoing)]
            self._effects.calls.append(name + "".join(parts))
            if name not in self._requests:
                return method(*arguments)
            # An error of the channel's is the stand-in's to make.
            return self._effects.met(f"http {name}", lambda: method(*arguments), lambda _mode: AssertionError(name))

        return noted
