"""The ledger itself can fail: every kind of fault that it looks for is found when it is there, and only then."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from tests.faults.ledger import DEMANDED, Account, Ledger
from tests.faults.performing import expected_anything, expected_parts
from tests.faults.plan import FALLBACK, PRIMARY, RECIPIENT
from tests.faults.record import (
    ACKNOWLEDGED,
    BROKEN,
    FAILED,
    REJECTED,
    UNREACHED,
    Attempt,
    InboxRow,
    OutboxRow,
    Question,
    Record,
    Take,
    Told,
)
from tests.faults.timings import catching_up, spread

ANA, BO = "whatsapp:+34690000001", "whatsapp:+34690000102"
ASKED = (
    ("m1", ANA, "question one"),
    ("m2", ANA, "question two long"),
    ("m3", ANA, "question three"),
    ("m4", BO, "question four"),
)


def faultless() -> Record:
    """Build the record of a run in which each message was acknowledged and answered, one after the other."""
    record = Record()
    moment, number = 0.0, 0
    for row, (sid, sender, body) in enumerate(ASKED, start=1):
        question = Question(sid, sender, body)
        record.questions[sid] = question
        record.attempts.append(Attempt(sid, PRIMARY, moment, moment, moment + 0.1, ACKNOWLEDGED))
        record.attempts.append(Attempt(sid, PRIMARY, moment + 2, moment + 2, moment + 2.1, ACKNOWLEDGED, duplicate=True))
        record.inbox.append(InboxRow(row, sid))
        for part, text in enumerate(expected_parts(question, None)):
            number += 1
            record.takes.append(Take(moment + 1 + part / 10, f"SM{number}", RECIPIENT, sender, text, number))
            record.outbox.append(OutboxRow(number, row, part, text, "delivered", f"SM{number}"))
            record.told.append(Told(number, f"SM{number}", "delivered"))
        moment += 10
    return record


def account(record: Record) -> Account:
    return Ledger(record, expected_parts).account()


def found(record: Record) -> dict[str, int]:
    """Give the kinds of faults that the ledger finds, with their numbers."""
    return {name: len(ids) for name, ids in account(record).faults.items() if ids}


def test_a_run_without_faults_is_clean() -> None:
    """Duplicates, replies of two parts and several messages of a person are no faults."""
    record = faultless()
    assert len(expected_parts(record.questions["m2"], None)) == 2
    assert found(record) == {}
    assert account(record).clean
    assert account(record).counts["acknowledged"] == account(record).counts["answered"] == 4


def lose(record: Record) -> None:
    del record.takes[0]


def lose_a_part(record: Record) -> None:
    del record.takes[2]


def double(record: Record) -> None:
    record.takes.append(replace(record.takes[0], at=1.5, sid="SM99"))


def swap(record: Record) -> None:
    """Answer the third message before the second, though that one had been acknowledged before."""
    record.takes[3] = replace(record.takes[3], at=10.5)
    record.takes[1:3] = [replace(take, at=take.at + 20) for take in record.takes[1:3]]


def swap_between_listeners(record: Record) -> None:
    swap(record)
    record.attempts.append(Attempt("m3", FALLBACK, 20, 20, 20.1, ACKNOWLEDGED, duplicate=True))


def swap_parts(record: Record) -> None:
    record.takes[1:3] = [replace(record.takes[1], at=11.1), replace(record.takes[2], at=11.0)]


def interleave(record: Record) -> None:
    """Let the third reply come between the two parts of the second."""
    record.attempts = [replace(one, started=0.0) if one.sid == "m3" else one for one in record.attempts]
    record.takes[3] = replace(record.takes[3], at=11.05)


def answer_somebody_else(record: Record) -> None:
    record.takes[0] = replace(record.takes[0], recipient=BO)


def answer_something_else(record: Record) -> None:
    record.takes[0] = replace(record.takes[0], body="reply to question four")


def answer_nobody(record: Record) -> None:
    record.takes.append(Take(50.0, "SM99", RECIPIENT, "whatsapp:+34690000909", "hello"))


def refuse(record: Record) -> None:
    """Nobody took the fourth message, and yet it was answered: that is allowed, not to have taken it is not."""
    record.attempts = [replace(one, outcome=BROKEN) if one.sid == "m4" else one for one in record.attempts]


def reject(record: Record) -> None:
    record.attempts.append(Attempt("m4", PRIMARY, 30, 30, 30.1, REJECTED, duplicate=True))


def forget(record: Record) -> None:
    """The row of a message is gone though its reply went out."""
    del record.inbox[0]


def leave_open(record: Record) -> None:
    record.outbox[0] = replace(record.outbox[0], unsettled=True)


def fail(record: Record) -> None:
    record.outbox[0] = replace(record.outbox[0], status="failed", error_code="21211")


def lose_a_number(record: Record) -> None:
    record.outbox[0] = replace(record.outbox[0], provider_sid=None)


def fall_behind(record: Record) -> None:
    record.outbox[0] = replace(record.outbox[0], status="sent")


def set_aside(record: Record) -> None:
    record.inbox[0] = replace(record.inbox[0], set_aside=True)


def leak(record: Record) -> None:
    record.canaries.append("worker 0.log:7 (an address)")


@pytest.mark.parametrize(
    ("doctor", "expected"),
    [
        (lose, {"lost": 1}),
        (lose_a_part, {"lost": 1}),
        (double, {"doubled": 1, "unrecorded": 1}),
        (swap, {"disordered": 1}),
        (swap_between_listeners, {"crossed": 1}),
        (swap_parts, {"mixed": 1}),
        (interleave, {"mixed": 1}),
        (answer_somebody_else, {"lost": 1, "unexpected": 1}),
        (answer_something_else, {"lost": 1, "unexpected": 1}),
        (answer_nobody, {"unexpected": 1, "unrecorded": 1}),
        (refuse, {"refused": 1}),
        (reject, {"rejected": 1}),
        (forget, {"not stored": 1}),
        (leave_open, {"not final": 1}),
        (fail, {"failed": 1}),
        (lose_a_number, {"unrecorded": 1}),
        (fall_behind, {"behind callbacks": 1}),
        (set_aside, {"set aside": 1}),
        (leak, {"canaries": 1}),
    ],
)
def test_a_doctored_record_is_found_out(doctor: Callable[[Record], None], expected: dict[str, int]) -> None:
    """Each fault is counted under its name, once, and nothing else is."""
    record = faultless()
    doctor(record)
    assert found(record) == expected
    assert account(record).clean == (not expected.keys() & set(DEMANDED))


def test_a_message_that_nobody_acknowledged_may_be_answered_or_not() -> None:
    """An ambiguous post is no loss when it was not stored, and no surprise when it was; twice is too often even then."""
    record = faultless()
    record.attempts = [replace(one, outcome=FAILED) if one.sid == "m4" else one for one in record.attempts]
    record.takes.append(replace(record.takes[4], sid="SM99"))
    assert found(record) == {"refused": 1, "doubled": 1, "unrecorded": 1}


def test_what_never_reached_a_listener_crosses_nothing() -> None:
    """Only a listener that may have seen a message counts for its order."""
    record = faultless()
    swap(record)
    record.attempts.append(Attempt("m3", FALLBACK, 20, 20, 20.1, UNREACHED, duplicate=True))
    assert found(record) == {"disordered": 1}


def test_a_message_over_a_limit_has_its_notice_or_nothing() -> None:
    """Stored without a reply it is no loss; with one, the reply must be the notice."""
    record = faultless()
    record.inbox[0] = replace(record.inbox[0], over_limit="sender_minute")
    assert found(record) == {"lost": 1, "unexpected": 1, "limited": 1}
    del record.takes[0], record.outbox[0], record.told[0]
    assert found(record) == {"limited": 1}
    assert account(record).clean


def test_replies_of_the_real_writer_are_paired_with_what_was_stored() -> None:
    """Without knowing the replies, a lost and a doubled one are still found."""
    record = faultless()
    del record.takes[4], record.takes[0]
    record.takes.append(replace(record.takes[0], sid="SM99", at=60.0))
    faults = Ledger(record, expected_anything).account().faults
    assert (faults["lost"], faults["doubled"]) == (["m1", "m4"], ["m2.0"])


def test_percentiles_are_values_that_occurred() -> None:
    """Nearest rank, the largest value last; nothing gives zeros."""
    measured = spread(float(value) for value in range(1, 201))
    assert (measured.p50, measured.p95, measured.p99, measured.most) == (100.0, 190.0, 198.0, 200.0)
    assert spread([]).count == 0


def test_catching_up_is_counted_from_the_return_of_the_database() -> None:
    """The last reply to what was acknowledged while it was away decides."""
    record = faultless()
    record.down = [(9.0, 10.5)]
    measured = catching_up(record, Ledger(record, expected_parts))
    assert measured.count == 1
    assert measured.most == pytest.approx(0.6)
