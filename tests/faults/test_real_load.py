"""The load run in which Clara herself answers: real questions, real replies, and what they cost."""

import re
from pathlib import Path

import pytest
from tests.faults.evidence import embeddings
from tests.faults.questions import distinct_questions
from tests.faults.real import HELD_P95_SECONDS, Real, RealRun, Trial, told
from tests.faults.report import finding
from tests.faults.timings import spread
from tests.languages import TAUGHT

from clara.answering.message import ReplyStatus

# An answer of Clara's quotes, or says what she cannot tell; the stand-in's replies begin so.
STAND_IN = re.compile(r"reply to |notice of ")


@pytest.mark.timeout(900)  # alone some 40 s: a database is filled and five processes start
def test_every_reply_is_claras_own(tmp_path: Path) -> None:
    """Ten questions, one in each language, get ten answers or refusals of Clara's; each embedding is metered, none is lost."""
    real = Real(seconds=5.0, questions=2.0, workers=1, warm_up=2)
    run = RealRun(real, tmp_path / "run", lambda _line: None)
    record = run.run()
    (trial,) = run.trials
    asked = [question.body for question in record.questions.values()]
    assert sorted(asked) == sorted(distinct_questions(real.seed)[: real.warm_up + 10])
    assert (trial.asked, trial.answered, trial.astray) == (10, 10, 0)
    assert sum(trial.kinds.values()) == 10
    assert {kind.partition(" ")[0] for kind in trial.kinds} <= {status.value for status in ReplyStatus}
    assert [part.body for part in record.outbox if STAND_IN.match(part.body)] == []
    assert any("[C1]" in part.body for part in record.outbox)
    assert len(embeddings(tmp_path / "run")) >= trial.kinds.get("answered (pgvector)", 1)
    assert 0 < trial.embedding_ms < sum(trial.cpu_ms.values())
    found = finding(run)
    assert found.account.clean, found.broken
    assert f"{trial.embedding_ms:.1f}" in told(real, run.trials, found)


def test_no_question_comes_twice() -> None:
    """There are enough for minutes at any rate of this machine's, no two are alike, and the languages come in turn."""
    questions = distinct_questions(1)
    assert len({" ".join(question.casefold().split()) for question in questions}) == len(questions) > 80 * 60
    assert questions != distinct_questions(2)
    assert questions == distinct_questions(1)
    chinese = [place for place, question in enumerate(questions[:200]) if re.search("[\u4e00-\u9fff]", question)]
    assert len(chinese) == 200 // len(TAUGHT)  # Arabic is also written in Latin letters


def test_what_does_not_hold_is_said() -> None:
    """A question without a reply, a queue that grows, and a reply without the search each speak against a rate."""
    quick, slow = spread([0.1] * 10), spread([HELD_P95_SECONDS + 1] * 10)

    def trial(**changed: object) -> Trial:
        usual = {"answered": 10, "replied": quick, "astray": 0}
        given = {**usual, **changed}
        return Trial(rate=1, asked=10, acknowledged=quick, per_second=1, cpu_ms={}, embedding_ms=1, stolen=0, kinds={}, **given)

    assert list(trial().missed) == []
    for changed in ({"answered": 9}, {"replied": slow}, {"astray": 1}):
        assert len(list(trial(**changed).missed)) == 1
