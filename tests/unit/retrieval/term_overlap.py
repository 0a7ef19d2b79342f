"""A small retriever that finds passages by the words they share with a question, and passages about the code of a sign-in."""

from dataclasses import replace
from typing import Any

from clara.language.tokens import words
from clara.retrieval.options.corrective import QueryWriterUnavailableError
from clara.retrieval.passage import Found, Hit, Passage, Query, Status
from clara.retrieval.ports import IndexUnavailableError
from clara.retrieval.vocabulary import Vocabulary, read_vocabulary
from clara.settings import resources

TIER = "overlap"
VOCABULARIES = resources() / "data" / "vocabulary"
CODE = {
    "auth.authenticate": "def authenticate(user, password): authenticate a user by password and give a session token",
    "auth.validate_token": "def validate_token(token): validate the signature of a token and its date",
    "auth.AuthHandler": "class AuthHandler: handler of the login endpoint; its method post will authenticate the user",
    "auth.hash_password": "def hash_password(password): hash with a salt, for the security of credentials",
    "utils.parse_date": "def parse_date(text): decode a date from text",
    "utils.Cache": "class Cache: remember the last values, with a lock of its own",
}


def vocabulary_of(name: str) -> Vocabulary:
    """Read one of the real vocabularies."""
    return read_vocabulary(VOCABULARIES.parent, name)


def code_passage(name: str, text: str) -> Passage:
    """Make a passage of one function or class."""
    return Passage(name, "code", "units", name.partition(".")[0], "units", (name,), text, "en")


def asking(text: str, limit: int = 3, **changes: object) -> Query:
    """Make a question about the code."""
    return Query(text, "code", limit=limit, **changes)


class TermOverlap:
    """Finds the passages that share words with the question; the score is the share of the question's words they have.

    It notes what it is asked, and can be out from a certain search on.
    """

    def __init__(self, confidence: float | None = None, out_from: int | None = None) -> None:
        self.asked: list[Query] = []
        self._passages = [code_passage(name, text) for name, text in CODE.items()]
        self._confidence = confidence
        self._out_from = out_from

    def __call__(self, query: Query) -> Found:
        """Search. Raises IndexUnavailableError when it is out."""
        self.asked.append(query)
        if self._out_from is not None and len(self.asked) >= self._out_from:
            raise IndexUnavailableError("out")
        wanted = set(words(query.text))
        scored = [(len(wanted & set(words(passage.indexed_text))) / (len(wanted) or 1), passage) for passage in self._passages]
        hits = sorted((Hit(passage, score) for score, passage in scored if score), key=lambda hit: -hit.score)[: query.limit]
        status = Status.FOUND if hits else Status.NOT_FOUND
        return Found(status, TIER, tuple(hits), timings_ms={"search": 1.0}, confidence=self._confidence)


def ids(found: Found) -> list[str]:
    """Give the ids of the passages found, in order."""
    return [hit.passage.id for hit in found.hits]


def hit(name: str, score: float = 1.0, cosine: float | None = None) -> Hit:
    """Make a hit."""
    return Hit(code_passage(name, name), score, cosine, coverage=1.0)


def found_of(*names: str, **changes: Any) -> Found:
    """Make a result with hits of those names."""
    return replace(Found(Status.FOUND if names else Status.NOT_FOUND, "x", tuple(map(hit, names))), **changes)


class Writer:
    """Writes fixed queries, or fails; notes how often it is asked."""

    def __init__(self, *texts: str, error: str | None = None) -> None:
        self.asked: list[tuple[str, int]] = []
        self._texts = texts
        self._error = error

    def write(self, question: str, count: int) -> list[str]:
        """Write. Raises QueryWriterUnavailableError when told so."""
        self.asked.append((question, count))
        if self._error:
            raise QueryWriterUnavailableError(self._error)
        return list(self._texts[:count])
