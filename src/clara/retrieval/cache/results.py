"""Remembering results: the same text again, and the same question in other words, without searching again."""

import json
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, fields, replace
from datetime import date
from threading import Lock, get_ident
from time import perf_counter
from types import TracebackType
from typing import Any, Final, Generic, TypeVar

from clara.errors import Invalid
from clara.language.fold import caseless
from clara.language.identity_data import may_identify
from clara.retrieval.cache.keys import Cache, CacheUnavailableError, Event, Fingerprint, Keys
from clara.retrieval.cache.semantic import SemanticMemory, signature_of
from clara.retrieval.embedders import vector_of
from clara.retrieval.passage import COLUMNS, Found, Hit, Query, Retrieve, Status, stored_passage
from clara.retrieval.ports import Embedder, EmbedderUnavailableError, Vector

# The fields of a hit beside its passage.
SCORES: Final = tuple(field.name for field in fields(Hit))[1:]
# The fields of a result that hold hits, those that hold names, and all that are JSON as they are.
LISTS, NAMES = ("hits", "ended"), ("outages", "failures")
PLAIN: Final = tuple(field.name for field in fields(Found) if field.name not in LISTS)


class UnreadableResultError(Invalid):
    """The bytes hold no result of this version of the program. Retrieve again instead."""


def encode(found: Found) -> bytes:
    """Give a result as UTF-8 JSON; a lone surrogate in a text, which has no such form, becomes a question mark.

    TypeError or ValueError when metadata or trace are not JSON.
    """
    written = {name: getattr(found, name) for name in PLAIN}
    written |= {name: [_written(hit) for hit in getattr(found, name)] for name in LISTS}
    return json.dumps(written, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def decode(stored: bytes) -> Found:
    """Give back the result that was encoded. Raises UnreadableResultError."""
    try:
        read = json.loads(stored.decode())
        values: dict[str, Any] = {name: tuple(read[name]) if name in NAMES else read[name] for name in PLAIN}
        values |= {name: tuple(_read(hit) for hit in read[name]) for name in LISTS}
        return Found(**{**values, "status": Status(read["status"])})
    except (ValueError, TypeError, KeyError) as error:
        msg = f"a remembered result could not be read ({type(error).__name__}); it is retrieved again"
        raise UnreadableResultError(msg) from error


def _written(hit: Hit) -> list[Any]:
    told = [getattr(hit.passage, name) for name in COLUMNS]
    return [*told, hit.passage.stored_metadata, [getattr(hit, name) for name in SCORES]]


def _read(written: list[Any]) -> Hit:
    *told, scores = written
    *numbers, vector = scores
    passage = stored_passage(dict(zip((*COLUMNS, "metadata"), told, strict=True)))
    return Hit(passage, **dict(zip(SCORES[:-1], numbers, strict=True)), vector=None if vector is None else tuple(vector))


T = TypeVar("T")

# As long as the database allows one statement (statement_timeout=10s); whoever waited so long computes for itself.
PATIENCE_SECONDS = 10.0


class _Flight(Future[T]):
    """One computation. As a context it tells an error without catching it, and always ends."""

    def __init__(self) -> None:
        super().__init__()
        self.owner = get_ident()

    def __enter__(self) -> None:
        return

    def __exit__(self, _kind: type[BaseException] | None, error: BaseException | None, _trace: TracebackType | None) -> None:
        if isinstance(error, Exception):
            self.set_exception(error)
        self.cancel()  # where nothing was set, because the thread is being ended


class SingleFlight(Generic[T]):
    """Runs one computation for each key at a time and gives its result to everybody who asked meanwhile.

    An error reaches all of them and is not remembered. When the computing thread is ended, or takes longer than `patience`
    seconds, those who wait compute for themselves; so does a computation that asks for its own key.
    """

    def __init__(self, patience: float = PATIENCE_SECONDS) -> None:
        self._patience = patience
        self._lock = Lock()
        self._flights: dict[str, _Flight[T]] = {}

    def run(self, key: str, compute: Callable[[], T]) -> T:
        """Give the result of `compute`, or of the computation with the same key that is under way."""
        mine: _Flight[T] = _Flight()
        with self._lock:
            flight = self._flights.setdefault(key, mine)
        if flight is mine:
            return self._lead(key, mine, compute)
        if flight.owner == mine.owner:
            return compute()
        try:
            flight.exception(self._patience)
        except (TimeoutError, CancelledError):
            return compute()
        return flight.result()

    def _lead(self, key: str, flight: _Flight[T], compute: Callable[[], T]) -> T:
        try:
            with flight:
                flight.set_result(compute())
                return flight.result()
        finally:
            with self._lock:
                del self._flights[key]


# The hour of the design this comes from ("Response Cache", D4). A changed corpus has another version and needs no time limit.
FOUND_SECONDS = 3_600.0
# A miss is cheap to repeat, and what was missing may be there in a minute.
NOT_FOUND_SECONDS = 60.0

Version = Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class ResultMemory:
    """Where results are remembered, and what is told about it.

    `cache` is expected to check its values (SealedCache); `questions` None remembers exact texts only. `configuration` is a
    digest of everything, program included, that shapes a result. `on_failure` hears of an outage, which costs no answer.
    """

    cache: Cache
    keys: Keys
    questions: SemanticMemory | None
    configuration: str
    on_failure: Callable[[CacheUnavailableError], None]
    count: Callable[[Event], None]
    found_seconds: float = FOUND_SECONDS
    not_found_seconds: float = NOT_FOUND_SECONDS

    def read(self, key: str) -> Found | None:
        """Give a remembered result; None when there is none, or none that can be had."""
        try:
            stored = self.cache.get(key)
            return None if stored is None else decode(stored)
        except CacheUnavailableError as error:
            self.count(Event.UNAVAILABLE)
            self.on_failure(error)
        except UnreadableResultError:
            self.count(Event.DAMAGED)
        return None

    def write(self, key: str, found: Found) -> bool:
        """Remember a result for as long as its status allows; tell whether it is remembered."""
        seconds = self.not_found_seconds if found.status is Status.NOT_FOUND else self.found_seconds
        try:
            self.cache.put(key, encode(found), seconds)
        except CacheUnavailableError as error:
            self.count(Event.UNAVAILABLE)
            self.on_failure(error)
            return False
        self.count(Event.STORED)
        return True


@dataclass(frozen=True, slots=True)
class _Address:
    version: str
    key: str
    partition: str


def cached(retrieve: Retrieve, memory: ResultMemory, embedder: Embedder, version: Version) -> Retrieve:
    """Give the remembered result of the same text or of the same question, else retrieve and remember.

    A remembered result says so: its trace has "cache", "exact" or "semantic". Results stand under the version of their
    corpus, read before and after retrieving: `version` gives None where it is unknown, and then nothing is remembered or
    given; it does not raise. Questions with personal data pass by. Incomplete results are not kept. The question is embedded
    once, and the vector handed on. Many that ask the same at once are searched for once. Raises what `retrieve` raises.
    """
    flights: SingleFlight[Found] = SingleFlight()

    def remembering(query: Query) -> Found:
        started = perf_counter()
        current = None if may_identify(query.text) else version(query.corpus)
        if current is None:
            memory.count(Event.BYPASSED)
            return retrieve(query)
        address = _address(query, current, memory, embedder.model)
        known = memory.read(address.key)
        if known is not None:
            memory.count(Event.EXACT)
            return _remembered(known, "exact", {"cache": _since(started)})
        return flights.run(address.key, lambda: _asked(query, address, _since(started)))

    def _asked(query: Query, address: _Address, looking: float) -> Found:
        started = perf_counter()
        vector = _embedded(query, embedder) if memory.questions else _carried(query, embedder)
        embedding = _since(started)
        near = _nearest(query, vector, address, memory)
        looking += _since(started) - embedding
        if near is not None:
            memory.count(Event.SEMANTIC)
            return _remembered(near, "semantic", {"embed": embedding, "cache": looking})
        memory.count(Event.MISS)
        found = retrieve(replace(query, vector=None if vector is None else tuple(vector), model=embedder.model))
        writing = perf_counter()
        if found.complete and found.status is not Status.OUTAGE and version(query.corpus) == address.version:
            _remember(query, vector, address, found, memory)
        spent = {"embed": found.timings_ms.get("embed", 0.0) + embedding, "cache": looking + _since(writing)}
        return replace(found, timings_ms={**found.timings_ms, **spent})

    return remembering


def _since(started: float) -> float:
    return (perf_counter() - started) * 1000


def _remembered(found: Found, how: str, timings: Mapping[str, float]) -> Found:
    return replace(found, timings_ms=timings, trace={**found.trace, "cache": how})


def _embedded(query: Query, embedder: Embedder) -> Vector | None:
    if (carried := _carried(query, embedder)) is not None:
        return carried
    try:
        return vector_of(query, embedder)
    except EmbedderUnavailableError:
        return None  # the search itself finds out, and says so


def _carried(query: Query, embedder: Embedder) -> Vector | None:
    return query.vector if query.model in {"", embedder.model} else None


def _nearest(query: Query, vector: Vector | None, address: _Address, memory: ResultMemory) -> Found | None:
    if memory.questions is None or vector is None:
        return None
    signature = signature_of(query.text, query.language, memory.keys)
    key = memory.questions.nearest(address.partition, vector, signature)
    if key is None:
        return None
    found = memory.read(key)
    if found is None:
        memory.questions.forget(key)
    return found


def _remember(query: Query, vector: Vector | None, address: _Address, found: Found, memory: ResultMemory) -> None:
    if memory.write(address.key, found) and memory.questions is not None and vector is not None:
        signature = signature_of(query.text, query.language, memory.keys)
        memory.questions.remember(address.partition, address.key, vector, signature)


def _address(query: Query, version: str, memory: ResultMemory, model: str) -> _Address:
    namespace = Fingerprint(version, model, memory.configuration).namespace
    # Every field but those of the vector, which follows from the text: a field that is added later is part of the key at once.
    told = [field.name for field in fields(query) if field.name not in {"text", "vector", "model", "vectors", "focused"}]
    others = {name: _plain(getattr(query, name)) for name in told}
    partition = memory.keys.key(namespace, json.dumps(others, sort_keys=True))
    return _Address(version, memory.keys.key(partition, _normalised(query.text)), partition)


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return sorted([_plain(key), _plain(held)] for key, held in value.items())
    if isinstance(value, date):
        return value.isoformat()
    return [_plain(part) for part in value] if isinstance(value, tuple) else value


def _normalised(text: str) -> str:
    return " ".join(caseless(text).split())
