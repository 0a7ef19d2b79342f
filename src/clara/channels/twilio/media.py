"""Fetching voice notes from Twilio: only what our account received, with our credentials for Twilio and nobody else."""

import re
from time import perf_counter
from typing import Final
from urllib.parse import urlsplit

import httpx

from clara.adapters.http.client import AnswerTooLargeError, bounded_client, reason_of
from clara.answering.ports import Recording, RecordingTooLongError, RecordingUnavailableError
from clara.channels.twilio.sender import PUBLIC_URL

NAME: Final = re.compile(r"(?:MM|SM)[0-9a-f]{32}/Media/ME[0-9a-f]{32}")
KIND: Final = re.compile(r"audio/[a-z0-9.+-]{1,40}")
# WhatsApp takes voice of 16 MB at most; three minutes of its Opus are under half of one.
MAX_BYTES: Final = 4_000_000
# Where Twilio sends those who ask for a medium: protected media, the older address, and what that one leads to (Twilio's help
# on protecting media; captured headers in codeforamerica/vita-min, pull request 563). The last host is everybody's, so the
# path is part of it. No address of these can lie inside our network: the certificate of the name is checked.
STORES: Final = (
    "https://mms.twiliocdn.com/",
    "https://media.twiliocdn.com/",
    "https://s3-external-1.amazonaws.com/media.twiliocdn.com/",
)
MOST_REDIRECTS: Final = 2
REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})


class TwilioMedia:
    """Implements the conversation's Recordings; safe to share between threads.

    `api_url` replaces Twilio's, for a stand-in, which may then lead to itself. Credentials go to that address only.
    """

    def __init__(self, account_sid: str, auth_token: str, api_url: str | None = None, max_bytes: int = MAX_BYTES) -> None:
        self._http = bounded_client(max_bytes)
        self._account = f"{(api_url or PUBLIC_URL).rstrip('/')}/2010-04-01/Accounts/{account_sid}/Messages/"
        self._credentials = httpx.BasicAuth(account_sid, auth_token)
        self._stores = STORES if api_url is None else (*STORES, f"{api_url.rstrip('/')}/")

    def fetch(self, name: str, seconds: float) -> Recording:
        """Give a voice note, within so many seconds in all. Raises RecordingUnavailableError, RecordingTooLongError."""
        if not NAME.fullmatch(name):
            raise RecordingUnavailableError("is not named as Twilio names media")
        until = perf_counter() + seconds
        answer = self._get(self._account + name, until, self._credentials)
        for _ in range(MOST_REDIRECTS):
            if answer.status_code not in REDIRECTS:
                break
            answer = self._get(self._checked(answer.headers.get("location", "")), until)
        if answer.status_code != httpx.codes.OK:
            raise RecordingUnavailableError(f"answered {answer.status_code}")
        kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
        if not KIND.fullmatch(kind):
            raise RecordingUnavailableError("is no recording")
        return Recording(answer.content, kind)

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def _get(self, address: str, until: float, credentials: httpx.BasicAuth | None = None) -> httpx.Response:
        try:
            return self._http.get(address, auth=credentials, timeout=max(until - perf_counter(), 0.001))
        except AnswerTooLargeError as error:
            raise RecordingTooLongError("is larger than is taken") from error
        except httpx.HTTPError as error:
            raise RecordingUnavailableError(reason_of(error)) from error
        except httpx.InvalidURL as error:  # the library reads a redirect even where it must not follow it
            raise RecordingUnavailableError("leads to an address that cannot be read") from error

    def _checked(self, location: str) -> str:
        """Give the address as it will be asked, if it is one of the stores'. Raises RecordingUnavailableError."""
        try:
            # What is compared is what is asked: read by the client itself, its path without dots.
            asked = str(httpx.URL(location))
            plain = urlsplit(asked)
        except (httpx.InvalidURL, ValueError) as error:
            raise RecordingUnavailableError("leads to an address that cannot be read") from error
        dotted = {".", "..", "%2e", "%2e%2e", ".%2e", "%2e."} & {part.lower() for part in plain.path.split("/")}
        if dotted or "\\" in asked or plain.username is not None or not asked.startswith(self._stores):
            raise RecordingUnavailableError("leads somewhere else")
        return asked
