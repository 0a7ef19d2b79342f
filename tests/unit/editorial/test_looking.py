"""What sources say now: whatever goes wrong is one named error, because then nothing is known of the source."""

from pathlib import Path

import pytest

from clara.adapters.boe.consolidated import ConsolidatedLawError
from clara.editorial.gazette.issues import GazetteUnavailableError
from clara.editorial.sources import (
    DocumentError,
    Live,
    Snapshot,
    SourceRefusedError,
    SourceUnreachableError,
    Unchanged,
    in_folder,
    looking,
)
from clara.knowledge.law.norm import Norm
from clara.knowledge.sources import RegisteredSource, SourceKind

DATA = Path(__file__).parents[2] / "data" / "legislation"
NAME = "BOE-A-2010-12710"


def source(name: str = NAME) -> RegisteredSource:
    return RegisteredSource(name, "Nombre", SourceKind.NORM, "https://www.boe.es/x", (), "boe.es", 7, 1.5)


def test_a_page_is_its_text() -> None:
    """The text is what is compared."""
    page = Snapshot("cita", "html", "https://sede.example.es/cita", "d", "Llama al 060.")
    assert looking(lambda _source, _served: Live(page))(source()).snapshot.content == "Llama al 060."


@pytest.mark.parametrize(
    "error",
    [
        SourceRefusedError("robots"), SourceUnreachableError("away"), DocumentError("no text"), ConsolidatedLawError("no XML"),
        GazetteUnavailableError("away"), OSError("gone"),
    ],
    ids=lambda error: type(error).__name__,
)  # fmt: skip
def test_what_cannot_be_had_is_unreachable(error: Exception) -> None:
    """However a source fails, it is one error that repeats the reason."""

    def read(_source: RegisteredSource, _served: Snapshot | None) -> Live:
        raise error

    with pytest.raises(SourceUnreachableError, match=str(error)):
        looking(read)(source())


def test_an_answer_without_content_is_unreachable() -> None:
    """A source that claims to be unchanged, though nobody asked, has said nothing."""
    with pytest.raises(SourceUnreachableError, match="without being asked"):
        looking(lambda _source, _served: Unchanged("https://x"))(source())


def test_a_folder_stands_for_the_gazette(tmp_path: Path) -> None:
    """A file under the norm's number is its state; one that holds another norm, or none, is unreachable."""
    norm = in_folder(DATA)(source()).norm
    assert isinstance(norm, Norm)
    assert norm.id == NAME
    (tmp_path / "BOE-A-2015-10566.md").write_text((DATA / f"{NAME}.md").read_text("utf-8"), "utf-8")
    (tmp_path / f"{NAME}.md").write_text("# Otra cosa", "utf-8")
    with pytest.raises(SourceUnreachableError, match=f"holds {NAME}"):
        in_folder(tmp_path)(source("BOE-A-2015-10566"))
    with pytest.raises(SourceUnreachableError, match="line 1"):
        in_folder(tmp_path)(source())
