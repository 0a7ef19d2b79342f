"""Reranking with a cross-encoder that another process serves."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated

import httpx
from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError

from clara.adapters.http.client import bounded_client, reason_of
from clara.adapters.models.guards import sendable
from clara.adapters.models.registry import ModelParts
from clara.retrieval.options.rerankers import RerankerUnavailableError, in_order

# Index and score of 100 passages take 5 kB; a server that returns the passages with them stays below this too.
MAX_ANSWER_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class WireFormat:
    """Where an endpoint listens, below its base address, and the JSON it takes: `body(model, question, texts)`."""

    path: str
    body: Callable[[str, str, Sequence[str]], Mapping[str, object]]


def _ranking(model: str, question: str, texts: Sequence[str]) -> Mapping[str, object]:
    # Without "END" a NIM refuses the whole list for one passage that is longer than its model reads.
    passages = [{"text": text} for text in texts]
    return {"model": model, "query": {"text": question}, "passages": passages, "truncate": "END"}


def _rerank(model: str, question: str, texts: Sequence[str]) -> Mapping[str, object]:
    return {"model": model, "query": question, "documents": list(texts)}


# NVIDIA NIM's text reranking.
RANKING = WireFormat("/ranking", _ranking)
# Cohere's, which Jina, vLLM and others speak too.
RERANK = WireFormat("/rerank", _rerank)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An endpoint and its model. `deadline_seconds` is for the whole exchange; no key, no Authorization header."""

    base_url: str
    model: str
    deadline_seconds: float
    api_key: str = field(default="", repr=False)
    wire: WireFormat = RANKING


class _Ranked(BaseModel):
    model_config = ConfigDict(strict=True, hide_input_in_errors=True)

    index: int
    score: Annotated[float, Field(validation_alias=AliasChoices("logit", "relevance_score"), allow_inf_nan=False)]


class _Ranking(BaseModel):
    model_config = ConfigDict(strict=True, hide_input_in_errors=True)

    ranked: Annotated[list[_Ranked], Field(validation_alias=AliasChoices("rankings", "results"))]


class EndpointReranker:
    """Implements retrieval's TextScorer; safe to share between threads. Either form of answer is read, whatever was asked.

    `name` is the model's. The scale of the scores is the model's own: logits, or probabilities.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._url = endpoint.base_url.rstrip("/") + endpoint.wire.path
        headers = {"Authorization": f"Bearer {endpoint.api_key}"} if endpoint.api_key else {}
        self._client = bounded_client(MAX_ANSWER_BYTES, headers)
        self.name = endpoint.model

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """Ask once for the whole list. Raises RerankerUnavailableError."""
        if not texts:
            return []
        body = self._endpoint.wire.body(self.name, sendable(question), [sendable(text) for text in texts])
        try:
            response = self._client.post(self._url, json=body, timeout=self._endpoint.deadline_seconds)
        except httpx.HTTPError as error:
            raise RerankerUnavailableError(reason_of(error)) from error
        if response.status_code != httpx.codes.OK:
            raise RerankerUnavailableError(f"answered {response.status_code}")
        try:
            ranking = _Ranking.model_validate_json(response.content)
        except ValidationError as error:
            raise RerankerUnavailableError("answered with something else than a ranking") from error
        return in_order(((ranked.index, ranked.score) for ranked in ranking.ranked), len(texts))

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


def build(parts: ModelParts) -> EndpointReranker:
    """Build what scores passages."""
    settings = parts.settings
    url, key = str(settings.reranker_base_url), settings.secret("reranker_api_key")
    reranker = EndpointReranker(Endpoint(url, settings.reranker_model_name, settings.rag_reranker_seconds, key))
    parts.closing.callback(reranker.close)
    return reranker
