"""Tests of taking a stored message's turn."""

import pytest

from clara.conversation.message import Incoming, Message, Reply, ReplyStatus
from clara.conversation.ports import Case, Outgoing, PermanentSendError, StoreUnavailableError, TemporarySendError
from clara.conversation.turns import message_of, take_turn

CASE = Case(Incoming("SM1", "whatsapp", "whatsapp:+34600", "whatsapp:+34900", "hola", ("image/png",)), True, None)
REPLY = Reply("¡Hola!", ReplyStatus.COMMAND, "es")


class FakeDesk:
    """Keeps one message's turn in memory."""

    def __init__(self, case: Case | None = CASE, *, crashes: int = 0) -> None:
        self.replies: list[Reply] = []
        self.delivered: list[str | None] = []
        self.refusals: list[str] = []
        self._case = case
        self._crashes = crashes

    def case(self, _inbox_id: int) -> Case | None:
        """Give the message."""
        return self._case

    def reply(self, _inbox_id: int, reply: Reply) -> None:
        """Record the reply; an earlier one stays."""
        self.replies = self.replies or [reply]

    def erase(self) -> None:
        """Forget the message and everything that hangs on it."""
        self._case = None
        self.replies.clear()

    def waiting(self, inbox_id: int) -> Outgoing | None:
        """Give the reply while it is not out."""
        if not self.replies or self.delivered or self.refusals:
            return None
        return Outgoing(inbox_id, CASE.incoming.recipient, CASE.incoming.sender, self.replies[0].text)

    def answered(self, _inbox_id: int) -> bool:
        """Tell whether there is a reply."""
        return bool(self.replies)

    def sent(self, _outgoing: Outgoing, provider_sid: str | None) -> None:
        """Record the delivery."""
        self._crash()
        self.delivered.append(provider_sid)

    def refused(self, _outgoing: Outgoing, code: str) -> None:
        """Record the refusal."""
        self._crash()
        self.refusals.append(code)

    def _crash(self) -> None:
        if self._crashes:
            self._crashes -= 1
            raise StoreUnavailableError("gone")


class FakeSender:
    """Sends in memory, failing first with the given errors."""

    def __init__(self, *errors: Exception) -> None:
        self.out: list[Outgoing] = []
        self._errors = list(errors)

    def send(self, outgoing: Outgoing) -> str | None:
        """Send or fail."""
        if self._errors:
            raise self._errors.pop(0)
        self.out.append(outgoing)
        return "SM-out"


def answer(case: Case) -> Reply:
    """Answer the one case there is."""
    assert case is CASE
    return REPLY


def never(_case: Case) -> Reply:
    """Fail when anything is answered."""
    raise AssertionError("this was answered already")


def test_turn() -> None:
    """A message is answered, and the reply goes to the person from our address."""
    desk, sender = FakeDesk(), FakeSender()
    assert take_turn(7, desk, answer, sender) == "sent"
    assert desk.replies == [REPLY]
    assert sender.out == [Outgoing(7, "whatsapp:+34900", "whatsapp:+34600", "¡Hola!")]
    assert desk.delivered == ["SM-out"]


def test_repeated_turn() -> None:
    """Taking the turn again neither answers nor sends again."""
    desk, sender = FakeDesk(), FakeSender()
    take_turn(7, desk, answer, sender)
    assert take_turn(7, desk, never, sender) == "already sent"
    assert len(sender.out) == 1


def test_erased() -> None:
    """A message that was erased is not answered."""
    desk, sender = FakeDesk(case=None), FakeSender()
    assert take_turn(7, desk, never, sender) == "erased"
    assert (desk.replies, sender.out) == ([], [])


def test_temporary_failure() -> None:
    """After a temporary failure the reply still waits, and the next try sends it without answering again."""
    desk, sender = FakeDesk(), FakeSender(TemporarySendError("busy"))
    with pytest.raises(TemporarySendError):
        take_turn(7, desk, answer, sender)
    assert desk.delivered == []
    assert take_turn(7, desk, never, sender) == "sent"
    assert len(sender.out) == 1


def test_permanent_failure() -> None:
    """A reply that the channel will never take is recorded with the channel's code and not tried again."""
    desk, sender = FakeDesk(), FakeSender(PermanentSendError("63016", "outside the window"))
    assert take_turn(7, desk, answer, sender) == "refused"
    assert desk.refusals == ["63016"]
    assert take_turn(7, desk, never, sender) == "already sent"


def test_crash_between_send_and_record() -> None:
    """When the store fails after the reply went out, the next try sends it once more rather than perhaps never."""
    desk, sender = FakeDesk(crashes=1), FakeSender()
    with pytest.raises(StoreUnavailableError):
        take_turn(7, desk, answer, sender)
    assert (len(sender.out), desk.delivered) == (1, [])
    assert take_turn(7, desk, never, sender) == "sent"
    assert (sender.out[0], desk.delivered) == (sender.out[1], ["SM-out"])
    assert take_turn(7, desk, never, sender) == "already sent"
    assert len(sender.out) == 2


def test_crash_between_refusal_and_record() -> None:
    """When the store fails after the channel refused, the next try asks the channel again and records its refusal."""
    refusal = PermanentSendError("63016", "outside the window")
    desk, sender = FakeDesk(crashes=1), FakeSender(refusal, refusal)
    with pytest.raises(StoreUnavailableError):
        take_turn(7, desk, answer, sender)
    assert desk.refusals == []
    assert take_turn(7, desk, never, sender) == "refused"
    assert (desk.refusals, sender.out) == (["63016"], [])


def test_crash_between_answer_and_send() -> None:
    """A reply that was recorded by a try that then died is sent by the next one, which does not answer again."""
    desk, sender = FakeDesk(), FakeSender()
    desk.reply(7, REPLY)
    assert take_turn(7, desk, never, sender) == "sent"
    assert [outgoing.text for outgoing in sender.out] == ["¡Hola!"]


def test_two_at_once() -> None:
    """When another process answers and sends while this one still thinks, the reply goes out once and the first one stays."""
    desk, sender = FakeDesk(), FakeSender()

    def slow(case: Case) -> Reply:
        take_turn(7, desk, answer, sender)
        return Reply("¡Buenas!", ReplyStatus.COMMAND, case.previous_language or "es")

    assert take_turn(7, desk, slow, sender) == "already sent"
    assert (desk.replies, len(sender.out)) == ([REPLY], 1)


def test_erased_before_sending() -> None:
    """A message that is erased while its reply waits to be sent again gets none."""
    desk, sender = FakeDesk(), FakeSender(TemporarySendError("busy"))
    with pytest.raises(TemporarySendError):
        take_turn(7, desk, answer, sender)
    desk.erase()
    assert take_turn(7, desk, never, sender) == "erased"
    assert sender.out == []


def test_store_failure_while_answering() -> None:
    """When the store fails under the answer, nothing is recorded and nothing goes out."""
    desk, sender = FakeDesk(), FakeSender()

    def down(_case: Case) -> Reply:
        raise StoreUnavailableError("gone")

    with pytest.raises(StoreUnavailableError):
        take_turn(7, desk, down, sender)
    assert (desk.replies, sender.out) == ([], [])


def test_message_of() -> None:
    """The journey sees text and kinds of media, and neither address nor id."""
    assert message_of(CASE) == Message("hola", ("image/png",))
