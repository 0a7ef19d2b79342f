"""The days on which a passage holds."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, Final

# The names under which the two days stand in what is stored of a passage (ISO 8601).
FIRST: Final = "valid_from"
LAST: Final = "valid_until"


@dataclass(frozen=True, slots=True)
class Validity:
    """A range of days, `first` and `last` included; None is no bound on that side."""

    first: date | None = None
    last: date | None = None

    def begun(self, day: date) -> bool:
        """Whether the first day has come."""
        return self.first is None or self.first <= day

    def ended(self, day: date) -> bool:
        """Whether the last day has passed."""
        return self.last is not None and self.last < day

    def holds(self, day: date) -> bool:
        """Whether the day is in the range."""
        return self.begun(day) and not self.ended(day)

    def stored(self) -> dict[str, str | None]:
        """Give both days as they are stored."""
        return {FIRST: _written(self.first), LAST: _written(self.last)}


ALWAYS: Final = Validity()


def stored_validity(metadata: Mapping[str, Any]) -> Validity | None:
    """Read the days of a stored passage; None where it has neither. What is no day of the calendar bounds nothing."""
    if FIRST not in metadata and LAST not in metadata:
        return None
    return Validity(_read(metadata.get(FIRST)), _read(metadata.get(LAST)))


def _written(day: date | None) -> str | None:
    return None if day is None else day.isoformat()


def _read(written: object) -> date | None:
    try:
        return date.fromisoformat(written) if isinstance(written, str) else None
    except ValueError:
        return None
