"""Taking a stored message's turn: what is answered, what is sent, what is looked for first, what is left to somebody else."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import pytest

from clara.answering.message import Reply, ReplyStatus
from clara.delivery.message import Case, Incoming, Outgoing, Taken
from clara.delivery.ports import (
    ChannelLimits,
    LostAnswerError,
    PermanentSendError,
    StoreUnavailableError,
    SupersededError,
    TemporarySendError,
)
from clara.delivery.turn_processor import (
    CLOCKS_DIFFER_SECONDS,
    LEASE_SECONDS,
    LIST_TIMES,
    SETTLED_SECONDS,
    Clerk,
    Outlet,
    UnsettledError,
    take_turn,
)

WINDOW_SECONDS, WINDOW_CLOSED = 24 * 3600.0, "63016"
LIMITS = ChannelLimits(1_600, WINDOW_SECONDS, WINDOW_CLOSED)
INCOMING = Incoming("SM1", "whatsapp", "", "", "hola")
OURS, PERSON = "whatsapp:+34900", "whatsapp:+34600"
SHORT, LONG = "¡Hola!", "\n\n".join(letter * 1_500 for letter in "abc")
BUSY, LOST, CLOSED = (
    TemporarySendError("busy", 7.0),
    LostAnswerError("no answer"),
    PermanentSendError("63024", "no such number"),
)


@dataclass
class Row:
    """A part in the outbox."""

    text: str
    status: str = "pending"
    sid: str | None = None
    attempts: int = 0
    attempted_at: float | None = None


@dataclass
class MemoryDesk:
    """Keeps one message's turn in memory, as the port promises. What is in `failing` fails once, before it does anything."""

    age: float = 0.0
    erased: bool = False
    clock: float = 1_000.0
    fence: int = 0
    rows: list[Row] = field(default_factory=list)
    others: set[str] = field(default_factory=set)
    failing: list[str] = field(default_factory=list)

    def begin(self, inbox_id: int) -> Case | None:
        self._fail("begin")
        self.fence += 1
        case = Case(inbox_id, self.fence, INCOMING, "p", True, None, answered=bool(self.rows), age=self.age)
        return None if self.erased else case

    def reply(self, case: Case, reply: Reply, parts: Sequence[str]) -> Outgoing | None:
        self._fail("reply")
        if case.fence != self.fence:
            raise SupersededError
        first, self.rows = not self.rows, self.rows or [Row(part) for part in parts]
        if not (first and len(parts) == 1 and case.timely):
            return None
        outgoing = Outgoing(0, OURS, PERSON, parts[0])
        self.claim(case, outgoing)
        return outgoing

    def waiting(self, case: Case) -> Sequence[Outgoing]:
        self._fail("waiting")
        return [
            Outgoing(number, OURS, PERSON, row.text, number, row.attempts, self._since(row))
            for number, row in enumerate(self.rows)
            if row.status == "pending"
        ]

    def _since(self, row: Row) -> float | None:
        return None if row.attempted_at is None else self.clock - row.attempted_at

    def claim(self, case: Case, outgoing: Outgoing) -> None:
        self._fail("claim")
        row = self.rows[outgoing.id]
        if (case.fence, outgoing.attempts, "pending") != (self.fence, row.attempts, row.status):
            raise SupersededError
        row.attempts, row.attempted_at = row.attempts + 1, self.clock

    def unclaim(self, outgoing: Outgoing) -> None:
        self._fail("unclaim")
        if self.rows[outgoing.id].attempts == outgoing.attempts + 1:
            self.rows[outgoing.id].attempted_at = None

    def sent(self, outgoing: Outgoing, provider_sid: str | None) -> None:
        self._fail("sent")
        row = self.rows[outgoing.id]
        row.status, row.sid, row.attempted_at = "sent", provider_sid, None

    def refused(self, outgoing: Outgoing, code: str) -> None:
        self._fail("refused")
        self.rows[outgoing.id].status = code

    def unrecorded(self, outgoing: Outgoing, sids: Sequence[str]) -> Sequence[str]:
        self._fail("unrecorded")
        return [sid for sid in sids if sid not in self.others | {row.sid for row in self.rows}]

    def _fail(self, name: str) -> None:
        if name in self.failing:
            self.failing.remove(name)
            raise StoreUnavailableError(name)


@dataclass
class MemoryChannel:
    """Takes messages in memory. `script` says what becomes of the next sends: an error, and whether it took the message."""

    desk: MemoryDesk
    script: list[tuple[Exception | None, bool]] = field(default_factory=list)
    earlier: list[Taken] = field(default_factory=list)
    out: list[tuple[str, str]] = field(default_factory=list)
    before_asking: Callable[[], None] = lambda: None
    asked: list[bool] = field(default_factory=list)
    looked: int = 0
    list_takes: float = 0.0

    def send(self, outgoing: Outgoing, timely: Callable[[], bool]) -> str | None:
        assert (outgoing.sender, outgoing.recipient) == (OURS, PERSON)
        self.before_asking()
        self.asked.append(timely())
        if not self.asked[-1]:
            raise TemporarySendError("too late", 0.0)
        error, takes = self.script.pop(0) if self.script else (None, True)
        if takes:
            self.out.append((f"SM-{len(self.out)}", outgoing.text))
        if error is not None:
            raise error
        return self.out[-1][0]

    def taken(self, outgoing: Outgoing) -> Sequence[Taken]:
        self.looked += 1
        self.desk.clock += self.list_takes
        return [Taken(sid, text, 0.0) for sid, text in reversed(self.out)] + self.earlier

    @property
    def texts(self) -> list[str]:
        return [text for _, text in self.out]


@dataclass
class Setting:
    """A clerk at work on one message."""

    reply: str = SHORT
    desk: MemoryDesk = field(default_factory=MemoryDesk)
    answered: int = 0

    def __post_init__(self) -> None:
        self.channel = MemoryChannel(self.desk)

    def answer(self, _case: Case) -> Reply:
        self.answered += 1
        return Reply(self.reply, ReplyStatus.ANSWERED, "es")

    def take(self) -> str:
        return take_turn(7, Clerk(self.desk, self.answer, {"whatsapp": Outlet(self.channel, LIMITS)}, lambda: self.desk.clock))

    def take_until_done(self) -> list[str]:
        """Take the turn as the job engine does: again after each failure, once a try has settled."""
        told = []
        while True:
            try:
                return [*told, self.take()]
            except (TemporarySendError, LostAnswerError, StoreUnavailableError, SupersededError) as error:
                told.append(type(error).__name__)
                self.desk.clock += SETTLED_SECONDS


@pytest.fixture
def at() -> Setting:
    return Setting()


@pytest.mark.parametrize(
    ("script", "told", "ends"),
    [
        pytest.param([], ["sent"], "sent", id="taken"),
        pytest.param([(BUSY, False)], ["TemporarySendError", "sent"], "sent", id="busy"),
        pytest.param([(BUSY, False)] * 3, ["TemporarySendError"] * 3 + ["sent"], "sent", id="busy-for-long"),
        pytest.param([(LOST, True)], ["LostAnswerError", "found sent"], "sent", id="answer-lost-message-taken"),
        pytest.param([(LOST, False)], ["LostAnswerError", "sent"], "sent", id="answer-lost-message-not-taken"),
        pytest.param([(LOST, False), (LOST, True)], ["LostAnswerError"] * 2 + ["found sent"], "sent", id="lost-twice"),
        pytest.param([(LOST, False), (BUSY, False)], ["LostAnswerError", "TemporarySendError", "sent"], "sent", id="then-busy"),
        pytest.param([(CLOSED, False)], ["refused"], "63024", id="refused"),
    ],
)
def test_however_a_send_ends_the_person_gets_one_reply(
    at: Setting, script: list[tuple[Exception | None, bool]], told: list[str], ends: str
) -> None:
    """Answered once, sent once or refused once; another turn finds nothing to do."""
    at.channel.script = script
    assert at.take_until_done() == told
    assert (at.answered, at.desk.rows[0].status) == (1, ends)
    assert at.channel.texts == ([SHORT] if ends == "sent" else [])
    assert at.desk.rows[0].sid == (at.channel.out[0][0] if at.channel.out else None)
    assert (at.take(), at.answered) == ("already sent", 1)


@pytest.mark.parametrize(
    ("reply", "place"),
    [
        *((SHORT, place) for place in ("begin", "reply", "sent")),  # the only part is claimed with the reply
        *((LONG, place) for place in ("begin", "reply", "waiting", "claim", "sent")),
    ],
)
def test_wherever_the_store_fails_the_person_gets_one_reply(reply: str, place: str) -> None:
    """What was sent and not recorded is found at the channel; nothing is sent twice and nothing is left out."""
    at = Setting(reply)
    at.desk.failing = [place]
    assert at.take_until_done() == ["StoreUnavailableError", "sent" if place != "sent" or reply is LONG else "found sent"]
    assert at.channel.texts == [row.text for row in at.desk.rows]
    assert {row.status for row in at.desk.rows} == {"sent"}


@pytest.mark.parametrize("place", ["unclaim", "refused", "unrecorded"])
def test_a_store_that_fails_after_a_failure_is_asked_again(at: Setting, place: str) -> None:
    """The failure of the sending and the one of the store together still end in one reply, or in one refusal."""
    at.channel.script = [{"unclaim": (BUSY, False), "refused": (CLOSED, False), "unrecorded": (LOST, True)}[place]] * (
        2 if place == "refused" else 1
    )
    at.desk.failing = [place]
    at.take_until_done()
    assert (at.channel.texts, at.desk.rows[0].status) == (([], "63024") if place == "refused" else ([SHORT], "sent"))


def test_a_busy_channel_leaves_no_doubt(at: Setting) -> None:
    """What was surely not taken is not looked for: it is sent again, and the wait that was asked for is handed on."""
    at.channel.script = [(BUSY, False)]
    with pytest.raises(TemporarySendError) as raised:
        at.take()
    assert (raised.value.wait, at.desk.rows[0].attempted_at) == (7.0, None)
    assert (at.take(), at.channel.looked) == ("sent", 0)


@pytest.mark.parametrize("since", [0.0, 1.5, SETTLED_SECONDS - 0.01])
def test_a_try_that_is_too_young_is_waited_for(at: Setting, since: float) -> None:
    """The channel's list may not show it yet: neither asked nor sent, and the rest of the wait is told."""
    at.channel.script = [(LOST, True)]
    with pytest.raises(LostAnswerError):
        at.take()
    at.desk.clock += since
    with pytest.raises(UnsettledError) as raised:
        at.take()
    assert raised.value.wait == pytest.approx(SETTLED_SECONDS - since)
    assert (at.channel.looked, len(at.channel.out)) == (0, 1)


def test_a_slow_channel_is_not_believed_at_once(at: Setting) -> None:
    """Where the list takes long, the request itself may still be on its way: waited for in proportion, and then sent."""
    at.channel.script = [(LOST, False)]
    at.channel.list_takes = 2.0
    with pytest.raises(LostAnswerError):
        at.take()
    at.desk.clock += SETTLED_SECONDS
    with pytest.raises(UnsettledError) as raised:
        at.take()
    assert (raised.value.wait, at.channel.out) == (2.0 * LIST_TIMES - SETTLED_SECONDS, [])
    at.desk.clock += raised.value.wait
    assert (at.take(), at.channel.texts) == ("sent", [SHORT])


def test_a_slow_channel_that_shows_the_try_is_believed(at: Setting) -> None:
    """What is in the list was taken, however long the list took."""
    at.channel.script = [(LOST, True)]
    at.channel.list_takes = 2.0
    assert at.take_until_done() == ["LostAnswerError", "found sent"]
    assert at.channel.texts == [SHORT]


@pytest.mark.parametrize(
    ("earlier", "ours"),
    [
        pytest.param(Taken("SM-other", SHORT, 5.0), False, id="recorded-under-another-reply"),
        pytest.param(Taken("SM-free", SHORT, SETTLED_SECONDS + CLOCKS_DIFFER_SECONDS + 1), False, id="older-than-the-try"),
        pytest.param(Taken("SM-free", SHORT + ".", 5.0), False, id="another-text"),
        pytest.param(Taken("SM-free", SHORT, SETTLED_SECONDS + CLOCKS_DIFFER_SECONDS - 1), True, id="clocks-differ"),
    ],
)
def test_only_the_try_itself_is_taken_for_it(at: Setting, earlier: Taken, ours: bool) -> None:
    """The same words, sent before as another reply, are not this reply."""
    at.desk.others = {"SM-other"}
    at.channel.earlier = [earlier]
    at.channel.script = [(LOST, False)]
    assert at.take_until_done() == ["LostAnswerError", "found sent" if ours else "sent"]
    assert at.channel.texts == ([] if ours else [SHORT])


def test_the_oldest_of_equal_tries_is_ours(at: Setting) -> None:
    """Of several that nobody recorded the first one counts."""
    at.channel.earlier = [Taken("SM-second", SHORT, 1.0), Taken("SM-first", SHORT, 2.0)]
    at.channel.script = [(LOST, False)]
    at.take_until_done()
    assert at.desk.rows[0].sid == "SM-first"


def test_a_long_reply_goes_on_where_it_stopped() -> None:
    """Parts go in order, and a failure at the second does not send the first again."""
    at = Setting(LONG)
    at.channel.script = [(None, True), (BUSY, False), (LOST, True)]
    assert at.take_until_done() == ["TemporarySendError", "LostAnswerError", "sent"]
    assert at.channel.texts == ["a" * 1_500, "b" * 1_500, "c" * 1_500]
    assert ([row.attempts for row in at.desk.rows], at.answered) == ([1, 2, 1], 1)


def test_a_refused_part_does_not_keep_back_the_others() -> None:
    """What the channel will never take is recorded, and the rest goes out."""
    at = Setting(LONG)
    at.channel.script = [(CLOSED, False)]
    assert at.take() == "sent"
    assert [row.status for row in at.desk.rows] == ["63024", "sent", "sent"]


def test_a_blank_reply_is_over_after_one_try() -> None:
    """It is recorded like any other, so that the channel's refusal ends it."""
    at = Setting(" \n")
    at.channel.script = [(PermanentSendError("21602", "a body is required"), False)]
    assert [at.take(), at.take()] == ["refused", "already sent"]
    assert at.answered == 1


def test_an_erased_message_is_not_answered(at: Setting) -> None:
    """Neither before its answer nor between two tries to send it."""
    at.channel.script = [(BUSY, False)]
    with pytest.raises(TemporarySendError):
        at.take()
    at.desk.erased = True
    assert at.take() == "erased"
    assert at.channel.out == []


@pytest.mark.parametrize("moment", ["while answering", "before the claim", "between two parts"])
def test_who_was_superseded_does_nothing_more(moment: str) -> None:
    """A worker that stalled finds that another has begun, and leaves the turn to it; the person gets one reply."""
    at = Setting(LONG)
    stalled = replace(at, desk=at.desk)
    stalled.channel = at.channel
    done: list[str] = []

    def overtake() -> None:
        if not done:
            done.append("begun")
            done.append(at.take())

    answer, waiting = stalled.answer, at.desk.waiting
    if moment == "while answering":
        stalled.answer = lambda case: (overtake(), answer(case))[1]
    elif moment == "before the claim":
        at.desk.waiting = lambda case: (waiting(case), overtake())[0]
    else:
        sent = at.desk.sent
        at.desk.sent = lambda outgoing, sid: (sent(outgoing, sid), overtake())[0]
    with pytest.raises(SupersededError):
        stalled.take()
    assert done == ["begun", "sent"]
    assert at.channel.texts == ["a" * 1_500, "b" * 1_500, "c" * 1_500]


@pytest.mark.parametrize(("late", "writes"), [(LEASE_SECONDS - 0.01, True), (LEASE_SECONDS, False), (3_600.0, False)])
def test_a_claim_is_a_short_lease(at: Setting, late: float, writes: bool) -> None:
    """Who comes to writing later than that, having slept or waited for the network, does not write."""

    def stall() -> None:
        at.desk.clock += late
        at.channel.before_asking = lambda: None

    at.channel.before_asking = stall
    assert at.take_until_done() == (["sent"] if writes else ["TemporarySendError", "sent"])
    assert at.channel.asked[0] is writes
    assert (at.channel.texts, at.channel.looked) == ([SHORT], 0)


def test_the_lease_begins_before_the_claim(at: Setting) -> None:
    """The time that claiming takes is part of it: others count from what the store wrote down."""
    claim = at.desk.claim

    def slow(case: Case, outgoing: Outgoing) -> None:
        claim(case, outgoing)
        at.desk.clock += LEASE_SECONDS

    at.desk.claim = slow
    with pytest.raises(TemporarySendError):
        at.take()
    assert at.channel.out == []


@pytest.mark.parametrize(
    ("age", "status", "texts"), [(WINDOW_SECONDS, "sent", [SHORT]), (WINDOW_SECONDS + 1, WINDOW_CLOSED, [])]
)
def test_after_a_day_nothing_is_sent(at: Setting, age: float, status: str, texts: list[str]) -> None:
    """WhatsApp would refuse it: so it is recorded, and trying is over."""
    at.desk.age = age
    assert at.take() == ("sent" if texts else "too late")
    assert (at.desk.rows[0].status, at.channel.texts) == (status, texts)


@pytest.mark.parametrize(("took", "told", "status"), [(True, "found sent", "sent"), (False, "too late", WINDOW_CLOSED)])
def test_after_a_day_a_try_is_still_looked_for(at: Setting, took: bool, told: str, status: str) -> None:
    """What went out before is not recorded as refused."""
    at.channel.script = [(LOST, took)]
    with pytest.raises(LostAnswerError):
        at.take()
    at.desk.clock += WINDOW_SECONDS
    at.desk.age = WINDOW_SECONDS + 1
    # Its age at the channel is as great as here.
    if took:
        at.channel.earlier, at.channel.out = [Taken("SM-old", SHORT, WINDOW_SECONDS)], []
    assert at.take() == told
    assert (at.desk.rows[0].status, at.channel.looked) == (status, 1)


def test_a_message_of_a_channel_that_is_off_waits(at: Setting) -> None:
    """Its reply is kept for a worker that has the channel; after a day there is nobody to wait for."""
    without = Clerk(at.desk, at.answer, {}, lambda: at.desk.clock)
    with pytest.raises(TemporarySendError, match="CLARA_CHANNEL"):
        take_turn(7, without)
    assert (at.take(), at.channel.texts, at.answered) == ("sent", [SHORT], 1)
    at.desk.rows.clear()
    at.desk.age = WINDOW_SECONDS + 1
    assert take_turn(7, without) == "too late"
    assert at.desk.rows[0].status == "channel"


def test_a_try_of_a_channel_that_is_off_ends_with_its_day(at: Setting) -> None:
    """Nobody can ask whether it went out; until then it waits, afterwards its address can be forgotten."""
    at.channel.script = [(LOST, False)]
    with pytest.raises(LostAnswerError):
        at.take()
    without = Clerk(at.desk, at.answer, {}, lambda: at.desk.clock)
    at.desk.clock += 60
    with pytest.raises(TemporarySendError, match="CLARA_CHANNEL"):
        take_turn(7, without)
    at.desk.clock += WINDOW_SECONDS
    at.desk.age = WINDOW_SECONDS + 1
    assert take_turn(7, without) == "too late"
    assert at.desk.rows[0].status == "channel"
