"""Sending a WhatsApp message with Twilio's own client."""

from requests.exceptions import RequestException
from twilio.base.exceptions import TwilioException, TwilioRestException
from twilio.http.http_client import TwilioHttpClient
from twilio.rest import Client

from clara.conversation.ports import Outgoing, PermanentSendError, TemporarySendError

# Twilio answers a send in well under a second; a longer silence is a lost answer.
TIMEOUT_SECONDS = 10.0
# Too many requests, and Twilio's codes for rate limits of the account and of the WhatsApp sender.
TEMPORARY_CODES = frozenset({20429, 63018})
TOO_MANY_REQUESTS = 429
SERVER_ERROR = 500


class TwilioSender:
    """Implements the conversation's Sender. `api_url` replaces https://api.twilio.com, for a stand-in or a proxy.

    The status callback carries our own number of the reply, inside the signed address: a report may come before Twilio's
    id of the message is stored.
    """

    def __init__(self, account_sid: str, auth_token: str, status_callback: str, api_url: str | None = None) -> None:
        self._client = Client(account_sid, auth_token, http_client=TwilioHttpClient(timeout=TIMEOUT_SECONDS))
        if api_url:
            self._client.api.base_url = api_url
        self._status_callback = status_callback

    def send(self, outgoing: Outgoing) -> str | None:
        """Send; give Twilio's id of the message. Raises TemporarySendError, PermanentSendError."""
        try:
            message = self._client.messages.create(
                from_=outgoing.sender,
                to=outgoing.recipient,
                body=outgoing.text,
                status_callback=f"{self._status_callback}?reply={outgoing.id}",
            )
        except TwilioRestException as error:
            if error.code in TEMPORARY_CODES or error.status == TOO_MANY_REQUESTS or error.status >= SERVER_ERROR:
                raise TemporarySendError(f"Twilio answered {error.status} (code {error.code})") from error
            raise PermanentSendError(str(error.code or error.status), str(error.msg)) from error
        except (TwilioException, RequestException) as error:
            raise TemporarySendError(f"Twilio could not be reached: {type(error).__name__}") from error
        return str(message.sid)
