"""Which edition a turn speaks from: the one of the version that is served when it begins, renewed where that is another."""

from collections.abc import Callable
from threading import Lock
from time import perf_counter
from typing import TYPE_CHECKING, Protocol, TypeVar

import structlog

from clara.container.edition import Edition, Version
from clara.container.knowledge import laid_over
from clara.container.lazily import Lazily
from clara.data_files import DataError
from clara.ingestion.ports import StoreUnavailableError
from clara.knowledge.passages import CORPUS
from clara.retrieval.corpus_alias import Standing
from clara.retrieval.passage import Found, Query, Retrieve

if TYPE_CHECKING:
    from clara.container import Container

Part = TypeVar("Part")
log = structlog.get_logger()


class Editions(Protocol):
    """Gives the edition that is to be spoken from."""

    def current(self) -> Edition:
        """Give it now; whoever got it keeps it to the end of what they do."""
        ...

    def by(self, services: "Container") -> "Editions":
        """Give the same of other services."""
        ...


class One:
    """Always the same edition: a version that is tried before it is served, or one of the past."""

    def __init__(self, services: "Container", version: Version) -> None:
        self._edition = Edition(services, version)

    def current(self) -> Edition:
        """Give it."""
        return self._edition

    def by(self, services: "Container") -> "One":
        """Give the same of other services."""
        return One(services, self._edition.version)


class AsServed:
    """The edition of what is served, which one exchange with the database finds out.

    Whoever comes first after a switch builds the new one, and those who come meanwhile wait for it: nobody who asks after a
    switch is answered from before. While the database is away, what was known last is spoken; at first data/ alone.
    """

    def __init__(self, services: "Container") -> None:
        self._services = services
        self._lock = Lock()
        self._held: Edition | None = None

    def current(self) -> Edition:
        """Give the edition of what is served now."""
        standing = self._services.versions.get().standing(CORPUS) if self._services.database_url else None
        held = self._held
        if held is not None and (standing is None or _serves(held, standing)):
            return held
        with self._lock:
            if self._held is None or (standing is not None and not _serves(self._held, standing)):
                self._held = self._renewed(self._held, standing)
            return self._held

    def by(self, services: "Container") -> "AsServed":
        """Give the same of other services."""
        return AsServed(services)

    def _renewed(self, held: Edition | None, standing: Standing | None) -> Edition:
        """Build the edition of what stands there; the one that is held, or data/ alone, where that cannot be read."""
        started = perf_counter()
        try:
            made = Edition(self._services, self._version(standing))
            if held is not None:
                made.tools.get()
        except (StoreUnavailableError, DataError) as error:
            log.warning("knowledge not renewed", reason=str(error))
            return held or Edition(self._services, self._version(None))
        if held is not None:
            spent = round((perf_counter() - started) * 1000, 1)
            log.info("knowledge renewed", version=made.version.publication, total_ms=spent)
        return made

    def _version(self, standing: Standing | None) -> Version:
        services = self._services
        released = services.released.get()
        if standing is None or standing.publication is None:
            return Version(released, {CORPUS: standing.physical} if standing else {}, flagged=services.flagged)
        held = services.revisions().of(services.publications().revisions(standing.publication))
        knowledge, done = laid_over(released, held)
        for lost in done.lost:
            log.warning("correction left out", reason=str(lost))
        return Version(knowledge, {CORPUS: standing.physical}, standing.publication, flagged=services.flagged)


def _serves(held: Edition, standing: Standing) -> bool:
    return (held.version.physical, held.version.publication) == (standing.physical, standing.publication)


class Current(Lazily[Part]):
    """A part of the edition that is spoken from, whichever that is when it is asked for."""

    def __init__(self, editions: Editions, part: Callable[[Edition], Lazily[Part]]) -> None:
        super().__init__(lambda: part(editions.current()).get())

    def get(self) -> Part:
        """Give it as it is now."""
        return self._build()


def asking(editions: Editions, part: Callable[[Edition], Lazily[Retrieve]]) -> Retrieve:
    """Ask each question of the edition of its moment. What can be built wrong is built now."""
    part(editions.current()).get()

    def retrieve(query: Query) -> Found:
        return part(editions.current()).get()(query)

    return retrieve
