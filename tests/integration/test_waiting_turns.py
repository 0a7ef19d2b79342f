"""/health while messages wait: how long the oldest does, and from when that is too long."""

from collections.abc import Callable

import pytest
from tests.integration.delivering import store_on

from clara.container import Container
from clara.delivery.overview import OVERDUE_SECONDS, DeliveryStatus
from clara.processes.web_app import build_app, delivery_part

AGED = "update inbox set created_at = created_at - make_interval(secs => :seconds)"


@pytest.mark.parametrize(
    ("age", "ok"), [pytest.param(0.0, True, id="none"), pytest.param(30.0, True, id="30"), pytest.param(30.1, False, id="more")]
)
def test_half_a_minute_is_too_long(age: float, ok: bool) -> None:
    """The age of the oldest is told in any case, and in words when it is too high."""
    part = delivery_part(DeliveryStatus(3, age, 0, 0, 0, 0, 0), 0)
    assert part.ok is ok
    assert part.rows["waiting"] == {"unanswered": 3, "oldest_seconds": age, "allowed_seconds": OVERDUE_SECONDS}
    assert ("waits for" in part.detail) is not ok


def test_health_is_degraded_while_turns_wait(empty_url: str, services_on: Callable[..., Container]) -> None:
    """503, as for any part that fails its duty, with the age of the oldest turn; the process itself is alive."""
    web = build_app(services_on(empty_url, clara_channel="local")).test_client()
    with store_on(empty_url) as store:
        store.accept("SM1", "a")
        assert web.get("/health").json["parts"]["delivery"]["ok"]
        store.change(AGED, seconds=40)
        store.accept("SM2", "b")
    answer = web.get("/health")
    waiting = answer.json["parts"]["delivery"]["rows"]["waiting"]
    assert (answer.status_code, answer.json["status"], answer.json["parts"]["delivery"]["ok"]) == (503, "degraded", False)
    assert waiting["unanswered"] == 2
    assert 40 <= waiting["oldest_seconds"] < 40 + 200
    assert web.get("/health/live").status_code == 200
