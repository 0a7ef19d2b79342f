"""Reading sources in the net and watching the gazette: what only the jobs that do so load."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path

from clara.adapters.boe.client import BoeClient, GazettePace
from clara.adapters.boe.consolidated import read_consolidated
from clara.adapters.documents.reader import MEDIA_TYPES, text_of
from clara.adapters.http.alerts import post_alert
from clara.adapters.http.fetcher import PoliteFetcher
from clara.adapters.postgres.editorial.gazette import PostgresGazette
from clara.container import Container
from clara.editorial import sources
from clara.editorial.gazette.watch import GazetteWatch
from clara.knowledge.procedure import madrid_today
from clara.knowledge.sources import RegisteredSource, SourceKind

Clock = Callable[[], datetime]


@contextmanager
def reading_the_net(container: Container) -> Iterator[sources.Read]:
    """Give what reads sources: norms through the gazette's interface for consolidated law, all else as pages."""
    settings = container.settings
    with (
        closing(PoliteFetcher(settings.clara_public_url or "")) as fetcher,
        closing(BoeClient(settings.boe_base_url)) as gazette,
    ):
        yield in_the_net(fetcher, gazette, madrid_today())


@contextmanager
def looking_at_sources(container: Container, folder: Path | None = None) -> Iterator[sources.Fetch]:
    """Give what looks at sources: in a folder of norms, or in the net, where a host that is out is soon left alone."""
    if folder is not None:
        yield sources.in_folder(folder)
        return
    with reading_the_net(container) as read:
        yield sources.looking(sources.giving_up(read, container.settings.boe_base_url))


def in_the_net(fetcher: PoliteFetcher, gazette: BoeClient, today: date) -> sources.Read:
    """Read norms through the gazette's interface for consolidated law, all else as pages."""

    def read(source: RegisteredSource, served: sources.Snapshot | None) -> sources.Live | sources.Unchanged:
        if source.kind is SourceKind.NORM:
            return sources.live_norm(read_consolidated(*gazette.norm(source.id), today), source.url)
        known = (served.etag, served.last_modified) if served else (None, None)
        wanted = sources.PageRequest(source.url, source.domain, source.pause_seconds, MEDIA_TYPES[source.kind], *known)
        fetched = fetcher.fetch(wanted)
        if isinstance(fetched, sources.Unchanged):
            return fetched
        text = text_of(fetched.content, fetched.media_type, source.kind)
        page = sources.Snapshot(source.id, source.kind, source.url, sources.digest_of_content(text), text)
        return sources.Live(replace(page, etag=fetched.etag, last_modified=fetched.last_modified))

    return read


@contextmanager
def watching_the_gazette(
    container: Container, webhook: str, pace: GazettePace | None = None, clock: Clock = lambda: datetime.now(UTC)
) -> Iterator[GazetteWatch]:
    """Give the watch; it posts to the webhook, if there is one."""
    with closing(BoeClient(container.settings.boe_base_url, pace)) as gazette:
        post = partial(post_alert, webhook) if webhook else None
        yield GazetteWatch(PostgresGazette(container.engine), gazette, post, clock)
