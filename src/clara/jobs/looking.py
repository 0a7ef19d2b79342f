"""What sources say now, read as ingestion reads them. However that fails, nothing is known of the source."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from clara.ingestion.gazette.issues import GazetteUnavailableError
from clara.ingestion.sources import HostOutError, Snapshot, SourceUnreachableError, Unchanged
from clara.jobs.taking_in import FAULTS, Live, Read, in_files
from clara.knowledge.law.norm import Norm
from clara.knowledge.sources import RegisteredSource, SourceKind

# Gives a norm or the text of a page as it is now. Raises SourceUnreachableError.
Fetch = Callable[[RegisteredSource], Norm | str]
# After so many failures in a row a host is asked no more: each takes up to a minute, and the next run asks again.
STRIKES: Final = 3


def giving_up(read: Read, gazette: str) -> Read:
    """Leave the other sources of a host alone once it was out for several in a row; they are not reached, and say so.

    Where as many hosts were out and none has ever answered, it is this machine that is cut off: nothing else is asked.
    `gazette` is the address at which norms are read. A page that is gone, or cannot be read, is no failure of its host.
    """
    strikes: Counter[str] = Counter()
    answered: set[str] = set()

    def sparing(source: RegisteredSource, served: Snapshot | None) -> Live | Unchanged:
        host = urlsplit(gazette if source.kind is SourceKind.NORM else source.url).netloc
        if strikes[host] >= STRIKES:
            raise SourceUnreachableError(f"was not asked: {host} was out {STRIKES} times in a row; run it again later")
        if not answered and len(strikes) >= STRIKES:
            raise SourceUnreachableError(f"was not asked: {len(strikes)} hosts were out and none answers; look at the network")
        try:
            live = read(source, served)
        except (HostOutError, GazetteUnavailableError):
            strikes[host] += 1
            raise
        except FAULTS:
            answer(host)
            raise
        answer(host)
        return live

    def answer(host: str) -> None:
        answered.add(host)
        strikes[host] = 0

    return sparing


def looking(read: Read) -> Fetch:
    """Make one error of all that may be wrong with a source, and ask for its whole state, never whether it changed."""

    def fetch(source: RegisteredSource) -> Norm | str:
        try:
            live = read(source, None)
        except FAULTS as error:
            raise SourceUnreachableError(str(error)) from error
        if isinstance(live, Unchanged):
            raise SourceUnreachableError(f"{live.url} says that nothing changed, without being asked")
        return live.norm or live.snapshot.content

    return fetch


def in_folder(folder: Path) -> Fetch:
    """Read norms from Markdown files named by their numbers, as if that were their live state."""
    return looking(in_files({path.stem: path for path in folder.glob("*.md")}))
