"""What the cache can do for one question, to be counted."""

from enum import StrEnum


class Event(StrEnum):
    """What happened to one question, or on its way."""

    EXACT = "exact"
    SEMANTIC = "semantic"
    MISS = "miss"
    BYPASSED = "bypassed"
    STORED = "stored"
    UNAVAILABLE = "unavailable"
    DAMAGED = "damaged"
