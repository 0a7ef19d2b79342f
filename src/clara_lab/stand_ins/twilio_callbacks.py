"""Signed status callbacks as Twilio sends them: in any order, repeated, late, or not at all."""

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from random import Random
from typing import Final
from urllib.parse import urlencode

import aiohttp
from twilio.request_validator import RequestValidator

# What Twilio itself waits for a webhook's answer.
PATIENCE_SECONDS: Final = 15.0
# Three callbacks for each of 80 messages a second, answered within 0.2 s, keep 48 connections busy.
MAX_CONNECTIONS: Final = 64
FORM: Final = {"Content-Type": "application/x-www-form-urlencoded"}


@dataclass(frozen=True, slots=True)
class CallbackOptions:
    """How the progress of a message is reported.

    `statuses` come in this order, or in any when `shuffled`; none at all switches reports off. Before each passes a time
    drawn from 0 to `delay` seconds; the share `repeated` of them comes twice. The share `failing` of the messages reports
    `failure` with `failure_code` last, instead of its last status.
    """

    statuses: tuple[str, ...] = ("sent", "delivered")
    shuffled: bool = False
    delay: float = 0.0
    repeated: float = 0.0
    failing: float = 0.0
    failure: str = "failed"
    failure_code: str = "63018"
    seed: int = 0


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
    manner: CallbackOptions = field(default_factory=CallbackOptions)
    outcomes: Counter[str] = field(default_factory=Counter)
    waiting: int = 0
    _tasks: set[asyncio.Task[None]] = field(default_factory=set, repr=False)
    _session: aiohttp.ClientSession | None = field(default=None, repr=False)
    _chance: Random = field(init=False, repr=False)
    _validator: RequestValidator = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._chance = Random(self.manner.seed)  # noqa: S311  repeatable on purpose
        self._validator = RequestValidator(self.auth_token)

    def report(self, message: Reported) -> None:
        """Report the message's progress from now on. Call it in the event loop."""
        plan = self._planned()
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

    def _planned(self) -> list[str]:
        statuses = list(self.manner.statuses)
        if statuses and self._chance.random() < self.manner.failing:
            statuses[-1] = self.manner.failure
        plan = [status for status in statuses for _ in range(1 + (self._chance.random() < self.manner.repeated))]
        if self.manner.shuffled:
            self._chance.shuffle(plan)
        return plan

    async def _send_all(self, message: Reported, plan: list[str]) -> None:
        for status in plan:
            if self.manner.delay:
                await asyncio.sleep(self._chance.uniform(0.0, self.manner.delay))
            self.outcomes[await self._send(message, status)] += 1
            self.waiting -= 1

    async def _send(self, message: Reported, status: str) -> str:
        fields = {
            "AccountSid": message.account_sid, "ApiVersion": "2010-04-01", "From": message.sender, "MessageSid": message.sid,
            "MessageStatus": status, "SmsSid": message.sid, "SmsStatus": status, "To": message.recipient,
        }  # fmt: skip
        if status == self.manner.failure:
            fields["ErrorCode"] = self.manner.failure_code
        signature = self._validator.compute_signature(message.callback, fields)
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
