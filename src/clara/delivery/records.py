"""How messages, reports and the two ends of a conversation are written down: encrypted, bound to their message."""

import json
from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Final

from clara.delivery.message import Incoming, Lane, Report
from clara.delivery.ports import Sealer, UnsealableError

_CONTEXT: Final = "address of "
# What a record says that it is. Files that earlier releases wrote say the same.
_MESSAGE, _REPORT = "Incoming", "Report"
# The first release wrote no `resend_within`: with one of these codes, Twilio's for its rates, it was a day.
_RATES: Final = frozenset({"20429", "21611", "30001", "63017", "63018"})
_DAY_SECONDS: Final = 24 * 3600.0


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


def written(item: Incoming | Report, now: Callable[[], datetime]) -> bytes:
    """Write a message or a report down; a message that does not say when it was received was received now."""
    fields = asdict(item)
    if isinstance(item, Incoming):
        fields["received_at"] = (item.received_at or now()).astimezone(UTC).isoformat()
    elif not item.resend_within:  # the previous release, which may drain this file, does not know it
        del fields["resend_within"]
    return json.dumps({"kind": _MESSAGE if isinstance(item, Incoming) else _REPORT, "fields": fields}).encode()


def read(record: bytes) -> Incoming | Report:
    """Read what was written. Raises ValueError, LookupError or TypeError when it is something else."""
    document = json.loads(record)
    fields = document["fields"]
    if document["kind"] == _REPORT:
        resend_within = fields.pop("resend_within", _DAY_SECONDS if fields["error_code"] in _RATES else 0.0)
        return Report(**fields, resend_within=resend_within)
    received, kinds = datetime.fromisoformat(fields.pop("received_at")), tuple(fields.pop("media_types"))
    # The previous release's records name no recordings; what a later release adds is left out.
    recordings = tuple(fields.pop("recordings", ()))
    lane = Lane(fields.pop("lane", Lane.ORDINARY))
    return Incoming(**fields, media_types=kinds, received_at=received, recordings=recordings, lane=lane)
