"""Posts signed forms as Twilio does, at a fixed rate that does not wait for answers."""

import asyncio
import base64
import hashlib
import hmac
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Final
from urllib.parse import urlencode

import aiohttp
from tests.faults.plan import FALLBACK, PRIMARY, RECIPIENT, Again, Message
from tests.faults.record import ACKNOWLEDGED, BROKEN, FAILED, LATE, REJECTED, UNREACHED, Attempt

PATHS: Final = {PRIMARY: "/webhook", FALLBACK: "/webhook/fallback"}
# Twilio waits five seconds for a connection and fifteen for an answer.
TIMES: Final = aiohttp.ClientTimeout(total=15.0, sock_connect=5.0)
FORM: Final = {"Content-Type": "application/x-www-form-urlencoded"}
SERVER_ERROR: Final = 500


def signature(url: str, fields: dict[str, str], token: str) -> str:
    """Sign a form as Twilio documents it, without Twilio's code."""
    signed = url + "".join(name + fields[name] for name in sorted(fields))
    return base64.b64encode(hmac.new(token.encode(), signed.encode(), hashlib.sha1).digest()).decode()


@dataclass(frozen=True, slots=True)
class Form:
    """A form that is ready to be posted to either listener."""

    message: Message
    body: bytes
    signatures: tuple[str, str]


@dataclass(slots=True)
class Driver:
    """Posts the messages of a plan. `urls` are the two listeners' public addresses.

    The next message of a sender is posted only after the one before it was acknowledged or refused, so that the order in
    which a sender's messages were acknowledged is known.
    """

    urls: tuple[str, str]
    token: str
    attempts: list[Attempt] = field(default_factory=list)
    done: int = 0
    _senders: dict[str, tuple[asyncio.Lock, list[float]]] = field(default_factory=dict)
    _running: set[asyncio.Task[None]] = field(default_factory=set)

    def form(self, message: Message) -> Form:
        """Sign a message for both listeners."""
        fields = {
            "MessageSid": message.sid, "SmsMessageSid": message.sid, "From": message.sender, "To": RECIPIENT,
            "Body": message.body, "NumMedia": "0", "ProfileName": "Ana", "ApiVersion": "2010-04-01",
        }  # fmt: skip
        signed = tuple(signature(self.urls[listener] + PATHS[listener], fields, self.token) for listener in (PRIMARY, FALLBACK))
        return Form(message, urlencode(fields).encode(), (signed[0], signed[1]))

    async def run(self, messages: Sequence[Message], began: float, on_progress: Callable[[int], None]) -> None:
        """Post everything, each when it is due after `began`; return when the last answer is there."""
        forms = [self.form(message) for message in messages]
        connector = aiohttp.TCPConnector(limit=0, force_close=True)
        async with aiohttp.ClientSession(connector=connector, timeout=TIMES) as session:
            for form in forms:
                await asyncio.sleep(max(0.0, began + form.message.at - monotonic()))
                self._spawn(self._first(session, form, began + form.message.at, on_progress))
            while self._running:
                await asyncio.wait(self._running)

    def _spawn(self, work: "asyncio._CoroutineLike[None]") -> None:
        task = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        task.result()

    async def _first(self, session: aiohttp.ClientSession, form: Form, due: float, on_progress: Callable[[int], None]) -> None:
        """Post a message for the first time: to its listener and, when that fails, once to the fallback."""
        lock, free = self._senders.setdefault(form.message.sender, (asyncio.Lock(), [0.0]))
        async with lock:
            due = max(due, free[0])  # it could not come sooner than the answer to the one before
            for again in form.message.again:
                self._spawn(self._again(session, form, again))
            outcome = await self.post(session, form, form.message.listener, due)
            if outcome != ACKNOWLEDGED and form.message.listener == PRIMARY:
                await self.post(session, form, FALLBACK, due)
            free[0] = monotonic()
        self.done += 1
        on_progress(self.done)

    async def _again(self, session: aiohttp.ClientSession, form: Form, again: Again) -> None:
        await asyncio.sleep(again.after)
        await self.post(session, form, again.listener, monotonic(), duplicate=True)

    async def post(
        self, session: aiohttp.ClientSession, form: Form, listener: int, due: float, *, duplicate: bool = False
    ) -> str:
        """Post a form once and record what came of it."""
        headers = FORM | {"X-Twilio-Signature": form.signatures[listener]}
        started = monotonic()
        try:
            async with session.post(self.urls[listener] + PATHS[listener], data=form.body, headers=headers) as answer:
                await answer.read()
                outcome = _meaning(answer.status)
        except aiohttp.ClientConnectorError:
            outcome = UNREACHED
        except TimeoutError:
            outcome = LATE
        except aiohttp.ClientError:
            outcome = BROKEN
        self.attempts.append(Attempt(form.message.sid, listener, due, started, monotonic(), outcome, duplicate))
        return outcome


def _meaning(status: int) -> str:
    if status < 300:
        return ACKNOWLEDGED
    return FAILED if status >= SERVER_ERROR else REJECTED
