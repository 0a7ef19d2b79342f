"""How a job ended."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a job found: exit code 0 fine, 1 findings, 2 could not run; and its report as JSON, without personal data."""

    exit_code: int
    report: Mapping[str, Any]
