"""Sending a WhatsApp message with Twilio's own client, and looking for one that may have been sent."""

import re
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from email.utils import parsedate_to_datetime
from logging import getLogger
from threading import local
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

import structlog
from twilio.base.exceptions import TwilioException
from twilio.http import HttpClient
from twilio.http.response import Response
from twilio.rest import Client

from clara.adapters.http.client import asked_patience, json_object
from clara.adapters.http.gated_client import ANSWER_SECONDS, BrokenExchangeError, GatedClient, NotWrittenError
from clara.channels.twilio.codes import FORBIDDEN, TOO_MANY_REQUESTS, UNAUTHORIZED, Meaning, judge
from clara.delivery.message import Outgoing, Taken
from clara.delivery.ports import LostAnswerError, PermanentSendError, TemporarySendError
from clara.errors import Refused

PUBLIC_URL: Final = "https://api.twilio.com"
# As many messages as one person gets in an hour; the one that is looked for is seconds old, and the newest come first.
LOOKED_AT: Final = 50
# What reading a JSON object as something that it is not may raise.
MISREAD: Final = (TwilioException, ValueError, TypeError, AttributeError, LookupError)

log = structlog.get_logger()


# Past this, asking again costs less than a wrong or hostile header.
MAX_WAIT_SECONDS: Final = 900.0

CODE: Final = re.compile(r"[0-9]{3,6}")
# Statuses that say "not taken" even from something between us and Twilio; other 4xx without Twilio's code say nothing.
CLEAR: Final = frozenset({UNAUTHORIZED, FORBIDDEN, TOO_MANY_REQUESTS})


class TwilioRefusedError(Refused):
    """Twilio answered that it did not take the request. `code` is Twilio's own, `wait` what it asks for, in seconds."""

    def __init__(self, status: int, code: str | None, wait: float | None) -> None:
        super().__init__(f"Twilio answered {status} (code {code})")
        self.status = status
        self.code = code
        self.wait = wait


class TwilioTransport(HttpClient):  # type: ignore[misc]  # twilio ships no types
    """Implements the client's HttpClient over a gated one, to the host of `base_url` and no other.

    What a thread sets as `timely` is asked at the last moment before its requests are written.
    """

    def __init__(self, base_url: str, seconds: float = ANSWER_SECONDS) -> None:
        super().__init__(getLogger(__name__), is_async=False)
        self._http = GatedClient(base_url, seconds)
        self._asked = local()

    @contextmanager
    def asking(self, timely: Callable[[], bool]) -> Iterator[None]:
        """Have this thread's requests ask `timely`."""
        self._asked.timely = timely
        try:
            yield
        finally:
            del self._asked.timely

    def close(self) -> None:
        """Close the connections that wait for a request."""
        self._http.close()

    def request(
        self,
        method: str,
        uri: str,
        params: Mapping[str, Any] | None = None,
        data: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        auth: tuple[str, str] | None = None,
        **_unused: object,
    ) -> Response:
        """Exchange one request; give an answer of 2xx that is a JSON object.

        Raises NotWrittenError, BrokenExchangeError, TwilioRefusedError.
        """
        path = urlsplit(uri).path + (f"?{urlencode(params)}" if params else "")
        body = urlencode(data).encode() if data else None
        known = {"Authorization": f"Basic {b64encode(':'.join(auth).encode()).decode()}"} if auth else {}
        timely = getattr(self._asked, "timely", lambda: True)
        answer = self._http.exchange(method, path, body, {**(headers or {}), **known}, timely)
        document = json_object(answer.content)
        if answer.is_success and document is not None:
            return Response(answer.status_code, answer.content.decode(), answer.headers)
        told = CODE.fullmatch(str((document or {}).get("code")))
        code = told[0] if told else None
        if answer.is_client_error and (code is not None or answer.status_code in CLEAR):
            raise TwilioRefusedError(answer.status_code, code, _wait_of(answer.headers))
        raise BrokenExchangeError(f"Twilio answered {answer.status_code}, or something else than JSON")


def _wait_of(headers: Mapping[str, str]) -> float | None:
    """Give what Twilio asks to wait: seconds, or a moment by its own clock."""
    asked, now = headers.get("retry-after", ""), date_of(headers)
    wait = asked_patience(asked, now) if now is not None or asked.isdigit() else None
    return None if wait is None else min(wait, MAX_WAIT_SECONDS)


def date_of(headers: Mapping[str, str]) -> datetime | None:
    """Give the moment at which an answer was written, by the clock of who wrote it."""
    try:
        moment = parsedate_to_datetime(headers.get("date", ""))
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else None


class TwilioSender:
    """Implements delivery's Sender; one for all threads.

    `api_url` replaces Twilio's, for a stand-in or a proxy. After so many `seconds` an answer counts as lost. The
    status callback carries our own number of the reply, inside the signed address: a report may come before Twilio's id of
    the message is stored, or instead of it.
    """

    def __init__(
        self,
        account_sid: str,
        auth_token: str,
        status_callback: str,
        api_url: str | None = None,
        seconds: float = ANSWER_SECONDS,
    ) -> None:
        self._transport = TwilioTransport(api_url or PUBLIC_URL, seconds)
        client = Client(account_sid, auth_token, http_client=self._transport)
        client.api.base_url = api_url or PUBLIC_URL
        # The client makes its parts when they are first asked for, without a lock: ask before there are threads.
        self._messages = client.messages
        self._status_callback = status_callback

    def send(self, outgoing: Outgoing, timely: Callable[[], bool]) -> str | None:
        """Send; give Twilio's id of the message. `timely` is asked once the connection stands, before the first byte.

        Raises TemporarySendError, LostAnswerError, PermanentSendError.
        """
        try:
            with self._transport.asking(timely):
                message = self._messages.create(
                    from_=outgoing.sender,
                    to=outgoing.recipient,
                    body=outgoing.text,
                    status_callback=f"{self._status_callback}?reply={outgoing.id}",
                )
        except NotWrittenError as error:
            raise TemporarySendError(str(error), error.wait) from error
        except BrokenExchangeError as error:
            raise LostAnswerError(str(error)) from error
        except TwilioRefusedError as error:
            raise _meant(error) from error
        except MISREAD as error:
            raise LostAnswerError("Twilio answered with something else than a message") from error
        if not isinstance(message.sid, str) or not message.sid:
            raise LostAnswerError("Twilio answered without the message's id")
        return message.sid

    def taken(self, outgoing: Outgoing) -> Sequence[Taken]:
        """Give the newest messages to this recipient from this sender, newest first. Raises TemporarySendError.

        There is no filter by date: Twilio filters by when a message was sent on, which a queued one was not yet.
        """
        try:
            answer = self._messages.page_with_http_info(to=outgoing.recipient, from_=outgoing.sender, page_size=LOOKED_AT)
            now = date_of(answer.headers)
            return [Taken(str(message.sid), str(message.body), _age(message.date_created, now)) for message in answer.data]
        except NotWrittenError as error:
            raise TemporarySendError(str(error), error.wait) from error
        except BrokenExchangeError as error:
            raise TemporarySendError(str(error)) from error
        except TwilioRefusedError as error:
            _tell(error)
            raise TemporarySendError(str(error), error.wait) from error
        except MISREAD as error:
            raise TemporarySendError("Twilio answered with something else than a list of messages") from error

    def close(self) -> None:
        """Close the connections that wait for a request."""
        self._transport.close()


def _meant(error: TwilioRefusedError) -> TemporarySendError | PermanentSendError:
    # Twilio's own words are left out: they quote the number that was written to.
    refusal = judge(error.status, error.code)
    _tell(error)
    if refusal.final:
        return PermanentSendError(refusal.code, f"{refusal.meaning}. {refusal.remedy}")
    return TemporarySendError(f"{error}: {refusal.meaning}. {refusal.remedy}", error.wait)


def _tell(error: TwilioRefusedError) -> None:
    refusal = judge(error.status, error.code)
    if refusal.meaning is Meaning.ACCOUNT:
        log.error("Twilio refuses the account", status=error.status, error=refusal.code, reason=refusal.remedy)


def _age(created: datetime | None, now: datetime | None) -> float:
    return 0.0 if created is None or now is None else max((now - created).total_seconds(), 0.0)
