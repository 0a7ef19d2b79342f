"""Writing an answer from a page, and a sentence that situates a passage: with a language model, or without any service."""

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from math import log
from pathlib import Path
from typing import Final, Protocol

from clara.ingestion.links import QUALIFIER
from clara.language.sentences import sentence_ends
from clara.retrieval.passage import Passage
from clara.retrieval.tokens import TokenCounter, furthest
from clara_lab.bench.answers import normalised
from clara_lab.bench.dataset import LABEL, BenchQuestion
from clara_lab.bench.prompts import (
    TEXTS,
    BenchContext,
    ChatModel,
    ChatPrompt,
    ChatUnavailableError,
    ShownDocument,
    answer_prompt,
)
from clara_lab.bench.record import EventLog, read_events

# An answer is a few words; a reasoning model thinks before it.
ANSWER_TOKENS: Final = 1_024

_ANNOUNCED: Final = re.compile(r"^\s*(?:\*\*)?(?:final )?answer(?:\*\*)?\s*:\s*(?:\*\*)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class WrittenAnswer:
    """An answer, or None and why there is none, without a word of a document."""

    answer: str | None
    failure: str = ""


class AnswerWriter(Protocol):
    """Writes answers; safe to share between threads."""

    @property
    def name(self) -> str:
        """What reports call it."""
        ...

    def write(self, question: BenchQuestion, context: BenchContext) -> WrittenAnswer:
        """Answer from the page. What fails is said in the result and never raised."""
        ...


class ModelWriter:
    """Implements Writer with a language model, asked once."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model
        self.name = model.name

    def write(self, question: BenchQuestion, context: BenchContext) -> WrittenAnswer:
        """Answer from the page, without the word "Answer:" before it."""
        try:
            completion = self._model.complete(answer_prompt(question, context, ANSWER_TOKENS))
        except ChatUnavailableError as error:
            return WrittenAnswer(None, f"writer {error}")
        return WrittenAnswer(_ANNOUNCED.sub("", completion.text).strip())


UNDECIDED: Final = "the extractive writer cannot decide a label"
NOTHING: Final = "the extractive writer was given no document"
_COMMON: Final = frozenset(TEXTS["extracting"]["common"].split())
# A sentence also speaks of what its document's title names; half as surely as of what it says itself.
TITLE_SHARE: Final = 0.5
# Candidates are taken of so many sentences: the nearest one often names the bridge, and the next one the answer.
SENTENCES: Final = 4
_YEAR: Final = r"(?:1[0-9]{3}|20[0-9]{2})"
_MONTH: Final[str] = TEXTS["extracting"]["months"]
_KINDS: Final[Mapping[str, tuple[re.Pattern[str], re.Pattern[str]]]] = {
    "date": (
        re.compile(r"\b(?:when|what (?:date|day)|cu[aá]ndo|qu[eé] (?:fecha|d[ií]a))\b", re.IGNORECASE),
        re.compile(rf"\b(?:(?:\d{{1,2}}\s+)?(?:de )?(?:{_MONTH})(?:\s+\d{{1,2}},?)?(?:\s+(?:de\s+)?{_YEAR})?|{_YEAR})\b"),
    ),
    "year": (re.compile(r"\b(?:(?:what|which) year|qu[eé] a[nñ]o)\b", re.IGNORECASE), re.compile(rf"\b{_YEAR}\b")),
    "number": (
        re.compile(r"\b(?:how (?:many|much|old|long|far|large|tall)|cu[aá]nt[oa]s?)\b", re.IGNORECASE),
        re.compile(r"(?:[$€£]\s?)?\b\d[\d.,]*\d\b|\b\d\b|\b(?:two|three|four|five|six|seven|eight|nine|ten|twelve|hundred)\b"),
    ),
}
# One or more words with capitals, joined by small ones; or what stands in quotation marks.
_CAPITAL: Final = r"[^\W\d_a-zß-öø-ÿ][\w'’.&-]*"
_NAME: Final = re.compile(rf"\"[^\"]{{2,60}}\"|\b{_CAPITAL}(?:\s+(?:(?:of|the|and|de|del|la|von|van|y)\s+){{0,2}}{_CAPITAL})*")
# "Which is larger, A or B?" has its answer in the question, which the page is not compared for: the first one is as good.
_CHOICE: Final = re.compile(rf"(?P<one>{_NAME.pattern}),?\s+(?:or|o)\s+(?:the\s+|el\s+|la\s+)?(?:{_NAME.pattern})")
# "American", "Spanish", "Chinese" begin descriptions and are hardly ever asked for.
_ORIGIN: Final = re.compile(r"\w+(?:ican|[ldnst]ian|[lnrkdt]ish|nese|French|Greek|Dutch|German)|French|Greek|Dutch|German")
_QUALIFIED: Final = re.compile(r"\s*\([^)]*\)$")


@dataclass(frozen=True, slots=True)
class _Sentence:
    text: str
    title: str
    score: float


class SpanWriter:
    """Implements Writer without any service: a span of the nearest sentences, or a whole sentence where none fits.

    A question for a label is left unanswered, as a failure with a reason.
    """

    name = "extractive"

    def write(self, question: BenchQuestion, context: BenchContext) -> WrittenAnswer:
        """Choose the answer from the page."""
        if not context.shown:
            return WrittenAnswer(None, NOTHING)
        if question.answer_type == LABEL:
            return WrittenAnswer(None, UNDECIDED)
        nearest = _nearest(question.text, context.shown)
        return WrittenAnswer(_span(question.text, nearest) or nearest[0].text)


def _nearest(question: str, shown: tuple[ShownDocument, ...]) -> list[_Sentence]:
    """Rank all sentences of the page by the words they share with the question, rare words counting more."""
    told = [(document.title, text) for document in shown for text in _sentences(document.text)]
    words = [_stems(text) for _, text in told]
    count = Counter(word for held in words for word in held)
    asked = _stems(question)
    weight = {word: log(1 + len(told) / count[word]) for word in asked if count[word]}
    ranked = [
        _Sentence(
            text,
            title,
            sum(weight.get(word, 0.0) * (1.0 if word in held else TITLE_SHARE) for word in asked & (held | _stems(title))),
        )
        for (title, text), held in zip(told, words, strict=True)
    ]
    return sorted(ranked, key=lambda sentence: -sentence.score)


def _span(question: str, nearest: list[_Sentence]) -> str:
    """Give the likeliest span of the kind that is asked for; empty when there is none."""
    pattern = next((span for asks, span in _KINDS.values() if asks.search(question)), _NAME)
    asked = f" {normalised(question)} "
    choice = _CHOICE.search(question)
    if choice and pattern is _NAME:
        return choice["one"]
    scores: dict[str, float] = {}
    for sentence in nearest[:SENTENCES]:
        found = [match[0].strip(' ".,') for match in pattern.finditer(sentence.text)]
        for span in [*found, *([_QUALIFIED.sub("", sentence.title)] if pattern is _NAME else [])]:
            plain = normalised(span)
            if plain and f" {plain} " not in asked and not _COMMON.issuperset(plain.split()) and not _ORIGIN.fullmatch(span):
                scores[span] = scores.get(span, 0.0) + sentence.score
    return max(scores, key=lambda span: scores[span], default="")


def _sentences(text: str) -> list[str]:
    ends = sentence_ends(text)
    return [told for start, end in zip([0, *ends], ends, strict=False) if (told := text[start:end].strip())]


def _stems(text: str) -> frozenset[str]:
    """Give the words of a text that say what it is about, without their endings."""
    return frozenset(word[:6].rstrip("s") for word in normalised(text).split() if word not in _COMMON and len(word) > 1)


# Of a parent document a model is given at most so much; about 25,000 tokens, which every served model of today reads.
PARENT_CHARACTERS = 100_000

_TEXTS = TEXTS["situating"]
# Gives the sentence for a passage and the text of its parent document, empty when it has none. Raises ChatUnavailableError.
Situate = Callable[[Passage, str], str]
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Enriched:
    """Passages with their sentences, in order, and the ids of those that got none, with a short reason each."""

    passages: tuple[Passage, ...]
    failures: Mapping[str, str]


def enriched(
    passages: Sequence[Passage],
    parents: Mapping[str, str],
    situate: Situate,
    *,
    at_once: int = 1,
    progress: Progress = lambda _done, _total: None,
) -> Enriched:
    """Add a sentence to the heading of every passage; `parents` has the texts of parent documents by passage.

    A passage whose sentence cannot be had stays as it was, and is named.
    """
    failures: dict[str, str] = {}

    def sentence(passage: Passage) -> str:
        try:
            return " ".join(situate(passage, parents.get(passage.id, "")[:PARENT_CHARACTERS]).split())
        except ChatUnavailableError as error:
            failures[passage.id] = str(error)
            return ""

    done: list[Passage] = []
    with ThreadPoolExecutor(at_once, "enricher") as pool:
        for passage, said in zip(passages, pool.map(sentence, passages), strict=True):
            done.append(replace(passage, heading=(*passage.heading, said)) if said else passage)
            progress(len(done), len(passages))
    return Enriched(tuple(done), failures)


def by_model(model: ChatModel, max_tokens: int) -> Situate:
    """Let a model write the sentence: from the parent document where there is one, else from the title."""

    def situate(passage: Passage, parent: str) -> str:
        title = " > ".join(passage.heading)
        asked = _TEXTS["of_a_document" if parent else "of_a_title"]
        prompt = asked.format(parent=parent, title=title, text=passage.text)
        return model.complete(ChatPrompt(_TEXTS["system"], prompt, max_tokens)).text

    return situate


def by_extract(counter: TokenCounter, max_tokens: int) -> Situate:
    """Take the sentence from the texts themselves, which needs no service.

    With a parent document, it is how that begins: what its pieces leave out is mostly said there. Without one, nothing is known
    that the passage does not say itself but a plainer title: what is in brackets only tells titles apart.
    """

    def situate(passage: Passage, parent: str) -> str:
        if parent:
            opening = parent[: (sentence_ends(parent) or [0])[0]]
            said = "" if passage.text.startswith(opening) else opening
        else:
            title = passage.heading[-1] if passage.heading else ""
            said = plain if (plain := QUALIFIER.sub("", title)) != title else ""
        if counter.count(said) <= max_tokens:
            return said
        return said[: furthest(0, len(said), lambda end: counter.count(said[:end]) <= max_tokens)]

    return situate


def remembered(situate: Situate, file: Path, log: EventLog) -> Situate:
    """Take the sentences that a file has, and add each new one to its log; a line that was cut short is asked for again."""
    lines = read_events(file).events
    known: dict[str, str] = {line["key"]: line["sentence"] for line in lines if {"key", "sentence"} <= line.keys()}

    def remembering(passage: Passage, parent: str) -> str:
        key = hashlib.sha256("\0".join((*passage.heading, passage.text, parent)).encode("utf-8", "replace")).hexdigest()
        if key not in known:
            known[key] = situate(passage, parent)
            log.write("sentence", key=key, sentence=known[key])
        return known[key]

    return remembering
