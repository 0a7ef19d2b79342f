"""The gazette is asked politely, and whatever its site does, a failure never looks like a day without an issue."""

from collections.abc import Iterator
from datetime import date
from pathlib import Path
from time import perf_counter

import pytest

from clara.adapters.boe.client import LONGEST_WAIT_SECONDS, USER_AGENT, BoeClient, GazettePace
from clara.editorial.gazette.issues import GazetteFormatError, GazetteUnavailableError, NoIssueError
from clara_lab.stand_ins.boe_server import FAULTS, GazetteStandIn, recorded, recordings
from clara_lab.stand_ins.server import ScriptedReply

FOLDER = Path(__file__).parents[3] / "data" / "boe_wire"
DAY, QUIET = date(2017, 10, 2), date(2017, 10, 1)
QUICK = GazettePace(exchange_seconds=0.4, pause_seconds=0, retry_seconds=0, tries=3)


@pytest.fixture
def site() -> Iterator[GazetteStandIn]:
    stand_in = GazetteStandIn(recordings(FOLDER)).serve()
    yield stand_in
    stand_in.close()


@pytest.fixture
def boe(site: GazetteStandIn) -> Iterator[BoeClient]:
    client = BoeClient(site.url, QUICK)
    yield client
    client.close()


@pytest.mark.parametrize(
    ("day", "items"),
    [
        (date(2017, 10, 2), 413),
        (date(2019, 12, 2), 287),
        (date(2017, 1, 6), 41),
        (date(2020, 8, 31), 143),
        (date(2021, 12, 23), 249),
        (date(2024, 2, 6), 3),
        (date(2026, 7, 8), 6),
    ],
)
def test_a_day_is_one_request(site: GazetteStandIn, boe: BoeClient, day: date, items: int) -> None:
    """Every recorded day comes through the wire whole, whatever form it is served in."""
    assert len(list(boe.day(day).items)) == items
    assert site.asked == [f"/datosabiertos/api/boe/sumario/{day:%Y%m%d}"]
    assert site.agents == {USER_AGENT}


def test_documents_are_asked_for_by_their_id(site: GazetteStandIn, boe: BoeClient) -> None:
    """An item's document comes from one request; one that does not exist is told apart."""
    assert boe.item("BOE-A-2023-16215").rank == "Real Decreto"
    with pytest.raises(NoIssueError):
        boe.item("BOE-A-2023-1")
    assert site.asked == [f"/diario_boe/xml.php?id=BOE-A-2023-{number}" for number in (16215, 1)]


def test_a_norm_has_metadata_and_text(site: GazetteStandIn, boe: BoeClient) -> None:
    """Both files of a norm come from the consolidated legislation."""
    site.held.texts["BOE-A-2015-10566"] = recorded(FOLDER, "api_consolidada_texto_LGSS_a194_abridged.xml")
    metadata, text = boe.norm("BOE-A-2015-10566")
    assert metadata == recorded(FOLDER, "api_consolidada_BOE-A-2015-10566_metadatos.xml")
    assert b"Gran incapacidad" in text


def test_a_day_without_an_issue_is_told_apart(site: GazetteStandIn, boe: BoeClient) -> None:
    """The gazette's own 404 is final and is not tried again."""
    with pytest.raises(NoIssueError):
        boe.day(QUIET)
    assert len(site.asked) == 1


@pytest.mark.parametrize("name", ["error", "busy", "hang", "cut", "drip", "reset", "lost", "moved"])
def test_a_site_that_does_not_serve_is_out(site: GazetteStandIn, name: str) -> None:
    """Errors, silence, half answers, somebody else's 404 and redirects: nothing is known about the day."""
    waits: list[float] = []
    client = BoeClient(site.url, GazettePace(exchange_seconds=0.2, pause_seconds=0, retry_seconds=2), waits.append)
    site.standing["sumario"] = FAULTS[name]
    begun = perf_counter()
    with pytest.raises(GazetteUnavailableError):
        client.day(QUIET)
    client.close()
    assert perf_counter() - begun < 5
    tried_again = name not in {"lost", "moved"}
    assert len(site.asked) == (3 if tried_again else 1)
    assert len(waits) == (2 if tried_again else 0)


@pytest.mark.parametrize("name", ["garbage", "page"])
def test_an_answer_that_is_no_data_is_refused(site: GazetteStandIn, boe: BoeClient, name: str) -> None:
    """A page with status 200 is asked for in both forms and then refused by name."""
    site.standing["sumario"] = FAULTS[name]
    with pytest.raises(GazetteFormatError):
        boe.day(DAY)
    assert len(site.asked) == 2


@pytest.mark.parametrize("name", ["error", "busy", "hang", "cut", "reset"])
def test_a_bump_is_not_noticed(site: GazetteStandIn, boe: BoeClient, name: str) -> None:
    """What fails once is asked again and found whole."""
    site.faults.append(("sumario", FAULTS[name]))
    assert len(list(boe.day(DAY).items)) == 413


def test_what_cannot_be_read_as_json_is_asked_for_as_xml(site: GazetteStandIn, boe: BoeClient) -> None:
    """A service that stops to serve JSON is still read."""
    site.faults.append(("sumario", ScriptedReply(status=406)))
    assert len(list(boe.day(DAY).items)) == 413


def test_requests_keep_their_distance(site: GazetteStandIn) -> None:
    """Between two requests there is a pause, none before the first."""
    waits: list[float] = []
    now = 0.0

    def wait(seconds: float) -> None:
        nonlocal now
        waits.append(seconds)
        now += seconds

    client = BoeClient(site.url, GazettePace(pause_seconds=1.5), wait, lambda: now)
    client.day(DAY)
    assert waits == []
    client.day(DAY)
    client.item("BOE-A-2023-16215")
    client.close()
    assert waits == [1.5, 1.5]
    assert client.requests == 3


def test_tries_are_further_apart_each_time_and_as_far_as_is_asked_for(site: GazetteStandIn) -> None:
    """Without a word the waits double; with Retry-After that long, up to a minute."""
    for headers, expected in (({}, [2.0, 4.0]), ({"Retry-After": "7"}, [7.0, 14.0]), ({"Retry-After": "86400"}, None)):
        waits: list[float] = []
        client = BoeClient(site.url, GazettePace(pause_seconds=0, retry_seconds=2), waits.append)
        site.faults += [("", ScriptedReply(status=503, headers=headers)), ("", ScriptedReply(status=500))]
        client.day(DAY)
        client.close()
        assert waits == (expected or [LONGEST_WAIT_SECONDS] * 2)


def test_an_answer_without_end_is_refused(site: GazetteStandIn, boe: BoeClient) -> None:
    """More than the largest document is not taken into memory."""
    site.standing["xml.php"] = ScriptedReply(body=b"<documento>" + b" " * 26_000_000)
    client = BoeClient(site.url, GazettePace(pause_seconds=0))
    with pytest.raises(GazetteFormatError, match="bytes"):
        client.item("BOE-A-2023-16215")
    client.close()


def test_an_id_is_no_path(boe: BoeClient, site: GazetteStandIn) -> None:
    """What is no id is never part of an address."""
    for wrong in ("../../etc/passwd", "BOE-A-2023-16215&x=1", ""):
        with pytest.raises(GazetteFormatError):
            boe.item(wrong)
        with pytest.raises(GazetteFormatError):
            boe.norm(wrong)
    assert site.asked == []


def test_an_address_that_is_none_names_the_setting() -> None:
    """The message says which variable to correct; a server that is not there is an outage."""
    client = BoeClient("http://127.0.0.1:port", QUICK)
    with pytest.raises(GazetteUnavailableError, match="BOE_BASE_URL"):
        client.day(DAY)
    client.close()
    client = BoeClient("http://127.0.0.1:1", QUICK)
    with pytest.raises(GazetteUnavailableError, match="3 tries"):
        client.day(DAY)
    client.close()
