"""A wired engine to test: a database for a whole module, services that share what is slow to read, and the command line."""

import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from uuid import uuid4

import numpy as np
import psycopg
from psycopg import sql
from tests.integration.shell import FORKS, serve

from clara.adapters.models.local import LocalEmbedder
from clara.adapters.postgres.embedded import EmbeddedServer
from clara.container import Container
from clara.retrieval.ports import EmbedderUnavailableError, Role
from clara.settings import Settings, child_environment


@contextmanager
def database(server: EmbeddedServer, template: str) -> Iterator[str]:
    """Make a database like a template, and give its address."""
    name = sql.Identifier(made := f"test_{uuid4().hex}")
    with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
        connection.execute(sql.SQL("create database {} template {}").format(name, sql.Identifier(template)))
    yield server.url(made)
    with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
        connection.execute(sql.SQL("drop database {} with (force)").format(name))


@contextmanager
def wired(url: str | None, **settings: object) -> Iterator[Container]:
    """Give services with the knowledge and the model that all of them share."""
    services = Container(Settings(**settings), url)
    services.embedder = bundled()
    yield services
    services.close()


@cache
def bundled() -> LocalEmbedder:
    """The real model, loaded once."""
    return LocalEmbedder()


def forget(services: Container, part: str) -> None:
    """Let a part that was built be built anew, as after the seconds for which it remembers."""
    vars(services).pop(part).close()


class WordEmbedder:
    """Gives each word a direction of its own, and stands in where the real model would be slow; fails after `most` texts."""

    model = "words"
    dimensions = 384

    def __init__(self, most: float = float("inf")) -> None:
        self.embedded: list[str] = []
        self._most = most

    def embed(self, texts: Sequence[str], role: Role) -> list[list[float]]:
        if len(self.embedded) + len(texts) > self._most:
            raise EmbedderUnavailableError("no more")
        self.embedded += texts
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> list[float]:
        sums = np.zeros(self.dimensions)
        for word in re.findall(r"\w+", text.casefold()):
            sums[zlib.crc32(word.encode()) % self.dimensions] += 1
        return (sums / (np.linalg.norm(sums) or 1)).tolist()


@dataclass(frozen=True)
class Ran:
    """What became of a command. `raised` is an error that was not turned into a message."""

    code: int
    out: str
    err: str
    raised: str | None


class CommandLine:
    """The command line in a process of its own, on one database: `cli` of a module, or what is named after a colon."""

    def __init__(self, url: str, module: str = "clara.cli", **environment: str) -> None:
        held = child_environment(RAG_DB_URL=url, CLARA_CHANNEL="local", **environment)
        self._commands, theirs = FORKS.Pipe()
        self._process = FORKS.Process(target=serve, args=(theirs, module, held), daemon=True)
        self._process.start()
        theirs.close()

    def __call__(self, *arguments: object) -> Ran:
        self.begin(*arguments)
        return Ran(*self._commands.recv())

    def begin(self, *arguments: object) -> None:
        """Give a command that nobody waits for."""
        self._commands.send([str(argument) for argument in arguments])

    def kill(self) -> None:
        """End the process in the middle of its command, as kill -9 does. Fails when it had ended before."""
        assert self._process.is_alive()
        self._process.kill()
        self._end()

    def close(self) -> None:
        self._commands.send(None)
        self._end()

    def _end(self) -> None:
        self._process.join(timeout=20)
        self._process.close()
        self._commands.close()
