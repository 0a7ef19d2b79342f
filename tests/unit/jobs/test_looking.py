"""What sources say now: norms through the gazette's interface, pages as text, and whatever goes wrong as one named error."""

from collections.abc import Mapping
from datetime import date
from pathlib import Path

import pytest

from clara.ingestion.sources import Fetched, SourceRefusedError, SourceUnreachableError, Unchanged, Wanted
from clara.jobs.looking import in_folder, in_the_net
from clara.knowledge.law.norm import Norm
from clara.knowledge.sources import RegisteredSource, SourceKind

DATA = Path(__file__).parents[2] / "data"
ADDRESS = "https://www.boe.es/datosabiertos/api/legislacion-consolidada/id/BOE-A-2015-10566/"
ANSWERS = {
    f"{ADDRESS}metadatos": (DATA / "boe_consolidated" / "metadatos_BOE-A-2015-10566.xml").read_bytes(),
    f"{ADDRESS}texto": (DATA / "boe_consolidated" / "texto_LGSS_a194_abridged.xml").read_bytes(),
    "https://sede.example.es/cita": b"<html><body><p>Llama al 060.</p></body></html>",
}


class Shelf:
    """A fetcher that has pages on a shelf, and remembers what was asked for."""

    def __init__(self, answers: Mapping[str, bytes | Exception | Unchanged]) -> None:
        self.answers = answers
        self.wanted: list[Wanted] = []

    def fetch(self, wanted: Wanted) -> Fetched | Unchanged:
        self.wanted.append(wanted)
        answer = self.answers.get(wanted.url, SourceUnreachableError("away"))
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, Unchanged) else Fetched(wanted.url, "text/html; charset=utf-8", answer)


def source(kind: SourceKind, url: str, name: str = "BOE-A-2015-10566") -> RegisteredSource:
    return RegisteredSource(name, "Nombre", kind, url, (), url.split("/")[2], 7, 1.5)


LAW = source(SourceKind.NORM, "https://www.boe.es/buscar/act.php?id=BOE-A-2015-10566")
CITA = source(SourceKind.HTML, "https://sede.example.es/cita", "cita")


def test_a_norm_is_read_through_the_interface() -> None:
    """Metadata and text are asked for politely, within the gazette's host, and give the norm as it holds on the day."""
    shelf = Shelf(ANSWERS)
    norm = in_the_net(shelf, date(2026, 8, 7))(LAW)
    assert isinstance(norm, Norm)
    assert norm.by_key["a194"].text == "d) Gran incapacidad."
    assert [(one.url.removeprefix(ADDRESS), one.domain, one.pause_seconds) for one in shelf.wanted] == [
        ("metadatos", "www.boe.es", 1.5), ("texto", "www.boe.es", 1.5),
    ]  # fmt: skip


def test_a_page_is_read_as_text() -> None:
    """The text of the page is what is compared."""
    assert in_the_net(Shelf(ANSWERS), date(2026, 8, 7))(CITA) == "Llama al 060."


@pytest.mark.parametrize(
    "answer",
    [SourceRefusedError("robots"), SourceUnreachableError("away"), Unchanged("x"), b"<html></html>", b""],
    ids=["refused", "away", "unchanged unasked", "no text", "nothing"],
)
def test_what_cannot_be_had_is_unreachable(answer: bytes | Exception | Unchanged) -> None:
    """However a page is missing, it is one error: nothing is known of it."""
    with pytest.raises(SourceUnreachableError):
        in_the_net(Shelf({CITA.url: answer}), date(2026, 8, 7))(CITA)


def test_an_answer_that_is_no_norm_is_unreachable() -> None:
    """Garbage from the interface is no change of the law."""
    with pytest.raises(SourceUnreachableError, match="text: the answer is no XML"):
        in_the_net(Shelf({**ANSWERS, f"{ADDRESS}texto": b"<html>"}), date(2026, 8, 7))(LAW)


def test_a_folder_stands_for_the_gazette(tmp_path: Path) -> None:
    """A file under the norm's number is its state; one that is missing, or holds another norm, is named."""
    name = "BOE-A-2010-12710"
    law = source(SourceKind.NORM, "https://www.boe.es/x", name)
    norm = in_folder(DATA / "legislation")(law)
    assert isinstance(norm, Norm)
    assert norm.id == name
    with pytest.raises(SourceUnreachableError, match=name):
        in_folder(tmp_path)(law)
    (tmp_path / "BOE-A-2015-10566.md").write_text((DATA / "legislation" / f"{name}.md").read_text("utf-8"), "utf-8")
    with pytest.raises(SourceUnreachableError, match=f"holds {name}; rename it"):
        in_folder(tmp_path)(LAW)
