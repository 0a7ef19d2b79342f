"""Progress says how fast it goes and how long the rest takes, to people and in logs."""

import pytest

from clara.cli.command import LOG_SECONDS, paced, showing


@pytest.mark.parametrize(
    ("done", "total", "seconds", "told"),
    [
        (0, 80, 0.0, "0/80"),
        (12, 80, 8.0, "12/80, 1.5 a second, 45 s left"),
        (3, 80, 180.0, "3/80, 1 a minute, 77 min left"),
        (79, 80, 600.0, "79/80, 7.9 a minute, 8 s left"),
        (80, 80, 600.0, "80/80"),
        (5, 80, 0.0, "5/80"),
    ],
)
def test_progress_tells_rate_and_time_left(done: int, total: int, seconds: float, told: str) -> None:
    """From what is done in the time so far; nothing is guessed before anything is done."""
    assert paced(done, total, seconds) == told


def test_a_log_gets_a_line_from_time_to_time(capsys: pytest.CaptureFixture[str]) -> None:
    """Where nobody watches, progress is a line each half minute, and short work says nothing."""
    now = [0.0]

    def clock() -> float:
        return now[0]

    with showing("looking", clock) as report:
        for done, now[0] in enumerate((1.0, LOG_SECONDS - 1, LOG_SECONDS, LOG_SECONDS + 9, 2 * LOG_SECONDS), 1):
            report(done, 10)
    assert capsys.readouterr().err.splitlines() == [
        "looking 3/10, 6 a minute, 70 s left",
        "looking 5/10, 5 a minute, 60 s left",
    ]
