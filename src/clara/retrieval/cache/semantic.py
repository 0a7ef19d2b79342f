"""Finding the remembered question that asks the same in almost the same words, by keyed digests of words."""

import hashlib
import re
import unicodedata
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from threading import Lock

import numpy as np

from clara.data_files import package_folder, read_data
from clara.language.fold import accented, compatible
from clara.language.tokens import WORD
from clara.retrieval.cache.keys import Keys

# A written number is one token, so that 1-5 and 1.5 differ. Signs that tell amounts apart are tokens, stops are not.
_TOKEN = re.compile(rf"\d+(?:[.,:/–-]\d+)+|{WORD}|[^\w\s]")
_SIGNS = frozenset("%‰&#@*")
_STOP_AND_MORE = re.compile(r"\s*[,.;:!?¡¿…،؛؟。，！？]+\s*\w")
_ASKED = re.compile(r"[?؟]")  # NFKC has turned the wide one into the first
# People leave accents out. On the last syllable they tell tenses, persons and words apart (trabajo and trabajó, retraite and
# retraité, avó and avô) and stay; so do ñ, ç and every mark of another script.
_ACCENT = re.compile(r"([aeiou])[\u0300-\u0303\u0306\u0308](?!e?s?$)|([st])[\u0326\u0327]")
_ANY_ACCENT = re.compile(r"(?<=[a-z])[\u0300-\u036f]+")
# A shorter word may be an acronym, and with fewer words in common two sentences are hardly the same one.
_ORDINARY_LETTERS = 5
_COMMON_WORDS = 4


@dataclass(frozen=True, slots=True)
class NeutralWords:
    """What of a language does not tell questions apart: data/schema/neutral_words.schema.json explains each."""

    courtesy: re.Pattern[str] = re.compile(r"(?!)")
    articles: frozenset[str] = frozenset()
    asking: frozenset[str] = frozenset()
    negations: frozenset[str] = frozenset()
    joints: frozenset[str] = frozenset()


@cache
def neutral_words() -> Mapping[str, NeutralWords]:
    """Read the words by language, once. Raises DataError."""
    document = read_data(package_folder() / "data", "neutral_words.json", "neutral_words")
    return {
        language: NeutralWords(
            re.compile(known["courtesy"], re.IGNORECASE),
            *(frozenset(known[name]) for name in ("articles", "asking", "negations", "joints")),
        )
        for language, known in document["languages"].items()
    }


@dataclass(frozen=True, slots=True)
class Word:
    """One word as a keyed digest. Words are equal when their digests are, whatever else is known of them."""

    digest: bytes
    asking: bool = field(default=False, compare=False)
    joint: bool = field(default=False, compare=False)
    ordinary: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class Signature:
    """The words of a text that carry its meaning, in order, and whether it has a question mark. Nothing of it is readable."""

    words: tuple[Word, ...]
    asked: bool

    @property
    def bags(self) -> tuple[int, int]:
        """Give a number for the words in any order, and one for all but the last.

        Two signatures of the same question agree in the first or in the second; that hardly any others do makes a memory
        quick to search.
        """
        numbers = [int.from_bytes(word.digest[:8], "big") for word in self.words]
        return sum(numbers) % 2**64, sum(numbers[:-1]) % 2**64


def signature_of(text: str, language: str | None, keys: Keys) -> Signature:
    """Give the signature of a text. In a language that is unknown or None every word counts."""
    known = neutral_words().get(language or "", NeutralWords())
    text = known.courtesy.sub(" ", compatible(text))
    words = [
        _word(match.group(), bool(_STOP_AND_MORE.match(text, match.end())), known, keys)
        for match in _TOKEN.finditer(text)
        if _counts(match.group()) and accented(match.group()) not in known.articles
    ]
    return Signature(tuple(words), bool(_ASKED.search(text)))


def same_question(one: Signature, other: Signature) -> bool:
    """Whether both ask the same; a text without any word that counts asks nothing."""
    if not one.words or not other.words:
        return False
    if one.words == other.words or _turned(one.words, other.words):
        return True
    return _asks_for_the_end(one, other) or _asks_for_the_end(other, one)


def _counts(token: str) -> bool:
    return token[0].isalnum() or token in _SIGNS or unicodedata.category(token) in {"Sc", "Sm", "So"}


def _word(written: str, stopped: bool, known: NeutralWords, keys: Keys) -> Word:
    small = accented(written)
    decomposed = unicodedata.normalize("NFD", small)
    plain = _ANY_ACCENT.sub("", decomposed)
    folded = plain if plain in known.asking else unicodedata.normalize("NFC", _ACCENT.sub(r"\1\2", decomposed))
    negation = small in known.negations
    asking = folded in known.asking
    # "No, I have a contract" is not "I have no contract": before a stop a negation is another word.
    digest = keys.digest("word", folded, "stopped" if negation and stopped else "")
    common = len(written) >= _ORDINARY_LETTERS and written.isalpha() and not written.isupper()
    return Word(digest, asking, small in known.joints, common and not (asking or negation))


def _turned(one: tuple[Word, ...], other: tuple[Word, ...]) -> bool:
    if len(one) != len(other):
        return False
    for cut in range(1, len(one)):
        # The phrase that changed places opens one of the two texts. A joint that stands twice leaves open which belongs where:
        # "I live in A, work in B" and "in B I live, in A work".
        opens = any(word.joint and one.count(word) == 1 for word in (one[0], one[cut]))
        if opens and one[cut:] + one[:cut] == other:
            return True
    return False


def _asks_for_the_end(question: Signature, statement: Signature) -> bool:
    *shared, last = question.words
    *told, answer = statement.words
    return (
        last.asking
        and answer.ordinary
        and shared == told
        and len(shared) >= _COMMON_WORDS
        and not statement.asked
        and not any(word.asking for word in told)
    )


# Measured with multilingual-e5-small on hand-written pairs in ten languages (tests/data). No cosine tells the same question:
# "my mother brings my sister" and the reverse have .999; on the development half the median near miss has .970, the median
# same question .976. At .92 alone 252 of 262 near misses would be wrong hits. Behind the signature none is, at any cosine,
# and .92 keeps 88 of the 89 same questions that the signature lets through (of 122; on the development half, where it was
# chosen, 51 of 51).
SAME_QUESTION_COSINE = 0.92
# 2,000 vectors of 384 dimensions take 3 MB.
CAPACITY = 2_000


@dataclass(frozen=True, slots=True)
class _Question:
    row: int
    partition: str
    signature: Signature


class SemanticMemory:
    """Remembers up to `capacity` questions, those used last; safe between threads.

    A question is a unit vector of `dimensions` floats, a signature and the key of its answer. Questions of different
    partitions never meet: a partition stands for everything that shapes an answer besides the text. No text is held.
    """

    def __init__(self, dimensions: int, capacity: int = CAPACITY, threshold: float = SAME_QUESTION_COSINE) -> None:
        self._threshold = threshold
        self._lock = Lock()
        self._vectors = np.zeros((capacity, dimensions), dtype=np.float32)
        self._partitions = np.zeros(capacity, dtype=np.uint64)
        self._bags = np.zeros((capacity, 2), dtype=np.uint64)
        self._free = list(range(capacity))
        self._questions: OrderedDict[str, _Question] = OrderedDict()  # by key, those used last at the end
        self._keys: list[str] = [""] * capacity  # by row

    def nearest(self, partition: str, vector: Sequence[float], signature: Signature) -> str | None:
        """Give the key of the nearest question of the partition that asks the same, None when there is none."""
        wanted = np.asarray(vector, dtype=np.float32)
        bags = np.array(signature.bags, dtype=np.uint64)
        with self._lock:
            # Most words differ while most vectors are near (2,000 questions, all above the threshold, took 15 ms to tell
            # apart one by one), so the bags of words go first.
            rows = np.flatnonzero((self._partitions == _number(partition)) & (self._bags == bags).any(axis=1))
            cosines = self._vectors[rows] @ wanted
            for place in np.argsort(-cosines, kind="stable").tolist():
                key = self._keys[int(rows[place])]
                held = self._questions[key]
                near = cosines[place] >= self._threshold
                if near and held.partition == partition and same_question(held.signature, signature):
                    self._questions.move_to_end(key)
                    return key
        return None

    def remember(self, partition: str, key: str, vector: Sequence[float], signature: Signature) -> None:
        """Remember a question under the key of its answer; the one unused for longest makes room."""
        wanted = np.asarray(vector, dtype=np.float32)
        with self._lock:
            self._drop(key)
            if not self._free:
                self._drop(next(iter(self._questions)))
            row = self._free.pop()
            self._vectors[row] = wanted
            self._partitions[row] = _number(partition)
            self._bags[row] = signature.bags
            self._keys[row] = key
            self._questions[key] = _Question(row, partition, signature)

    def forget(self, key: str) -> None:
        """Forget the question with this key, if it is remembered."""
        with self._lock:
            self._drop(key)

    def _drop(self, key: str) -> None:
        held = self._questions.pop(key, None)
        if held is not None:
            self._partitions[held.row] = 0
            self._free.append(held.row)


def _number(partition: str) -> np.uint64:
    # Never 0, which marks a free row.
    return np.uint64(int.from_bytes(hashlib.sha256(partition.encode("utf-8", "surrogatepass")).digest()[:8], "big") | 1)
