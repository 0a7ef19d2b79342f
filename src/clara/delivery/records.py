"""How messages and reports are written down while the store is away."""

import json
from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime

from clara.delivery.message import Incoming, Lane, Report


def written(item: Incoming | Report, now: Callable[[], datetime]) -> bytes:
    """Write a message or a report down; a message that does not say when it was received was received now."""
    fields = asdict(item)
    if isinstance(item, Incoming):
        fields["received_at"] = (item.received_at or now()).astimezone(UTC).isoformat()
    return json.dumps({"kind": type(item).__name__, "fields": fields}).encode()


def read(record: bytes) -> Incoming | Report:
    """Read what was written. Raises ValueError, LookupError or TypeError when it is something else."""
    document = json.loads(record)
    fields = document["fields"]
    if document["kind"] == Report.__name__:
        return Report(**fields)
    received, kinds = datetime.fromisoformat(fields.pop("received_at")), tuple(fields.pop("media_types"))
    # The previous release's records name no recordings; what a later release adds is left out.
    recordings = tuple(fields.pop("recordings", ()))
    lane = Lane(fields.pop("lane", Lane.ORDINARY))
    return Incoming(**fields, media_types=kinds, received_at=received, recordings=recordings, lane=lane)
