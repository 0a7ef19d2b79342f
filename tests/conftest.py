"""One real PostgreSQL for the whole run, shared by all test processes; a database of its own, cloned, for each test."""

import fcntl
import hashlib
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

import hypothesis
import hypothesis.configuration
import psycopg
import pytest
import structlog
from psycopg import sql

from clara.adapters.postgres.embedded import EmbeddedServer
from clara.container import Container
from clara.processes.preparation import fill
from clara.settings import Settings

# Tests may lose their data when the machine fails; they may not wait for its disk.
TEST_OPTIONS = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "max_connections": "100"}

# Nothing of hypothesis is written into the checkout, and there is no deadline: a slow machine is no fault of the code.
hypothesis.configuration.set_hypothesis_home_dir(Path(tempfile.gettempdir()) / "hypothesis")
hypothesis.settings.register_profile("clara", database=None, deadline=None)
hypothesis.settings.load_profile("clara")


@pytest.fixture(autouse=True)
def _logs_as_they_were() -> Iterator[None]:
    """A test that runs a command in this process configures the logs; the next test captures them all the same."""
    yield
    structlog.reset_defaults()


@pytest.fixture(scope="session")
def shared_folder(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """A folder that every process of this run sees."""
    base = tmp_path_factory.getbasetemp()
    return base if worker_id == "master" else base.parent


@pytest.fixture(scope="session")
def server(shared_folder: Path) -> Iterator[EmbeddedServer]:
    """The PostgreSQL server of this run; its folder goes with the last process that uses it.

    Not below pytest's own folder: each pytest that starts closes that one to other accounts, and as root the server runs
    under another account.
    """
    mark = hashlib.sha256(str(shared_folder).encode()).hexdigest()[:12]
    folder = Path(tempfile.gettempdir()) / f"clara-tests-{mark}"
    embedded = EmbeddedServer(folder, TEST_OPTIONS)
    embedded.start()
    yield embedded
    embedded.stop()
    if not list(folder.glob("*/data/postmaster.pid")):
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def templates(server: EmbeddedServer, shared_folder: Path) -> dict[str, str]:
    """Databases to clone: `schema` is migrated and empty, `knowledge` holds everything in data/."""
    with (shared_folder / "templates.lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        _make_template(server, "schema", lambda services: services.migrate())
        _make_template(server, "knowledge", _fill)
    return {"schema": "schema", "knowledge": "knowledge"}


def _make_template(server: EmbeddedServer, name: str, make: Callable[[Container], object]) -> None:
    with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
        if connection.execute("select 1 from pg_database where datname = %s", [name]).fetchone():
            return
        half = f"{name}_half"
        connection.execute(sql.SQL("drop database if exists {}").format(sql.Identifier(half)))
        connection.execute(sql.SQL("create database {}").format(sql.Identifier(half)))
        services = Container(Settings(), server.url(half))
        make(services)
        services.close()
        connection.execute(sql.SQL("alter database {} rename to {}").format(sql.Identifier(half), sql.Identifier(name)))


def _fill(services: Container) -> None:
    services.migrate()
    fill(services, lambda _said: None)


@pytest.fixture
def clone(server: EmbeddedServer, templates: dict[str, str]) -> Iterator[Callable[[str], str]]:
    """Make databases like a template; they go when the test ends."""
    made: list[str] = []

    def make(template: str) -> str:
        name = f"test_{uuid4().hex}"
        with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
            connection.execute(
                sql.SQL("create database {} template {}").format(sql.Identifier(name), sql.Identifier(templates[template]))
            )
        made.append(name)
        return server.url(name)

    yield make
    with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
        for name in made:
            connection.execute(sql.SQL("drop database {} with (force)").format(sql.Identifier(name)))


@pytest.fixture
def empty_url(clone: Callable[[str], str]) -> str:
    """A migrated database without any passage."""
    return clone("schema")


@pytest.fixture
def knowledge_url(clone: Callable[[str], str]) -> str:
    """A database that holds the knowledge of data/."""
    return clone("knowledge")


@pytest.fixture
def services_on(tmp_path: Path) -> Iterator[Callable[..., Container]]:
    """Build services on a database with some settings and a spool of the test's; they are closed when the test ends."""
    made: list[Container] = []

    def make(url: str | None, **settings: object) -> Container:
        services = Container(Settings(**{"clara_spool": tmp_path / "spool", **settings}), url)
        made.append(services)
        return services

    yield make
    for services in made:
        services.close()
