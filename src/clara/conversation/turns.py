"""Taking a stored message's turn: answer it once, then send what waits to be sent."""

from collections.abc import Callable

from clara.conversation.message import Message, Reply
from clara.conversation.ports import Case, Desk, PermanentSendError, Sender

Converse = Callable[[Case], Reply]


def take_turn(inbox_id: int, desk: Desk, answer: Converse, sender: Sender) -> str:
    """Answer the message unless that is done, then send the reply unless that is done; say what was found to do.

    Safe to repeat: whatever stopped an earlier try, the next one goes on from there. Raises StoreUnavailableError and
    TemporarySendError, after which the turn must be taken again.
    """
    if not desk.answered(inbox_id):
        case = desk.case(inbox_id)
        if case is None:
            return "erased"
        desk.reply(inbox_id, answer(case))
    outgoing = desk.waiting(inbox_id)
    if outgoing is None:
        return "already sent"
    try:
        desk.sent(outgoing, sender.send(outgoing))
    except PermanentSendError as error:
        desk.refused(outgoing, error.code)
        return "refused"
    return "sent"


def message_of(case: Case) -> Message:
    """Give what the journey may see of a message."""
    return Message(case.incoming.text, case.incoming.media_types)
