"""Gemini through `google-generativeai`, which Google has ended: REST, guarded. Needs the extra `gemini-legacy`."""

import warnings
from collections.abc import Callable, Mapping
from queue import Empty, SimpleQueue
from threading import Thread
from time import sleep
from typing import Any, Final, TypeVar

import requests

from clara.adapters.models.embedders import unit_vectors
from clara.adapters.models.gemini import BAD_REQUEST, INVALID, PUBLIC_URL, refusal_of
from clara.adapters.models.gemini_embedder import GeminiEmbedder
from clara.adapters.models.guards import CallGuard, CallOutcome, ProviderUnavailableError, Retries, Retrying
from clara.retrieval.ports import Role

with warnings.catch_warnings():
    # It warns at every import that its support has ended; that is known here.
    warnings.simplefilter("ignore")
    from google.ai.generativelanguage_v1beta import GenerativeServiceClient
    from google.api_core.client_options import ClientOptions
    from google.api_core.exceptions import GoogleAPICallError
    from google.generativeai.embedding import embed_content
    from google.protobuf.json_format import ParseError

Answer = TypeVar("Answer")
# Arguments of every call: the timeout in seconds, and no retries of the SDK's own, which go on for a minute.
Options = dict[str, Any]


class LegacyClient:
    """The ended SDK's client under a deadline, in seconds, for each thing asked; safe to share between threads.

    `guard` is put around every call; without one, a call is tried once more after a short wait, for which `wait` sleeps.
    """

    def __init__(
        self,
        api_key: str,
        *,
        deadline_seconds: float,
        base_url: str = PUBLIC_URL,
        wait: Callable[[float], None] = sleep,
        guard: CallGuard | None = None,
    ) -> None:
        options = ClientOptions(api_endpoint=base_url.rstrip("/"), api_key=api_key)
        self._client = GenerativeServiceClient(transport="rest", client_options=options)
        self._deadline_seconds = deadline_seconds
        self._guard = guard or Retrying(Retries(), wait)

    def ask(self, call: Callable[[GenerativeServiceClient, Options], Answer], seconds: float | None = None) -> Answer:
        """Call the SDK, inside the guard, with the time left; `seconds` shortens the deadline.

        Raises ProviderUnavailableError.
        """
        given = self._deadline_seconds if seconds is None else min(seconds, self._deadline_seconds)
        return self._guard(lambda left: _within(lambda: self._once(call, left), left), given)

    def close(self) -> None:
        """Close the connections."""
        transport: Any = self._client.transport  # the SDK is typed in parts
        transport.close()

    def _once(self, call: Callable[[GenerativeServiceClient, Options], Answer], seconds: float) -> Answer:
        try:
            return call(self._client, {"timeout": seconds, "retry": None})
        # Messages of this SDK repeat what was asked, so no error of it is chained.
        except GoogleAPICallError as error:
            raise _refusal(error) from None
        except requests.RequestException as error:
            raise ProviderUnavailableError(f"could not be reached ({type(error).__name__})") from None
        except (ParseError, ValueError, RecursionError):
            raise ProviderUnavailableError("answered with something else than JSON") from None


def _within(call: Callable[[], Answer], seconds: float) -> Answer:
    """Call, and stop waiting after so many seconds.

    The SDK's timeout counts anew for every piece that arrives, so a server that drips would hold the caller for ever; as it
    is, it holds a thread of its own.
    """
    if seconds <= 0:
        raise ProviderUnavailableError("was not asked: no time was left", None, CallOutcome.DECLINED)
    done: SimpleQueue[Answer | BaseException] = SimpleQueue()

    def work() -> None:
        try:
            done.put(call())
        except (ProviderUnavailableError, AttributeError, KeyError, TypeError) as error:
            done.put(error)

    Thread(target=work, daemon=True).start()
    try:
        outcome = done.get(timeout=seconds)
    except Empty:
        raise ProviderUnavailableError("did not answer within the deadline") from None
    if isinstance(outcome, ProviderUnavailableError):
        raise outcome
    if isinstance(outcome, BaseException):
        raise ProviderUnavailableError("answered with something else than was asked for") from None
    return outcome


def _refusal(error: GoogleAPICallError) -> ProviderUnavailableError:
    details = [detail for detail in error.details or () if isinstance(detail, Mapping)]
    code = int(error.code or 0)
    return refusal_of(code, INVALID if code == BAD_REQUEST else None, {"error": {"details": details}})


TASKS: Final = {"query": "retrieval_query", "passage": "retrieval_document"}


class LegacyEmbedder(GeminiEmbedder):
    """Fills the same vector space through the ended SDK."""

    def _vectors(self, texts: list[str], role: Role) -> list[list[float]]:
        def call(client: GenerativeServiceClient, options: Any) -> list[list[float]]:  # noqa: ANN401  the SDK has its own type
            answer: Any = embed_content(
                model=f"models/{self._name}",
                content=texts,
                task_type=TASKS[role],
                output_dimensionality=self.dimensions,
                client=client,
                request_options=options,
            )
            return unit_vectors(answer["embedding"], len(texts), self.dimensions)

        self._pace(len(texts))
        asked: list[list[float]] = self._transport.ask(call)
        return asked
