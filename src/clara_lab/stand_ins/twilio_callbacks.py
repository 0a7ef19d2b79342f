"""Signed status callbacks as Twilio sends them."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlencode

import aiohttp
from twilio.request_validator import RequestValidator

# What Twilio itself waits for a webhook's answer.
PATIENCE_SECONDS: Final = 15.0
# Three callbacks for each of 80 messages a second, answered within 0.2 s, keep 48 connections busy.
MAX_CONNECTIONS: Final = 64
# What is reported of a message, in this order.
STATUSES: Final = ("sent", "delivered")
FORM: Final = {"Content-Type": "application/x-www-form-urlencoded"}


@dataclass(frozen=True, slots=True)
class Reported:
    """A message whose progress is reported to `callback`."""

    callback: str
    account_sid: str
    sid: str
    sender: str
    recipient: str


@dataclass(slots=True)
class Reporter:
    """Sends the callbacks. `outcomes` counts them by the answer's HTTP status, or as "unreachable"; `waiting` are to come."""

    auth_token: str
    outcomes: Counter[str] = field(default_factory=Counter)
    waiting: int = 0
    _tasks: set[asyncio.Task[None]] = field(default_factory=set, repr=False)
    _session: aiohttp.ClientSession | None = field(default=None, repr=False)

    def report(self, message: Reported) -> None:
        """Report the message's progress from now on. Call it in the event loop."""
        plan = self.planned()
        self.waiting += len(plan)
        if plan:
            task = asyncio.get_running_loop().create_task(self._send_all(message, plan))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Drop what is still to come and close the connections."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._session is not None:
            await self._session.close()

    async def _send_all(self, message: Reported, plan: Sequence[str]) -> None:
        for status in plan:
            self.outcomes[await self.send(message, status)] += 1
            self.waiting -= 1

    def planned(self) -> Sequence[str]:
        """Give the statuses that are reported of a message."""
        return STATUSES

    def fields_of(self, message: Reported, status: str) -> dict[str, str]:
        """Give what a callback says."""
        return {
            "AccountSid": message.account_sid, "ApiVersion": "2010-04-01", "From": message.sender, "MessageSid": message.sid,
            "MessageStatus": status, "SmsSid": message.sid, "SmsStatus": status, "To": message.recipient,
        }  # fmt: skip

    async def send(self, message: Reported, status: str) -> str:
        """Send one callback; give what came of it."""
        fields = self.fields_of(message, status)
        signature = RequestValidator(self.auth_token).compute_signature(message.callback, fields)
        try:
            async with self._connections().post(
                message.callback,
                data=urlencode(fields).encode(),
                headers={**FORM, "X-Twilio-Signature": signature},
                allow_redirects=False,
            ) as answer:
                return str(answer.status)
        except (aiohttp.ClientError, TimeoutError):
            return "unreachable"  # Twilio does not repeat a status callback either

    def _connections(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=MAX_CONNECTIONS),
                timeout=aiohttp.ClientTimeout(total=PATIENCE_SECONDS),
                cookie_jar=aiohttp.DummyCookieJar(),
            )
        return self._session
