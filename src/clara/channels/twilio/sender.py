"""Sending a WhatsApp message with Twilio's own client, and looking for one that may have been sent."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final

import structlog
from twilio.base.exceptions import TwilioException
from twilio.rest import Client

from clara.adapters.http.gated_pool import READ_SECONDS, BrokenExchangeError, NotWrittenError
from clara.channels.twilio.codes import Meaning, judge
from clara.channels.twilio.transport import TwilioRefusedError, TwilioTransport, date_of
from clara.delivery.message import Outgoing, Taken
from clara.delivery.ports import LostAnswerError, PermanentSendError, TemporarySendError

PUBLIC_URL: Final = "https://api.twilio.com"
# As many messages as one person gets in an hour; the one that is looked for is seconds old, and the newest come first.
LOOKED_AT: Final = 50
# What reading a JSON object as something that it is not may raise.
MISREAD: Final = (TwilioException, ValueError, TypeError, AttributeError, LookupError)

log = structlog.get_logger()


class TwilioSender:
    """Implements delivery's Sender; one for all threads.

    `api_url` replaces Twilio's, for a stand-in or a proxy. After `read_seconds` of silence an answer counts as lost. The
    status callback carries our own number of the reply, inside the signed address: a report may come before Twilio's id of
    the message is stored, or instead of it.
    """

    def __init__(
        self,
        account_sid: str,
        auth_token: str,
        status_callback: str,
        api_url: str | None = None,
        read_seconds: float = READ_SECONDS,
    ) -> None:
        self._transport = TwilioTransport(api_url or PUBLIC_URL, read_seconds)
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
