"""What operators read and do over HTTP, on a real application and a real PostgreSQL."""

from collections.abc import Callable
from datetime import date
from typing import Any

import psycopg
import pytest
from flask.testing import FlaskClient
from tests.journeys.operating import AS_OPERATOR, AS_READER, AS_STRANGER, TOKENS, stock

from clara.adapters.postgres.operations.runs import PostgresRuns
from clara.container import Container
from clara.editorial.ports import JobOutcome
from clara.processes.run_record import recorded
from clara.web.auth import WRONG_AT_ONCE

Opened = Callable[..., Container]
Serve = Callable[..., FlaskClient]


@pytest.fixture
def services(knowledge_url: str, services_on: Opened) -> Container:
    return services_on(knowledge_url, clara_channel="local", rag_boe_monitor_enabled=True, **TOKENS)


@pytest.fixture
def findings(knowledge_url: str) -> list[int]:
    return stock(knowledge_url)


@pytest.fixture
def web(services: Container, serve: Serve) -> FlaskClient:
    return serve(services)


def read(web: FlaskClient, address: str) -> dict[str, Any]:
    answer = web.get(f"/admin/{address}", headers=AS_READER)
    assert (answer.status_code, answer.headers["Cache-Control"]) == (200, "no-store"), answer.text
    told: dict[str, Any] = answer.json
    return told


def acts(web: FlaskClient) -> list[tuple[str, str, str, str]]:
    """What the audit log says, the oldest first."""
    return [(act["actor"], act["act"], act["subject"], act["outcome"]) for act in reversed(read(web, "audit")["items"])]


def test_freshness_by_procedure(web: FlaskClient, services: Container, findings: list[int]) -> None:
    """Every procedure has its facts, the days of the oldest and the youngest look at them, and what wants attention."""
    told = read(web, "staleness?limit=100")
    procedures = {item["procedure"]: item for item in told["items"]}
    assert procedures.keys() == services.snapshot().knowledge.names.keys()
    known = len(services.snapshot().knowledge.passages)
    assert sum(item["facts"] for item in told["items"]) == told["totals"]["facts"] == known
    imv = procedures["imv"]
    assert len(imv["flagged"]) == 1
    assert imv["oldest_checked"] <= imv["newest_checked"]
    assert imv["oldest_days"] == (date.fromisoformat(told["day"]) - date.fromisoformat(imv["oldest_checked"])).days
    assert told["totals"]["flagged"] == 1
    days = [item["oldest_checked"] for item in told["items"]]
    assert days == sorted(days)


def test_freshness_by_fact(web: FlaskClient, services: Container, findings: list[int]) -> None:
    """Facts come with the oldest first and, page by page, each of them once; a flagged one names its findings."""
    seen: list[dict[str, Any]] = []
    following, pages = "", 0
    while following is not None:
        told = read(web, f"staleness?by=fact&limit=400{f'&before={following}' if following else ''}")
        seen += told["items"]
        following, pages = told["next"], pages + 1
    facts = len(services.snapshot().knowledge.passages)
    assert (pages, len(seen), len({item["fact"] for item in seen})) == (-(-facts // 400), facts, facts)
    assert [item["checked"] for item in seen] == sorted(item["checked"] for item in seen)
    assert [item["findings"] for item in seen if item["findings"]] == [findings[:2]]
    imv = read(web, "staleness?by=fact&procedure=imv&limit=500")["items"]
    assert {item["procedure"] for item in imv} == {"imv"}
    assert len(imv) == sum(item["procedure"] == "imv" for item in seen)


def test_freshness_by_source(web: FlaskClient, findings: list[int]) -> None:
    """Every registered source is there with its facts and its last look; never looked at means stale."""
    items = {item["source"]: item for item in read(web, "staleness?by=source&limit=500")["items"]}
    looked, never, foreign = items["BOE-A-2021-21007"], items["BOE-A-2015-11430"], items["a-source-of-another-release"]
    assert (looked["stale"], looked["outcome"], "imv" in looked["procedures"]) == (False, "substantive", True)
    assert looked["facts"] > 0
    assert (never["stale"], never["checked_at"]) == (True, None)
    assert (foreign["stale"], foreign["url"], foreign["outcome"]) == (False, None, "unreachable")
    assert next(iter(items)) != "BOE-A-2021-21007"


def test_the_review_queue(web: FlaskClient, findings: list[int]) -> None:
    """Open findings come with old and new side by side and all that they touch: facts, procedures, answers."""
    told = read(web, "review")
    assert [item["id"] for item in told["items"]] == [findings[1], findings[0]]
    item = told["items"][0]
    assert (item["before"], item["after"]) == ("son 604,21 euros", "son 658,81 euros")
    assert (item["procedures"], item["answers"], len(item["turns"])) == (["imv"], 1, 1)
    assert [fact["relation"] for fact in item["facts"]] == ["provision"]
    assert [item["id"] for item in read(web, "review?state=rejected")["items"]] == [findings[2]]
    first = read(web, "review?state=all&limit=2")
    second = read(web, f"review?state=all&limit=2&before={first['next']}")
    assert [item["id"] for item in (*first["items"], *second["items"])] == findings[::-1]
    assert second["next"] is None
    assert read(web, f"review/{findings[0]}")["id"] == findings[0]
    assert web.get("/admin/review/999", headers=AS_READER).status_code == 404
    assert web.get(f"/admin/review/{10**30}", headers=AS_READER).status_code == 404


def test_deciding_a_finding(web: FlaskClient, findings: list[int], knowledge_url: str) -> None:
    """An operator accepts and rejects, once, for a reason that stands with the finding; accepting leaves drafts to publish."""
    one, other = findings[:2]
    why = {"reason": "Comprobado por Ana García en la sede."}
    fact = read(web, f"review/{one}")["facts"][0]["fact"]
    corrected = {"fact": fact, "corrected": {"text": "De 18 a 22 años son 658,81 euros al mes."}}
    answer = web.post(f"/admin/review/{one}/accept", json={**why, "decisions": [corrected]}, headers=AS_OPERATOR)
    assert (answer.status_code, answer.json["act"], answer.json["done"]["state"]) == (200, "accept", "accepted")
    assert (len(answer.json["done"]["drafts"]), answer.json["done"]["undecided"]) == (1, [])
    assert web.post(f"/admin/review/{one}/reject", json=why, headers=AS_OPERATOR).status_code == 409
    assert web.post(f"/admin/review/{other}/reject", json=why, headers=AS_OPERATOR).status_code == 200
    assert web.post("/admin/review/999/accept", json=why, headers=AS_OPERATOR).status_code == 404
    assert web.post(f"/admin/review/{10**30}/accept", json=why, headers=AS_OPERATOR).status_code == 404
    with psycopg.connect(knowledge_url) as connection:
        decided = connection.execute("select state, decided_by, reason from findings order by id limit 2").fetchall()
        drafts = connection.execute("select made_by, finding_id, fields ->> 'text' from revisions").fetchall()
    assert decided == [("accepted", "operator", why["reason"]), ("rejected", "operator", why["reason"])]
    assert drafts == [("operator", one, "De 18 a 22 años son 658,81 euros al mes.")]


def test_facts_are_decided_one_by_one(web: FlaskClient, findings: list[int]) -> None:
    """Accepting decides about no fact; each is held later for a reason that the audit log keeps; bad ones do nothing."""
    why, (number, other) = {"reason": "Solo cambia el título."}, findings[:2]
    accept = f"/admin/review/{number}/accept"
    fact = read(web, f"review/{number}")["facts"][0]["fact"]
    answer = web.post(accept, json=why, headers=AS_OPERATOR)
    assert (answer.status_code, answer.json["done"]["drafts"], answer.json["done"]["undecided"]) == (200, [], [fact])
    assert [item["id"] for item in read(web, "review?state=undecided")["items"]] == [number]
    holds = {"fact": fact, "holds": "No cambia la cuantía."}
    for bad in ([holds, holds], [{**holds, "fact": "nie-cuantias-01"}], [{**holds, "holds": ""}], ["so"]):
        refused = web.post(accept, json={**why, "decisions": bad}, headers=AS_OPERATOR)
        assert (refused.status_code, "decisions: " in refused.json["error"]) == (400, True)
    assert read(web, f"review/{number}")["facts"][0]["state"] == "undecided"
    assert web.post(accept, json={**why, "decisions": [holds]}, headers=AS_OPERATOR).json["done"]["undecided"] == []
    told = read(web, f"review/{number}")["facts"][0]
    assert (told["state"], told["reason"]) == ("holds", "No cambia la cuantía.")
    assert [act["details"]["held"] for act in read(web, "audit")["items"] if act["details"].get("held")] == [
        {fact: "No cambia la cuantía."}
    ]
    assert web.post(f"/admin/review/{other}/reject", json={**why, "decisions": []}, headers=AS_OPERATOR).status_code == 400


def test_every_try_is_in_the_audit_log(web: FlaskClient, findings: list[int], knowledge_url: str) -> None:
    """Who tried what, on what, and what came of it, whether they were let in or not; the reason is not in it."""
    number = findings[0]
    accept, why = f"/admin/review/{number}/accept", {"reason": "Comprobado por Ana García en la sede."}
    for headers, status in ((AS_READER, 403), (AS_STRANGER, 401), (AS_OPERATOR, 200), (AS_OPERATOR, 409)):
        assert web.post(accept, json=why, headers=headers).status_code == status
    assert acts(web) == [
        ("reader", "POST accept", str(number), "refused"),
        ("stranger", "POST accept", str(number), "refused"),
        ("operator", "POST accept", str(number), "asked"),
        ("operator", "review accepted", f"finding {number}", "done"),
        ("operator", "POST accept", str(number), "done"),
        ("operator", "POST accept", str(number), "asked"),
        ("operator", "POST accept", str(number), "failed"),
    ]
    with psycopg.connect(knowledge_url) as connection:
        rows = connection.execute("select audit_log::text from audit_log").fetchall()
    assert not any("Ana" in row[0] for row in rows)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(None, id="none"),
        pytest.param({}, id="empty"),
        pytest.param({"reason": ""}, id="no-reason"),
        pytest.param({"reason": "  "}, id="blanks"),
        pytest.param({"reason": 7}, id="a-number"),
        pytest.param({"reason": "x" * 1001}, id="too-long"),
        pytest.param({"reason": "a\x00b"}, id="not-to-be-shown"),
        pytest.param({"reason": "a", "by": "Ana"}, id="more-than-a-reason"),
        pytest.param(["reason"], id="a-list"),
        pytest.param({"reason": "so", "decisions": "all"}, id="no-list-of-decisions"),
        pytest.param({"reason": "so", "keep_facts": True}, id="all-facts-at-once"),
    ],
)
def test_a_decision_needs_a_reason(web: FlaskClient, findings: list[int], body: object) -> None:
    """Without one nothing is decided, and the answer says what it must look like."""
    answer = web.post(f"/admin/review/{findings[0]}/accept", json=body, headers=AS_OPERATOR)
    assert answer.status_code == 400
    assert answer.json["error"].startswith(("the body must be JSON like", "reason: ", "decisions: "))
    assert read(web, f"review/{findings[0]}")["state"] == "open"


def test_nobody_who_decides(services: Container, serve: Serve, findings: list[int]) -> None:
    """Where no one can decide, that is said, and nothing changes."""
    alone = serve(services, reviewing=None)
    answer = alone.post(f"/admin/review/{findings[0]}/accept", json={"reason": "so"}, headers=AS_OPERATOR)
    assert (answer.status_code, "clara review" in answer.json["error"]) == (501, True)


def test_the_gazette(web: FlaskClient, findings: list[int]) -> None:
    """Days and items are shown; what somebody has looked at is not unseen any more, however often they say so."""
    told = read(web, "boe?limit=2")
    assert [(day["day"], day["state"]) for day in told["days"]] == [("2026-04-26", "failed"), ("2026-04-25", "read")]
    assert [item["id"] for item in told["items"]] == ["BOE-A-2026-3", "BOE-A-2026-2"]
    assert [item["id"] for item in read(web, f"boe?before={told['next']}")["items"]] == ["BOE-A-2026-1"]
    first = web.post("/admin/boe/BOE-A-2026-2/seen", headers=AS_OPERATOR)
    again = web.post("/admin/boe/BOE-A-2026-2/seen", headers=AS_OPERATOR)
    assert (first.status_code, first.json) == (200, again.json)
    assert web.post("/admin/boe/BOE-A-2026-1/seen", headers=AS_READER).status_code == 403
    assert web.post("/admin/boe/BOE-A-2026-99/seen", headers=AS_OPERATOR).status_code == 404
    assert web.post("/admin/boe/Ana-Garcia/seen", headers=AS_OPERATOR).status_code == 404
    assert [item["id"] for item in read(web, "boe?unseen")["items"]] == ["BOE-A-2026-3", "BOE-A-2026-1"]
    assert ("operator", "POST seen", "BOE-A-2026-2", "done") in acts(web)
    assert not any("Ana" in subject for _, _, subject, _ in acts(web))


def test_jobs(web: FlaskClient, services: Container) -> None:
    """Runs are shown with how they ended, and what is switched on with when it is due and whether it is late."""
    recorded(PostgresRuns(services.engine), "drift", "--stale", lambda: JobOutcome(1, {"findings": 2}))
    recorded(PostgresRuns(services.engine), "boe", "--check", lambda: JobOutcome(0, {}))
    told = read(web, "jobs")
    assert [(run["job"], run["state"], run["exit_code"]) for run in told["items"]] == [
        ("boe", "fine", 0),
        ("drift", "findings", 1),
    ]
    (row,) = told["schedule"]
    assert (row["job"], row["command"], row["ok"]) == ("boe", "clara boe --check --notify", True)
    assert row["last_success"] is not None
    assert [run["report"] for run in read(web, "jobs?job=drift")["items"]] == [{"findings": 2}]
    assert read(web, "jobs?limit=1")["next"] == str(PostgresRuns(services.engine).runs(1)[0].id)


@pytest.mark.parametrize(
    ("address", "named"),
    [
        pytest.param("audit?limit=0", "limit", id="no-items"),
        pytest.param("audit?limit=501", "limit", id="too-many"),
        pytest.param("audit?limit=ten", "limit", id="a-word-of-items"),
        pytest.param("audit?limit=1&limit=2", "limit", id="twice"),
        pytest.param("audit?before=x", "before", id="no-number"),
        pytest.param("audit?before=" + "9" * 30, "before", id="too-long-a-number"),
        pytest.param("audit?before=%00", "before", id="nul"),
        pytest.param("audit?page=2", "limit, before", id="unknown-name"),
        pytest.param("review?state=new", "state", id="unknown-state"),
        pytest.param("staleness?by=law", "by", id="unknown-level"),
        pytest.param("staleness?before=nobody", "before", id="not-in-the-list"),
        pytest.param("staleness?procedure=%27%20or%201", "procedure", id="no-id"),
        pytest.param("boe?unseen=perhaps", "unseen", id="neither-yes-nor-no"),
        pytest.param("jobs?job=%C3%B1", "job", id="no-name"),
        pytest.param("rag-metrics?days=7", "none", id="takes-nothing"),
    ],
)
def test_a_parameter_that_cannot_be_meant(web: FlaskClient, address: str, named: str) -> None:
    """400, naming the parameter and what it may be; never an empty list."""
    answer = web.get(f"/admin/{address}", headers=AS_READER)
    assert answer.status_code == 400
    assert named in answer.json["error"]


def test_guessing_is_slowed_down(web: FlaskClient) -> None:
    """After ten wrong tokens an address is not listened to, whatever it says; others are; a request without one is no guess."""
    here, elsewhere = {"REMOTE_ADDR": "192.0.2.1"}, {"REMOTE_ADDR": "192.0.2.2"}
    for _ in range(3 * WRONG_AT_ONCE):
        assert web.get("/admin/jobs", environ_base=here).status_code == 401
    codes = [web.get("/admin/jobs", headers=AS_STRANGER, environ_base=here).status_code for _ in range(WRONG_AT_ONCE + 2)]
    assert codes == [401] * WRONG_AT_ONCE + [429] * 2
    refused = web.get("/admin/jobs", headers=AS_OPERATOR, environ_base=here)
    assert (refused.status_code, 0 < int(refused.headers["Retry-After"]) <= 6) == (429, True)
    assert web.get("/metrics", headers=AS_OPERATOR, environ_base=here).status_code == 429
    assert web.get("/admin/jobs", headers=AS_OPERATOR, environ_base=elsewhere).status_code == 200
    assert acts(web) == [("stranger", "GET jobs", "", "refused")] * WRONG_AT_ONCE


def test_nobody_changes_the_audit_log(web: FlaskClient, knowledge_url: str) -> None:
    """Its rows are added, and the database refuses to change or remove them."""
    web.post("/admin/boe/BOE-A-2026-1/seen", headers=AS_READER)
    with psycopg.connect(knowledge_url, autocommit=True) as connection:
        for change in ("update audit_log set actor = 'cli'", "delete from audit_log", "truncate audit_log"):
            with pytest.raises(psycopg.errors.RaiseException, match="never changed or removed"):
                connection.execute(change.encode())
    assert acts(web) == [("reader", "POST seen", "BOE-A-2026-1", "refused")]


def test_what_cannot_be_recorded_is_not_done(web: FlaskClient, findings: list[int], knowledge_url: str) -> None:
    """When the audit log cannot be written, a decision is refused with 503 and the finding stays open."""
    with psycopg.connect(knowledge_url, autocommit=True) as connection:
        connection.execute("alter table audit_log rename to elsewhere")
        answer = web.post(f"/admin/review/{findings[0]}/accept", json={"reason": "so"}, headers=AS_OPERATOR)
        connection.execute("alter table elsewhere rename to audit_log")
    assert answer.status_code == 503
    assert read(web, f"review/{findings[0]}")["state"] == "open"


def test_nothing_personal_is_shown(web: FlaskClient, findings: list[int]) -> None:
    """Neither what a person wrote nor their pseudonym is in any answer."""
    for address in (
        "staleness",
        "staleness?by=fact",
        "review?state=all",
        "boe",
        "jobs",
        "audit",
        "rag-metrics",
        "satisfaction",
    ):
        text = web.get(f"/admin/{address}", headers=AS_OPERATOR).text
        assert "somebody" not in text
        assert "soy Ana" not in text


@pytest.mark.parametrize("address", ["staleness", "review", "review/1", "boe", "jobs", "audit", "rag-metrics", "satisfaction"])
def test_an_outage_is_not_an_empty_list(services_on: Opened, serve: Serve, address: str) -> None:
    """503 in words, without the address of what is away."""
    away = services_on("postgresql://clara@127.0.0.1:1/secret", clara_channel="local", rag_boe_monitor_enabled=True, **TOKENS)
    answer = serve(away).get(f"/admin/{address}", headers=AS_READER)
    assert (answer.status_code, "secret" in answer.text, "127.0.0.1" in answer.text) == (503, False, False)
    assert answer.json["error"].startswith("The database does not answer")
