"""Taking a stored message's turn: answer it once, then bring every part of the reply out once.

Safe to repeat: whatever stopped an earlier try, the next one goes on from there. What may be on its way already is looked
for at the channel before it is sent again.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from clara.answering.message import Reply
from clara.delivery.message import Case, Outgoing, Taken, split
from clara.delivery.ports import ChannelLimits, Desk, PermanentSendError, Sender, TemporarySendError

# A try to send must begin writing within so long of its claim ...
LEASE_SECONDS: Final = 1.0
# ... and is looked for at the channel no sooner than so long after it. The difference is what the network and the channel's
# list may lag: docs/operations.md says what happens when they lag longer.
SETTLED_SECONDS: Final = 3.0
# A channel that is slow to give its list may be as slow with the request itself: it is believed only when the try is older
# than so many times what the list took. Seen on a machine at a standstill, where a request lay unread for ten seconds.
LIST_TIMES: Final = 5.0
# The channel's clock may differ from the database's by so much when a message is looked for.
CLOCKS_DIFFER_SECONDS: Final = 60.0

# The clock that goes on while the machine sleeps, where there is one: a lease must not outlive a suspension.
_CLOCK: Final = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)

Converse = Callable[[Case], Reply]


class _SwitchedOff:
    """The sender of a channel that this process does not have: whoever has it may send, and after a day nobody needs to."""

    def send(self, outgoing: Outgoing, timely: Callable[[], bool]) -> str | None:
        del outgoing, timely
        raise TemporarySendError("the channel that the message came by is not in CLARA_CHANNEL")

    def taken(self, outgoing: Outgoing) -> Sequence[Taken]:
        del outgoing
        raise TemporarySendError("the channel that the message came by is not in CLARA_CHANNEL")


@dataclass(frozen=True, slots=True)
class Outlet:
    """The way out through one channel, and what the channel takes."""

    sender: Sender
    limits: ChannelLimits


SWITCHED_OFF: Final = Outlet(_SwitchedOff(), ChannelLimits(1_600, 24 * 3600.0, "channel"))


class UnsettledError(TemporarySendError):
    """A try to send has an unknown outcome and is too young to be looked for."""


@dataclass(frozen=True, slots=True)
class Clerk:
    """Who takes turns: where they are kept, how they are answered, by which channels (as messages name them) replies go out."""

    desk: Desk
    answer: Converse
    outlets: Mapping[str, Outlet]
    now: Callable[[], float] = lambda: time.clock_gettime(_CLOCK)


def take_turn(inbox_id: int, clerk: Clerk) -> str:
    """Answer the message unless that is done, then send what waits; say what was found to do.

    Raises StoreUnavailableError, TemporarySendError, LostAnswerError and SupersededError, after which the turn must be taken
    again: a turn that was superseded is somebody else's, but its job must not end before that somebody is done.
    """
    case = clerk.desk.begin(inbox_id)
    if case is None:
        return "erased"
    outlet = clerk.outlets.get(case.incoming.channel, SWITCHED_OFF)
    case = replace(case, timely=outlet.limits.timely(case.age))
    if not case.answered:
        reply = clerk.answer(case)
        began = clerk.now()
        # A blank reply would leave nothing that shows that the message was answered: the channel may refuse it.
        claimed = clerk.desk.reply(case, reply, split(reply.text, outlet.limits.longest) or ("",))
        if claimed is not None:
            return _send(claimed, began, clerk, outlet.sender)
    outcomes = [_deliver(case, outgoing, clerk, outlet) for outgoing in clerk.desk.waiting(case)]
    return outcomes[-1] if outcomes else "already sent"


def _deliver(case: Case, outgoing: Outgoing, clerk: Clerk, outlet: Outlet) -> str:
    """Bring one part out, or find that it went out already. A channel that is switched off cannot be asked: a day ends it."""
    asked = outlet is not SWITCHED_OFF or case.timely
    if asked and outgoing.uncertain_for is not None and _found(outgoing, outgoing.uncertain_for, clerk, outlet.sender):
        return "found sent"
    if not case.timely:
        clerk.desk.refused(outgoing, outlet.limits.window_code)
        return "too late"
    if outgoing.hold_for > 0:
        raise TemporarySendError("the channel wants it slower", outgoing.hold_for)
    began = clerk.now()
    clerk.desk.claim(case, outgoing)
    return _send(outgoing, began, clerk, outlet.sender)


def _send(outgoing: Outgoing, began: float, clerk: Clerk, sender: Sender) -> str:
    """Send a part that was claimed after `began`."""
    try:
        sid = sender.send(outgoing, lambda: clerk.now() - began < LEASE_SECONDS)
    except PermanentSendError as error:
        clerk.desk.refused(outgoing, error.code)
        return "refused"
    except TemporarySendError:
        clerk.desk.unclaim(outgoing)
        raise
    clerk.desk.sent(outgoing, sid)
    return "sent"


def _found(outgoing: Outgoing, uncertain_for: float, clerk: Clerk, sender: Sender) -> bool:
    """Look for an earlier try at the channel, and record what it took. Raises UnsettledError while it is too early to tell."""
    if uncertain_for < SETTLED_SECONDS:
        raise UnsettledError("the outcome of a try to send is not known yet", SETTLED_SECONDS - uncertain_for)
    asked = clerk.now()
    listed = sender.taken(outgoing)
    enough = LIST_TIMES * (clerk.now() - asked)
    same = [
        taken.sid
        for taken in reversed(listed)
        if _words(taken.text) == _words(outgoing.text) and taken.age < uncertain_for + CLOCKS_DIFFER_SECONDS
    ]
    ours = clerk.desk.unrecorded(outgoing, same)
    if ours:
        clerk.desk.sent(outgoing, ours[0])
    elif uncertain_for < enough:
        raise UnsettledError("the channel is too slow to be believed yet", enough - uncertain_for)
    return bool(ours)


def _words(text: str) -> list[str]:
    """Leave blanks out of a comparison: the channel may trim or fold them."""
    return text.split()
