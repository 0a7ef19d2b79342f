"""How long a server asks to be left alone, as HTTP says it."""

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


def asked_patience(header: str | None, now: datetime | None = None) -> float | None:
    """Read a header Retry-After, seconds or a date, as seconds from now; None without one or for something else."""
    if not header:
        return None
    if header.strip().isascii() and header.strip().isdigit():
        return float(min(int(header.strip()[:12]), 10**9))
    try:
        moment = parsedate_to_datetime(header)
    except ValueError:
        return None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (aware - (now or datetime.now(UTC))).total_seconds())
