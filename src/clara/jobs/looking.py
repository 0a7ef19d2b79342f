"""What sources say now, read as ingestion reads them. However that fails, nothing is known of the source."""

from collections.abc import Callable
from pathlib import Path

from clara.ingestion.sources import SourceUnreachableError, Unchanged
from clara.jobs.taking_in import FAULTS, Read, in_files
from clara.knowledge.law.norm import Norm
from clara.knowledge.sources import RegisteredSource

# Gives a norm or the text of a page as it is now. Raises SourceUnreachableError.
Fetch = Callable[[RegisteredSource], Norm | str]


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
