"""Posting alerts to an operator's webhook: JSON, once, within seconds."""

from collections.abc import Mapping
from typing import Any, Final

import httpx

from clara import __version__
from clara.adapters.http.client import bounded_client, reason_of
from clara.editorial.ports import AlertNotTakenError

# Less than the 15 seconds that a transaction around it may wait.
POST_SECONDS: Final = 8.0
MAX_ANSWER_BYTES: Final = 100_000


def post_alert(address: str, document: Mapping[str, Any], seconds: float = POST_SECONDS) -> None:
    """Post a document; it is taken when the answer's status begins with 2. Raises AlertNotTakenError.

    The address is a secret of many services, so no message holds more than its host.
    """
    with bounded_client(MAX_ANSWER_BYTES, {"User-Agent": f"Clara/{__version__}"}) as http:
        try:
            host = httpx.URL(address).host
            status = http.post(address, json=document, timeout=seconds).status_code
        except httpx.HTTPError as error:
            raise AlertNotTakenError(f"the webhook at {host} {reason_of(error)}") from None
        except httpx.InvalidURL:
            raise AlertNotTakenError("the webhook's address cannot be read; correct CLARA_ALERT_WEBHOOK") from None
    if not httpx.codes.is_success(status):
        raise AlertNotTakenError(f"the webhook at {host} answered {status}")
