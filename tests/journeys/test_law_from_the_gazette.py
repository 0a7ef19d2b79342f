"""Law from the gazette's site to the review queue and into the index, as an operator does it from a shell."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import pytest
from tests.integration.wired import CommandLine
from tests.unit.knowledge.law.law_samples import DATA

from clara.container import Container
from clara_lab.stand_ins.boe_server import GazetteRecordings, GazetteStandIn

NORM = "BOE-A-2015-10566"
BEFORE, AFTER = "d) Gran incapacidad.", "d) Gran incapacidad y e) otra más."


@pytest.fixture
def site() -> Iterator[GazetteStandIn]:
    """The gazette with one norm: the recorded answers of its interface for consolidated law."""
    folder = DATA / "boe_consolidated"
    held = GazetteRecordings(
        metadata={NORM: next(folder.glob("metadatos_*")).read_bytes()}, texts={NORM: next(folder.glob("texto_*")).read_bytes()}
    )
    site = GazetteStandIn(held).serve()
    yield site
    site.close()


def test_a_change_of_law_waits_until_somebody_accepts_it(
    empty_url: str, services_on: Callable[..., Container], site: GazetteStandIn
) -> None:
    """Nothing changes between two looks; a new wording waits and is not served, and is served once it was accepted."""
    services_on(empty_url).migrate()
    line = CommandLine(empty_url, BOE_BASE_URL=site.url)

    def clara(*arguments: str) -> tuple[int, str]:
        ran = line(*arguments)
        assert ran.raised is None, ran
        return ran.code, ran.out + ran.err

    assert clara("drift", "--source", NORM)[0] == 1  # nothing is served of it yet
    assert clara("ingest", "--source", NORM)[0] == 0
    assert clara("drift", "--source", NORM)[0] == 0
    site.held.texts[NORM] = _amended(site.held.texts[NORM])
    code, said = clara("drift", "--source", NORM)
    assert (code, "substantive" in said) == (1, True), said
    assert "otra más" not in clara("search", "--corpus", "law", "gran incapacidad otra más")[1]
    number = clara("review", "list")[1].split()[0].removeprefix("#")
    assert clara("review", "accept", number)[0] == 0
    assert "otra más" in clara("search", "--corpus", "law", "gran incapacidad otra más")[1]
    assert clara("drift", "--source", NORM)[0] == 0
    line.close()


def test_a_gazette_that_is_away_is_no_change(
    empty_url: str, services_on: Callable[..., Container], site: GazetteStandIn
) -> None:
    """A site that answers nothing leaves what is served, and says so."""
    services_on(empty_url).migrate()
    line = CommandLine(empty_url, BOE_BASE_URL=site.url)
    assert line("ingest", "--source", NORM).code == 0
    line.close()
    site.close()
    line = CommandLine(empty_url, BOE_BASE_URL=site.url)
    ran = line("drift", "--source", NORM)
    assert (ran.code, "unreachable" in ran.out) == (2, True), ran
    line.close()


def _amended(text: bytes) -> bytes:
    """Write a newer wording of the article: the same version of the block, with another text, in force from today."""
    content = text.decode()
    place = content.rindex("<version ")
    today = f"{datetime.now(UTC):%Y%m%d}"
    end = content.index("</version>", place) + len("</version>")
    newest = content[place:end].replace(BEFORE, AFTER)
    assert newest != content[place:end]
    for name in ("fecha_publicacion", "fecha_vigencia"):
        start = newest.find(f'{name}="')
        if start >= 0:
            start += len(name) + 2
            newest = newest[:start] + today + newest[start + 8 :]
    return (content[:end] + newest + content[end:]).encode()
