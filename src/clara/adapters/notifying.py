"""Posting alerts for operators to an address of theirs, as JSON."""

import time
from collections.abc import Callable, Mapping
from typing import Any, Final

import httpx

from clara.adapters.deadline import bounded_client, reason_of

TRIES: Final = 3
SECONDS: Final = 10.0
# Between tries, in seconds: receivers that restart are back after a few.
PAUSES: Final = (1.0, 5.0)
_OK: Final = range(200, 300)
_PASSING: Final = frozenset({408, 425, 429, 500, 502, 503, 504})
_LARGEST_ANSWER: Final = 1_000_000


class AlertFailedError(Exception):
    """An alert could not be delivered. What it says is stored; the message names the address' host and the reason."""


def post_alert(url: str, document: Mapping[str, Any], wait: Callable[[float], None] = time.sleep) -> None:
    """Post a document, again after a failure that may pass. Raises AlertFailedError; the address itself may be a secret."""
    host, failure = "the webhook", "is no address that can be asked"
    try:
        host = httpx.URL(url).host or host
        with bounded_client(_LARGEST_ANSWER) as client:
            for attempt in range(1, TRIES + 1):
                failure = _posted(client, url, document)
                if not failure:
                    return
                if attempt == TRIES or not failure.endswith("…"):
                    break
                wait(PAUSES[attempt - 1])
    except (httpx.InvalidURL, httpx.UnsupportedProtocol):
        pass
    raise AlertFailedError(f"{host} {failure.rstrip('…')}; check the address given with --webhook, then run the command again")


def _posted(client: httpx.Client, url: str, document: Mapping[str, Any]) -> str:
    """Post once; give why it failed, ending with "…" where another try may help, and nothing when it did not."""
    try:
        answer = client.post(url, json=document, timeout=SECONDS)
    except httpx.UnsupportedProtocol:
        raise
    except httpx.HTTPError as error:
        return f"{reason_of(error)}…"
    if answer.status_code in _OK:
        return ""
    return f"answered {answer.status_code}{'…' if answer.status_code in _PASSING else ''}"
