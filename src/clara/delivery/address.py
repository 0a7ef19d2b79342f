"""The two ends of a conversation, as they are kept: encrypted, and bound to their message."""

import json
from typing import Final

from clara.delivery.message import Incoming
from clara.delivery.ports import Sealer, UnsealableError

_CONTEXT: Final = "address of "


def seal_address(incoming: Incoming, sealer: Sealer) -> bytes:
    """Encrypt the person's address and ours; it opens for this message only."""
    ends = json.dumps([incoming.sender, incoming.recipient])
    return sealer.seal(ends.encode(), _CONTEXT + incoming.sid)


def open_address(sealed: bytes, sid: str, sealer: Sealer) -> tuple[str, str]:
    """Give the person's address and ours. Raises UnsealableError."""
    try:
        sender, recipient = json.loads(sealer.open(sealed, _CONTEXT + sid))
    except ValueError as error:
        raise UnsealableError("what was sealed is not an address") from error
    return sender, recipient
