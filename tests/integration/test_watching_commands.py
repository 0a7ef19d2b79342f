"""`clara boe` and the gazette's stand-in, as an operator uses them."""

import json
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta

import httpx
import psycopg
import pytest
from gazette_days import DECREE, Webhook, document, entry, ordinary, publish
from wired import CommandLine

from clara.knowledge.procedure import madrid_today
from clara.settings import child_environment, resources
from clara_lab.stand_ins.boe_server import FAULTS, GazetteStandIn

MODIFIED = entry(7, "Orden ISM/7/2026, de 1 de julio, por la que se regula otra cosa")


@pytest.fixture
def site() -> Iterator[GazetteStandIn]:
    stand_in = GazetteStandIn().serve()
    stand_in.held.documents["BOE-A-2026-7"] = document("BOE-A-2026-7", ("MODIFICA", DECREE))
    publish(stand_in, madrid_today(), {"1": [MODIFIED]})
    publish(stand_in, madrid_today() - timedelta(days=1), ordinary(20))
    yield stand_in
    stand_in.close()


@pytest.fixture
def webhook() -> Iterator[Webhook]:
    made = Webhook().serve()
    yield made
    made.close()


@pytest.fixture
def line(empty_url: str, site: GazetteStandIn, webhook: Webhook) -> Iterator[CommandLine]:
    made = CommandLine(empty_url, BOE_BASE_URL=site.url, CLARA_ALERT_WEBHOOK=webhook.url)
    yield made
    made.close()


def test_the_commands_of_an_operator(line: CommandLine, webhook: Webhook, empty_url: str) -> None:
    """Check, see, look at, and check again: the exit codes are 1, 1, 0, 0, the webhook is told once, the log of acts too."""
    checked = line("boe", "--check", "--notify")
    assert checked.code == 1
    for part in ("BOE-A-2026-7", f"MODIFICA {DECREE}", "touches", "arraigo", "1 new alerts", "https://www.boe.es"):
        assert part in checked.out
    assert line("boe", "--check", "--notify").code == 0
    assert webhook.told == ["BOE-A-2026-7"]
    listed = line("boe", "--json")
    assert (listed.code, [alert["id"] for alert in json.loads(listed.out)]) == (1, ["BOE-A-2026-7"])
    assert line("boe", "seen", "BOE-A-2026-7").code == 0
    assert (line("boe").code, line("boe").out.strip()) == (0, "No alert is open.")
    assert line("boe", "seen", "BOE-A-2026-8").code == 2
    with psycopg.connect(empty_url) as connection:
        acts = connection.execute("select actor, act, subject, outcome from audit_log").fetchall()
    assert acts == [("cli", "boe seen", "BOE-A-2026-7", "done")]


def test_json_is_all_that_is_printed(line: CommandLine, site: GazetteStandIn) -> None:
    """With --json the output can be read by a program; a day that could not be read ends with 2."""
    site.faults += [("sumario", FAULTS["lost"])]
    yesterday = madrid_today() - timedelta(days=1)
    failed = line("boe", "--check", "--date", yesterday, "--json")
    assert (failed.code, json.loads(failed.out)["days"][0]["state"]) == (2, "failed")
    caught_up = line("boe", "--check", "--days", "2", "--json")
    assert caught_up.code == 1
    assert [day["state"] for day in json.loads(caught_up.out)["days"]] == ["read", "read"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("--check", "--date", "2026-13-01"),
        ("--check", "--date", "2026-07-01", "--days", "2"),
        ("--check", "--days", "0"),
        ("--check", "seen", "BOE-A-2026-7"),
        ("--check", "--date", "2999-01-01"),
    ],
)
def test_wrong_options_are_refused(line: CommandLine, site: GazetteStandIn, arguments: tuple[str, ...]) -> None:
    """Nothing is asked of the gazette."""
    assert line("boe", *arguments).code == 2
    assert site.asked == []


def test_the_script_is_the_command(empty_url: str, site: GazetteStandIn) -> None:
    """scripts/check_boe.py does what `clara boe` does."""
    ran = subprocess.run(
        [sys.executable, resources() / "scripts" / "check_boe.py", "--check", "--json"],
        env=child_environment(RAG_DB_URL=empty_url, CLARA_CHANNEL="local", BOE_BASE_URL=site.url),
        capture_output=True,
        check=False,
        timeout=200,
    )
    assert ran.returncode == 1
    assert json.loads(ran.stdout)["alerts"][0]["id"] == "BOE-A-2026-7"


def test_the_stand_in_serves_recorded_days() -> None:
    """As a command it says what it serves, gives its faults once each, and then the recorded days."""
    folder = resources() / "tests" / "data" / "boe_wire"
    command = [sys.executable, "-m", "clara_lab.stand_ins.boe_server", "--port", "0", "--folder", str(folder)]
    with subprocess.Popen([*command, "--fault", "page"], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            said = process.stdout.readline()
            assert "2017-10-02" in said
            address = said.split(" at ")[1].split(": ")[0] + "/datosabiertos/api/boe/sumario/20260708"
            assert "mantenimiento" in httpx.get(address).text
            assert httpx.get(address).json()["data"]["sumario"]["diario"]["numero"] == "163"
            assert httpx.get(address[:-1] + "5", headers={"Accept": "application/json"}).json()["status"]["code"] == "404"
        finally:
            process.terminate()
