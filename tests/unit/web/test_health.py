"""What /health writes into the log: changes, however often it is asked."""

from flask import Flask
from structlog.testing import capture_logs

from clara.web.health import health_routes


def test_a_part_is_logged_when_its_state_changes() -> None:
    """Not there yet, there, gone, back: each is told once, and only what was there and went is an error."""
    states = iter([False, False, True, True, False, False, True])

    def probe() -> str:
        if not next(states):
            raise ConnectionError("away")
        return "1 alive"

    app = Flask(__name__)
    app.register_blueprint(health_routes({"worker": probe}))
    with capture_logs() as logs:
        answers = [app.test_client().get("/health").status_code for _ in range(7)]
    assert answers == [503, 503, 200, 200, 503, 503, 200]
    assert [(log["event"], log["log_level"]) for log in logs] == [
        ("part is not up yet", "info"),
        ("part is up", "info"),
        ("part is down", "error"),
        ("part is up", "info"),
    ]
