"""What Clara writes to its log: events with an allow-list of fields, so that nothing personal can slip in."""

import logging
import sys
from collections.abc import MutableMapping
from typing import Any

import structlog

# Only these fields are ever written. An event's own text is fixed in the code.
ALLOWED = frozenset(
    {
        "timestamp", "level", "event", "exception", "tier", "status", "language", "job", "error", "reason", "path",
        "part", "new", "count", "outcome", "attempts", "port", "process", "total_ms",
    }
)  # fmt: skip


def allow_listed(_logger: object, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Drop every field that is not on the list."""
    return {name: value for name, value in event.items() if name in ALLOWED}


def configure_logs(level: int = logging.INFO) -> None:
    """Send Clara's events to standard error as JSON lines, and only warnings of the libraries."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(levelname)s %(name)s %(message)s")
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            allow_listed,
            structlog.processors.JSONRenderer(ensure_ascii=False),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
