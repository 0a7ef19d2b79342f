"""The job engine on its database, as Clara opens it."""

import asyncio
from typing import Any, Final

import psycopg
from procrastinate import App, PsycopgConnector
from psycopg_pool import AsyncConnectionPool

# The library's look for the next job is planned for the few jobs of a quiet hour: with 2,000 waiting it took 90 ms until the
# server's statistics were renewed a minute later. Never sorting, it takes 1 ms with or without statistics.
PLANNING: Final = "-c enable_sort=off"


async def opened_app(url: str, most_connections: int) -> App:
    """Give an engine that is not open yet, on a database that answers. Raises psycopg's errors when it does not.

    The pool asks ever more rarely for a database that is away; whether it is back is found out here, by whoever tries again.
    """
    await (await psycopg.AsyncConnection.connect(url, connect_timeout=3)).close()
    return App(
        connector=PsycopgConnector(
            conninfo=url,
            pool_factory=_pool_without_check,
            min_size=1,
            max_size=most_connections,
            timeout=5.0,
            kwargs={"options": PLANNING},
            configure=_at_once,
        )
    )


def _pool_without_check(*, check: object, **arguments: object) -> AsyncConnectionPool[Any]:
    """Leave out the check that asks the server before every use: what fails is met by starting anew."""
    del check
    return AsyncConnectionPool(**arguments)  # type: ignore[arg-type]  # whatever the library gives its pool


async def _at_once(connection: psycopg.AsyncConnection[Any]) -> None:
    """Commit each statement by itself: the library's calls are one statement each, so this takes one trip instead of three."""
    await connection.set_autocommit(True)


async def end_task(task: asyncio.Task[Any]) -> None:
    """Cancel a task until it has ended: one cancellation can be lost when a wait inside the task ends at the same moment."""
    while not task.done():
        task.cancel()
        await asyncio.wait([task], timeout=1.0)
