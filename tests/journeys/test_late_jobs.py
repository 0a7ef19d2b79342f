"""The dead man's switch: /health of a running Clara says when a job that should run by itself has not done its work."""

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

import psycopg
import pytest
from flask.testing import FlaskClient

from clara.adapters.postgres.operations.runs import PostgresRuns
from clara.container import Container
from clara.editorial.ports import JobOutcome
from clara.processes.run_record import recorded

Opened = Callable[..., Container]
Serve = Callable[[Container], FlaskClient]


@pytest.fixture
def database(knowledge_url: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(knowledge_url, autocommit=True) as connection:
        yield connection


def jobs_of(web: FlaskClient) -> dict[str, Any]:
    part: dict[str, Any] = web.get("/health").json["parts"]["jobs"]
    return part


def test_nothing_is_expected_of_what_is_switched_off(knowledge_url: str, services_on: Opened, serve: Serve) -> None:
    """Without a flag the part is well, and has no rows."""
    web = serve(services_on(knowledge_url, clara_channel="local"))
    assert jobs_of(web) == {"ok": True, "detail": "none is switched on"}


def test_a_job_that_never_ran_is_late_by_the_day_it_was_switched_on(
    knowledge_url: str, services_on: Opened, serve: Serve, database: psycopg.Connection
) -> None:
    """At first nothing is late; four days later, without a success, /health says so with 503, also after a restart."""
    settings = {"clara_channel": "local", "rag_boe_monitor_enabled": True}
    web = serve(services_on(knowledge_url, **settings))
    first = jobs_of(web)
    assert (first["ok"], first["rows"]["boe"]["last_success"], first["rows"]["boe"]["ok"]) == (True, None, True)
    database.execute("update schedules set enabled_at = now() - interval '4 days'")
    for asked in (web, serve(services_on(knowledge_url, **settings))):
        answer = asked.get("/health")
        assert (answer.status_code, answer.json["status"], answer.json["parts"]["jobs"]["detail"]) == (
            503,
            "degraded",
            "late: boe",
        )
        assert asked.get("/health/live").status_code == 200


def test_a_success_stops_the_alarm_and_a_failure_does_not(
    knowledge_url: str, services_on: Opened, serve: Serve, database: psycopg.Connection
) -> None:
    """A run that could not do its work leaves the job late; one that found something is a success, for its allowed days."""
    services = services_on(knowledge_url, clara_channel="local", rag_drift_check_enabled=True)
    web = serve(services)
    assert jobs_of(web)["ok"]
    database.execute("update schedules set enabled_at = now() - interval '100 days'")
    recorded(PostgresRuns(services.engine), "drift", "--stale", lambda: JobOutcome(2, {}))
    assert jobs_of(web)["detail"] == "late: drift"
    recorded(PostgresRuns(services.engine), "drift", "--stale", lambda: JobOutcome(1, {}))
    part = jobs_of(web)
    assert (part["ok"], part["detail"], part["rows"]["drift"]["allowed_days"]) == (True, "1 on time", 3)
    assert datetime.fromisoformat(part["rows"]["drift"]["last_success"]).tzinfo is not None
    database.execute("update job_runs set finished_at = now() - interval '73 hours'")
    assert not jobs_of(web)["rows"]["drift"]["ok"]


def test_switching_off_and_on_again_starts_anew(
    knowledge_url: str, services_on: Opened, serve: Serve, database: psycopg.Connection
) -> None:
    """A job that was off for months is not late on the day on which it is switched on again."""
    on = services_on(knowledge_url, clara_channel="local", rag_ingestion_enabled=True)
    recorded(PostgresRuns(on.engine), "ingestion", "--all", lambda: JobOutcome(0, {}))
    assert jobs_of(serve(on))["ok"]
    database.execute("update schedules set enabled_at = now() - interval '100 days'")
    database.execute("update job_runs set finished_at = now() - interval '90 days'")
    assert jobs_of(serve(on))["detail"] == "late: ingestion"
    assert jobs_of(serve(services_on(knowledge_url, clara_channel="local"))) == {"ok": True, "detail": "none is switched on"}
    assert jobs_of(serve(on))["ok"]


def test_while_the_database_is_away_nothing_is_known(services_on: Opened, serve: Serve) -> None:
    """The part is not well, and does not show what the database's address is."""
    away = services_on("postgresql://clara@127.0.0.1:1/secret", clara_channel="local", rag_boe_monitor_enabled=True)
    assert jobs_of(serve(away)) == {"ok": False, "detail": "DatabaseUnavailableError"}
