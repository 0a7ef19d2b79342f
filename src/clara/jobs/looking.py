"""What sources say now: in the net, or in a folder of norms."""

from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from clara.adapters.boe.consolidated import ConsolidatedLawError, read_consolidated
from clara.adapters.documents.reading import MEDIA_TYPES, text_of
from clara.ingestion.sources import DocumentError, Fetched, Fetcher, SourceRefusedError, SourceUnreachableError, Wanted
from clara.knowledge.law.markdown import read_markdown
from clara.knowledge.law.norm import Norm, UnreadableNormError
from clara.knowledge.sources import RegisteredSource, SourceKind

# Gives a norm or the text of a page as it is now. Raises SourceUnreachableError: then nothing is known of it.
Fetch = Callable[[RegisteredSource], Norm | str]
GAZETTE: Final = "https://www.boe.es"
CONSOLIDATED: Final = "/datosabiertos/api/legislacion-consolidada/id/{id}/{part}"


def in_the_net(fetcher: Fetcher, today: date, gazette: str = GAZETTE) -> Fetch:
    """Read sources where they are: norms through the gazette's interface for consolidated law, all else as pages."""

    def fetch(source: RegisteredSource) -> Norm | str:
        try:
            if source.kind is SourceKind.NORM:
                site = str(urlsplit(gazette).hostname)
                parts = (f"{gazette}{CONSOLIDATED.format(id=source.id, part=part)}" for part in ("metadatos", "texto"))
                metadata, text = (_content(fetcher, source, url, "xml", site).content for url in parts)
                return read_consolidated(metadata, text, today)
            page = _content(fetcher, source, source.url, source.kind.value, source.domain)
            return text_of(page.content, page.media_type, source.kind.value)
        except (SourceRefusedError, DocumentError, ConsolidatedLawError) as error:
            raise SourceUnreachableError(str(error)) from error

    return fetch


def _content(fetcher: Fetcher, source: RegisteredSource, url: str, kind: str, domain: str) -> Fetched:
    fetched = fetcher.fetch(Wanted(url, domain, source.pause_seconds, MEDIA_TYPES[kind]))
    if isinstance(fetched, Fetched):
        return fetched
    raise SourceUnreachableError(f"{url} says that nothing changed, without being asked")


def in_folder(folder: Path) -> Fetch:
    """Read norms from Markdown files named by their numbers, as if that were their live state."""

    def fetch(source: RegisteredSource) -> Norm | str:
        path = folder / f"{source.id}.md"
        try:
            norm = read_markdown(path.read_text("utf-8"))
        except (OSError, UnicodeDecodeError, UnreadableNormError) as error:
            raise SourceUnreachableError(f"{path}: {error}") from error
        if norm.id != source.id:
            raise SourceUnreachableError(f"{path} holds {norm.id}; rename it, or correct its identifier")
        return norm

    return fetch
