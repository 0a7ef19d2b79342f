"""The gazette is watched on a real database and a real client: nothing is missed, nothing is told twice."""

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import date, timedelta
from pathlib import Path
from threading import Barrier

import pytest
from gazette_days import DECREE, INCOME, TODAY, Runs, Webhook, at, document, entry, ordinary, publish
from tests.integration.editing import quiet

from clara.adapters.postgres.editorial.gazette import PostgresGazette
from clara.container import Container
from clara.delivery.ports import StoreUnavailableError
from clara.editorial.gazette.issues import DayReading, DayState
from clara.editorial.gazette.watch import DayChoice, WatchError, look_at, open_alerts
from clara.processes.editorial_jobs import Telling, watch_gazette
from clara_lab.stand_ins.boe_server import FAULTS, GazetteStandIn, recordings

FOLDER = Path(__file__).parents[1] / "data" / "boe_wire"
MODIFIED = entry(7, "Orden ISM/7/2026, de 1 de julio, por la que se regula otra cosa")


@pytest.fixture
def site() -> Iterator[GazetteStandIn]:
    stand_in = GazetteStandIn().serve()
    yield stand_in
    stand_in.close()


@pytest.fixture
def webhook() -> Iterator[Webhook]:
    made = Webhook().serve()
    yield made
    made.close()


@pytest.fixture
def run(empty_url: str, services_on: Callable[..., Container], site: GazetteStandIn) -> Runs:
    return Runs(services_on(empty_url, boe_base_url=site.url))


@pytest.fixture
def store(run: Runs) -> PostgresGazette:
    return PostgresGazette(run.services.engine)


def back(days: int) -> date:
    return TODAY - timedelta(days=days)


def modify(site: GazetteStandIn, day: date, number: int = 7, norm: str = DECREE) -> None:
    """Publish a day on which an order modifies a norm that we cite."""
    item = {**MODIFIED, "identificador": f"BOE-A-2026-{number}"}
    site.held.documents[item["identificador"]] = document(item["identificador"], ("MODIFICA", norm))
    publish(site, day, {"1": [item], "3": [entry(number + 900, "Resolución por la que se publica el Convenio con X")]})


def states(store: PostgresGazette) -> dict[int, str]:
    """Give the state of each known day by how many days ago it was."""
    return {(TODAY - day).days: str(known.state) for day, known in store.known().items()}


def test_a_change_of_a_cited_norm_is_told_with_what_it_touches(run: Runs, site: GazetteStandIn) -> None:
    """The alert names the relation, the norm, every fact that rests on it, and the procedures with their counts."""
    modify(site, TODAY)
    outcome = run()
    assert outcome.exit_code == 1
    [alert] = outcome.report["alerts"]
    facts = [
        fact.id
        for procedure in run.services.snapshot().knowledge.catalogue.procedures.values()
        for fact in procedure.facts
        if DECREE in {basis.norm for basis in fact.legal_basis}
    ]
    assert alert["facts"] == facts
    assert sum(alert["facts_by_procedure"].values()) == len(facts) > 50
    assert set(alert["facts_by_procedure"]) <= set(alert["procedures"])
    assert (alert["id"], alert["norms"]) == ("BOE-A-2026-7", [DECREE])
    assert alert["reasons"][0]["relation"] == "MODIFICA"
    assert f"MODIFICA {DECREE}: el art. 5" in "\n".join(run.said)
    assert outcome.report["requests"] == 2
    json.dumps(outcome.report)


def test_a_quiet_day_is_quiet(run: Runs, site: GazetteStandIn) -> None:
    """A day with nothing for us ends with 0, after one request for the summary and one for its only disposition."""
    publish(site, TODAY, ordinary(20))
    outcome = run()
    assert (outcome.exit_code, outcome.report["alerts"], outcome.report["requests"]) == (0, [], 2)


@pytest.mark.parametrize(
    ("day", "items", "requests"),
    [
        (date(2017, 1, 6), 41, 2),
        (date(2017, 10, 2), 413, 7),
        (date(2019, 12, 2), 287, 5),
        (date(2020, 8, 31), 143, 5),
        (date(2021, 12, 23), 249, 18),
    ],
)
def test_recorded_days_are_read_whole(
    run: Runs, site: GazetteStandIn, store: PostgresGazette, day: date, items: int, requests: int
) -> None:
    """Each complete recorded day: all items, few requests, no false alarm; documents that cannot be had leave it unread."""
    site.held = recordings(FOLDER)
    outcome = run(day=day)
    assert outcome.exit_code == 2
    assert outcome.report["days"][0]["state"] == "failed"
    for asked in [address.partition("id=")[2] for address in site.asked if "xml.php" in address]:
        site.held.documents[asked] = document(asked)
    outcome = run(day=day)
    assert (outcome.exit_code, outcome.report["days"][0]["items"]) == (0, items)
    assert (outcome.report["requests"], outcome.report["alerts"]) == (requests, [])


def test_running_twice_tells_once(run: Runs, site: GazetteStandIn, webhook: Webhook) -> None:
    """The second run finds nothing new and posts nothing, whatever it reads again."""
    modify(site, TODAY)
    assert run(notify=True, webhook=webhook.url).exit_code == 1
    assert run(notify=True, webhook=webhook.url).exit_code == 0
    assert run(day=TODAY, notify=True, webhook=webhook.url).exit_code == 0
    assert webhook.told == ["BOE-A-2026-7"]
    message = webhook.posted[0]
    assert DECREE in message["alerts"][0]["norms"]
    assert "BOE-A-2026-7 (" in message["text"]
    assert "https://www.boe.es/diario_boe/txt.php?id=BOE-A-2026-7" in message["text"]


def test_without_being_asked_to_nothing_is_posted(
    empty_url: str, services_on: Callable[..., Container], site: GazetteStandIn, webhook: Webhook
) -> None:
    """The setting alone posts nothing; with --notify it is where alerts go, the earlier ones included."""
    run = Runs(services_on(empty_url, boe_base_url=site.url, clara_alert_webhook=webhook.url))
    modify(site, TODAY)
    assert run().exit_code == 1
    assert webhook.told == []
    outcome = run(notify=True)
    assert (outcome.exit_code, outcome.report["told"], webhook.told) == (0, ["BOE-A-2026-7"], ["BOE-A-2026-7"])


def test_nowhere_to_post_is_said_at_once(run: Runs, site: GazetteStandIn) -> None:
    """Before anything is read, the message names the setting and the option."""
    with pytest.raises(WatchError, match="CLARA_ALERT_WEBHOOK"):
        watch_gazette(run.services, DayChoice(), Telling(quiet, notify=True), quiet)
    assert site.asked == []


@pytest.mark.parametrize("status", [500, 404, 302])
def test_what_the_webhook_does_not_take_is_told_later(run: Runs, site: GazetteStandIn, webhook: Webhook, status: int) -> None:
    """An alert counts as told after a status that begins with 2, and not before."""
    modify(site, TODAY)
    webhook.answer = lambda: status
    outcome = run(notify=True, webhook=webhook.url)
    assert outcome.exit_code == 2
    assert f"answered {status}" in outcome.report["untold"]
    webhook.answer = lambda: 200
    outcome = run(notify=True, webhook=webhook.url)
    assert (outcome.exit_code, webhook.told) == (0, ["BOE-A-2026-7"])


def test_the_address_of_the_webhook_is_not_told(run: Runs, site: GazetteStandIn) -> None:
    """Many webhooks are secret by their path; only the host is in the report."""
    modify(site, TODAY)
    outcome = run(notify=True, webhook="http://127.0.0.1:1/secret-path")
    assert outcome.exit_code == 2
    assert "secret-path" not in json.dumps(outcome.report) + "".join(run.said)
    assert "127.0.0.1" in outcome.report["untold"]


def test_many_alerts_are_posted_in_portions(run: Runs, site: GazetteStandIn, webhook: Webhook) -> None:
    """A bad day does not make a message that no webhook takes."""
    items = [entry(number, f"Orden {number}/2026 por la que se modifica la Ley 19/2021") for number in range(45)]
    publish(site, TODAY, {"1": items})
    run(notify=True, webhook=webhook.url)
    assert [len(message["alerts"]) for message in webhook.posted] == [20, 20, 5]
    assert len(set(webhook.told)) == 45


def test_missed_days_are_caught_up(run: Runs, site: GazetteStandIn, store: PostgresGazette) -> None:
    """After four days away every one of them is read, the oldest first, also those on which nothing is published."""
    publish(site, back(5), ordinary(20))
    assert run(at=at(back(5), 23)).exit_code == 0
    modify(site, back(3))
    publish(site, back(2), ordinary(40))
    publish(site, TODAY, ordinary(60))
    outcome = run(at=at(TODAY, 9))
    assert outcome.exit_code == 1
    assert [(entry["day"], entry["state"]) for entry in outcome.report["days"]] == [
        (str(back(days)), state)
        for days, state in ((5, "read"), (4, "none"), (3, "read"), (2, "read"), (1, "none"), (0, "read"))
    ]
    assert states(store) == {5: "read", 4: "none", 3: "read", 2: "read", 1: "none", 0: "read"}


def test_a_first_run_reads_today_only(run: Runs, site: GazetteStandIn) -> None:
    """The past is read when it is asked for: --days counts today."""
    modify(site, back(2))
    assert [entry["day"] for entry in run().report["days"]] == [str(TODAY)]
    assert [entry["day"] for entry in run(days=3).report["days"]] == [str(back(2)), str(back(1)), str(TODAY)]


@pytest.mark.parametrize("name", ["error", "hang", "cut", "garbage", "page", "reset", "lost"])
def test_a_failed_day_is_never_a_quiet_day(run: Runs, site: GazetteStandIn, store: PostgresGazette, name: str) -> None:
    """Whatever the site does, the day stays failed, the others are read, and the next run reads it."""
    modify(site, back(1))
    publish(site, TODAY, ordinary(20))
    site.standing[f"sumario/{back(1):%Y%m%d}"] = FAULTS[name]
    outcome = run(days=2)
    assert outcome.exit_code == 2
    assert [entry["state"] for entry in outcome.report["days"]] == ["failed", "read"]
    assert outcome.report["days"][0]["error"]
    assert states(store) == {1: "failed", 0: "read"}
    assert run().exit_code == 2
    site.standing.clear()
    outcome = run()
    assert (outcome.exit_code, [alert["id"] for alert in outcome.report["alerts"]]) == (1, ["BOE-A-2026-7"])
    assert states(store) == {1: "read", 0: "read"}
    assert run(at=at(TODAY + timedelta(days=1), 9)).exit_code == 0


def test_a_document_that_cannot_be_had_leaves_the_day_failed(
    run: Runs, site: GazetteStandIn, store: PostgresGazette, webhook: Webhook
) -> None:
    """What the summary tells is kept and told; the rest comes next time, and nothing is told twice."""
    modify(site, TODAY, 7)
    by_title = entry(8, "Orden por la que se modifica la Ley 19/2021, de 20 de diciembre")
    site.held.documents["BOE-A-2026-8"] = document("BOE-A-2026-8", ("MODIFICA", INCOME), ("DEROGA", DECREE))
    publish(site, TODAY, {"1": [MODIFIED, by_title]})
    site.standing["xml.php"] = FAULTS["error"]
    outcome = run(notify=True, webhook=webhook.url)
    assert (outcome.exit_code, webhook.told) == (2, ["BOE-A-2026-8"])
    assert "xml.php?id=BOE-A-2026-7" in outcome.report["days"][0]["error"]
    site.standing.clear()
    outcome = run(notify=True, webhook=webhook.url)
    assert (outcome.exit_code, webhook.told) == (1, ["BOE-A-2026-8", "BOE-A-2026-7"])
    by_id = {alert.id: alert for alert in store.alerts()}
    assert by_id["BOE-A-2026-8"].norms == (INCOME, DECREE)
    assert states(store) == {0: "read"}


def test_what_was_found_is_not_lost_when_it_cannot_be_read_again(
    run: Runs, site: GazetteStandIn, store: PostgresGazette
) -> None:
    """A second reading without the documents keeps the reasons of the first."""
    by_title = entry(8, "Orden por la que se modifica la Ley 19/2021, de 20 de diciembre")
    site.held.documents["BOE-A-2026-8"] = document("BOE-A-2026-8", ("MODIFICA", INCOME), ("DEROGA", DECREE))
    publish(site, TODAY, {"1": [by_title]})
    run()
    [before] = store.alerts()
    site.standing["xml.php"] = FAULTS["lost"]
    assert run().exit_code == 2
    assert store.alerts() == [before]


def test_a_site_that_is_out_is_left_alone(run: Runs, site: GazetteStandIn, store: PostgresGazette) -> None:
    """After three days in a row that were not served the others wait for the next run, unasked, and none is forgotten."""
    site.standing[""] = FAULTS["error"]
    outcome = run(days=10)
    assert outcome.exit_code == 2
    assert (len(outcome.report["days"]), len(outcome.report["left"]), len(site.asked)) == (3, 7, 6)
    site.standing.clear()
    for days in range(10):
        publish(site, back(days), ordinary(100 * days + 20))
    assert run().exit_code == 0
    assert states(store) == dict.fromkeys(range(10), "read")


def test_documents_of_a_site_that_goes_out_are_left_alone(run: Runs, site: GazetteStandIn) -> None:
    """After three documents in a row that were not served the others are not asked for, and the day stays failed."""
    publish(site, TODAY, {"1": [entry(number, f"Orden {number}/2026") for number in range(20)]})
    site.standing["xml.php"] = FAULTS["error"]
    outcome = run()
    assert "17 documents were not asked for" in outcome.report["days"][0]["error"]
    assert len(site.asked) == 1 + 3 * 2


def test_today_without_an_issue_is_asked_again(run: Runs, site: GazetteStandIn, store: PostgresGazette) -> None:
    """Before the gazette is out its 404 says nothing about the day; when the day has ended it does."""
    assert run(at=at(TODAY, 6)).exit_code == 0
    assert states(store) == {0: "none"}
    modify(site, TODAY)
    assert run(at=at(TODAY, 9)).exit_code == 1
    later = TODAY + timedelta(days=2)
    assert run(at=at(later, 9)).exit_code == 0
    assert [entry["day"] for entry in run(at=at(later, 10)).report["days"]] == [str(later)]


def test_a_sunday_is_settled(run: Runs, site: GazetteStandIn, store: PostgresGazette) -> None:
    """A day without an issue that has ended is not asked for again."""
    run(at=at(back(1), 9))
    run(at=at(TODAY, 9))
    asked = len(site.asked)
    run(at=at(TODAY, 10))
    assert len(site.asked) == asked + 1
    assert states(store) == {1: "none", 0: "none"}


def test_a_second_issue_of_a_day_is_found(run: Runs, site: GazetteStandIn) -> None:
    """An extraordinary issue in the evening is read by the next run, on the same day or when it has ended."""
    publish(site, TODAY, ordinary(20))
    assert run(at=at(TODAY, 9)).exit_code == 0
    site.held.documents["BOE-A-2026-7"] = document("BOE-A-2026-7", ("DEROGA", DECREE))
    publish(site, TODAY, ordinary(20), {"1": [MODIFIED]})
    outcome = run(at=at(TODAY + timedelta(days=1), 9))
    assert (outcome.exit_code, outcome.report["days"][0]["issues"]) == (1, 2)


def test_an_analysis_that_comes_late_is_found(run: Runs, site: GazetteStandIn) -> None:
    """When the day has ended the dispositions of section 1 are read once more, and only those."""
    first, third = entry(30, "Orden PJC/30/2026 sobre algo"), entry(31, "Resolución sobre algo")
    publish(site, TODAY, {"1": [first], "3": [third]})
    assert run(at=at(TODAY, 9)).exit_code == 0
    site.held.documents["BOE-A-2026-30"] = document("BOE-A-2026-30", ("MODIFICA", DECREE))
    site.asked.clear()
    assert run(at=at(TODAY + timedelta(days=1), 9)).exit_code == 1
    assert [address for address in site.asked if "xml.php" in address] == ["/diario_boe/xml.php?id=BOE-A-2026-30"]


def test_a_day_that_vanishes_is_a_failure(run: Runs, site: GazetteStandIn, store: PostgresGazette) -> None:
    """A gazette that had items of a day and then says that it has none is not believed."""
    publish(site, TODAY, ordinary(20))
    run()
    site.held.days.clear()
    outcome = run()
    assert (outcome.exit_code, outcome.report["days"][0]["state"]) == (2, "failed")
    assert (states(store), store.known()[TODAY].items) == ({0: "read"}, 3)


@pytest.mark.parametrize("lost", ["sumario", "xml.php"])
def test_a_day_that_was_read_stays_read(run: Runs, site: GazetteStandIn, store: PostgresGazette, lost: str) -> None:
    """A failure of a later look is told, and takes nothing back: the day counts as read when it was, and is asked for again."""
    publish(site, TODAY, ordinary(20))
    assert run(at=at(TODAY, 9)).exit_code == 0
    before = store.known()[TODAY]
    site.held.documents["BOE-A-2026-7"] = document("BOE-A-2026-7", ("DEROGA", DECREE))
    publish(site, TODAY, ordinary(20), {"1": [MODIFIED]})
    site.standing[lost] = FAULTS["error"]
    outcome = run(at=at(TODAY + timedelta(days=1), 9))
    assert (outcome.exit_code, outcome.report["days"][0]["state"]) == (2, "failed")
    kept = store.known()[TODAY]
    assert (kept.state, kept.issues, kept.items, kept.read_at) == (before.state, before.issues, before.items, before.read_at)
    site.standing.clear()
    again = run(at=at(TODAY + timedelta(days=1), 10))
    assert (again.exit_code, again.report["days"][0]["issues"], again.report["alerts"][0]["id"]) == (1, 2, "BOE-A-2026-7")
    assert store.known()[TODAY].settled


def test_days_too_long_ago_are_told_not_forgotten(run: Runs, site: GazetteStandIn) -> None:
    """Thirty days are caught up; older ones are named in every run until somebody asks for them."""
    for days in range(41):
        publish(site, back(days), ordinary(100 * days + 20))
    run(at=at(back(40), 23))
    outcome = run(at=at(TODAY, 9))
    assert outcome.exit_code == 2
    assert len(outcome.report["days"]) == 30
    assert outcome.report["behind"] == [str(back(days)) for days in range(40, 29, -1)]
    assert "clara boe --check --days N" in "".join(run.said)
    assert run(days=41).exit_code == 0
    assert run().exit_code == 0


def test_a_day_that_has_not_come_is_refused(run: Runs) -> None:
    """The message says what day it is in Madrid."""
    with pytest.raises(WatchError, match="in Madrid it is 2026-07-10"):
        run(day=TODAY + timedelta(days=1))


def test_two_at_once_harm_nothing(
    empty_url: str, services_on: Callable[..., Container], site: GazetteStandIn, webhook: Webhook
) -> None:
    """Two runs at the same moment keep each item once and tell it once."""
    for days in range(3):
        modify(site, back(days), 10 * days + 7)
    start = Barrier(2)
    runs = [Runs(services_on(empty_url, boe_base_url=site.url)) for _ in range(2)]

    def go(one: Runs) -> list[str]:
        start.wait()
        return [alert["id"] for alert in one(days=3, notify=True, webhook=webhook.url).report["alerts"]]

    with ThreadPoolExecutor(2) as pool:
        found = [item for items in pool.map(go, runs) for item in items]
    runs[0](days=3, notify=True, webhook=webhook.url)
    expected = ["BOE-A-2026-17", "BOE-A-2026-27", "BOE-A-2026-7"]
    assert sorted(found) == expected
    assert sorted(webhook.told) == expected


def test_what_a_person_has_seen_is_off_the_list(run: Runs, site: GazetteStandIn, webhook: Webhook) -> None:
    """A seen alert is listed no more and posted no more; an id that is none is refused with what to do."""
    modify(site, TODAY)
    run()
    assert [alert["id"] for alert in open_alerts(PostgresGazette(run.services.engine))] == ["BOE-A-2026-7"]
    look_at(PostgresGazette(run.services.engine), "BOE-A-2026-7")
    look_at(PostgresGazette(run.services.engine), "BOE-A-2026-7")
    assert open_alerts(PostgresGazette(run.services.engine)) == []
    assert run(notify=True, webhook=webhook.url).report["told"] == []
    with pytest.raises(WatchError, match="BOE-A-2026-1; `clara boe` lists"):
        look_at(PostgresGazette(run.services.engine), "BOE-A-2026-1")


def test_a_database_that_is_away_is_named(services_on: Callable[..., Container], site: GazetteStandIn) -> None:
    """Without the database nothing is read: what was found could not be kept."""
    run = Runs(services_on("postgresql://nobody@127.0.0.1:1/none", boe_base_url=site.url))
    with pytest.raises(StoreUnavailableError):
        run()
    assert site.asked == []


@pytest.mark.parametrize("state", DayState)
def test_every_state_of_a_day_can_be_kept(store: PostgresGazette, state: DayState) -> None:
    """What is kept of a day comes back as it was; each reading of it is counted."""
    for _ in range(2):
        store.keep(DayReading(TODAY, state, 1, 5, "x" * 3_000), [], at(TODAY, 9))
    kept = store.known()[TODAY]
    assert (kept.state, kept.items, kept.read_at, kept.settled) == (state, 5, at(TODAY, 9), False)
