"""Writing an answer from a page: with a language model, or, without any service, by choosing from the page's own words."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from math import log
from typing import Final, Protocol

from clara.language.sentences import sentence_ends
from clara_lab.bench.answers import normalised
from clara_lab.bench.dataset import LABEL, BenchQuestion
from clara_lab.bench.prompts import LABELS, TEXTS, BenchContext, ChatModel, ChatUnavailableError, ShownDocument, answer_prompt

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

    def __init__(self, model: ChatModel, max_tokens: int = ANSWER_TOKENS, labels: tuple[str, ...] = LABELS) -> None:
        self._model = model
        self._max_tokens = max_tokens
        self._labels = labels
        self.name = model.name

    def write(self, question: BenchQuestion, context: BenchContext) -> WrittenAnswer:
        """Answer from the page, without the word "Answer:" before it."""
        try:
            completion = self._model.complete(answer_prompt(question, context, self._max_tokens, self._labels))
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
