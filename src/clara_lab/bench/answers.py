"""Answers against the right one: accuracy for labels, otherwise F1 of words; exact match and nearness in meaning for both."""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from operator import mul
from typing import Final

from clara.retrieval.embedders import embedded, is_blank
from clara.retrieval.ports import Embedder, EmbedderUnavailableError
from clara_lab.bench.dataset import LABEL, BenchQuestion
from clara_lab.bench.prompts import LABELS
from clara_lab.bench.record import Score

NO_GOLD: Final = "no right answer is known"
SEMANTIC_SIMILARITY: Final = "semantic_similarity"
NO_ANSWER: Final = "no answer was written"
ARTICLES: Final = frozenset({"a", "an", "the", "el", "la", "los", "las", "lo", "un", "una", "unos", "unas"})

_DASHES: Final = re.compile(r"[-\u2010-\u2015\u2212/\\]")
_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)+")
# All that is neither word nor blank, except the decimal point that is left between digits.
_DROPPED: Final = re.compile(r"(?<!\d)\.|\.(?!\d)|[^\w\s.]|_")


def normalised(text: str) -> str:
    """Give the words of a text without case, accents, punctuation and articles; dashes part words, "9,84" is "9.84".

    A text of articles alone keeps them, and one of punctuation alone is empty.
    """
    plain = unicodedata.normalize("NFKD", text).casefold()
    plain = "".join(character for character in plain if not unicodedata.combining(character))
    plain = _DROPPED.sub("", _NUMBER.sub(_number, _DASHES.sub(" ", plain)))
    words = plain.split()
    return " ".join([word for word in words if word not in ARTICLES] or words)


def token_f1(answer: str, gold: str) -> float:
    """Give the harmonic mean of the shares of words that both have, each as often as it stands there (0..1)."""
    said, right = normalised(answer).split(), normalised(gold).split()
    common = sum((Counter(said) & Counter(right)).values())
    return 2 * common / (len(said) + len(right)) if common else 0.0


def exact_match(answer: str, gold: str) -> float:
    """Give 1 when both are the same words in the same order, else 0."""
    said = normalised(answer)
    return float(bool(said) and said == normalised(gold))


def accuracy(answer: str, gold: str, labels: Sequence[str] = LABELS) -> float:
    """Give 1 when the answer says the right label, else 0, also when it says none or contradicts itself.

    The label is the answer's first word, unless another follows it at once ("yes and no"); otherwise the only label in it.
    """
    return float(said_label(answer, (*labels, gold)) == normalised(gold))


def said_label(answer: str, labels: Sequence[str]) -> str | None:
    """Give the one label that an answer says, normalised; None when it says none, or several."""
    known = sorted({normalised(label) for label in labels} - {""}, key=lambda label: (-len(label), label))
    one = "|".join(map(re.escape, known))
    said = normalised(answer)
    first = re.match(rf"({one})\b(?!(?: and| or| y| o)? (?!\1\b)(?:{one})\b)", said)
    if first:
        return first[1]
    found = set(re.findall(rf"\b(?:{one})\b", said))
    return found.pop() if len(found) == 1 else None


def primary(question: BenchQuestion) -> str:
    """Name the measure that a question is judged by first: accuracy for labels, F1 for everything else."""
    return "accuracy" if question.answer_type == LABEL else "f1"


def answer_measures(question: BenchQuestion, answer: str | None, labels: Sequence[str] = LABELS) -> dict[str, Score]:
    """Measure an answer: "accuracy" or "f1", and "exact_match".

    Without a right answer, or without an answer (None), both are errors and no zeros; an empty answer is wrong.
    """
    names = (primary(question), "exact_match")
    if not normalised(question.answer):
        return dict.fromkeys(names, Score(None, NO_GOLD))
    if answer is None:
        return dict.fromkeys(names, Score(None, NO_ANSWER))
    right = question.answer
    first = accuracy(answer, right, labels) if question.answer_type == LABEL else token_f1(answer, right)
    return dict(zip(names, (Score(first), Score(exact_match(answer, right))), strict=True))


def _number(match: re.Match[str]) -> str:
    """Write a number in one way: groups of three digits joined, a comma before other digits as a point."""
    parts = re.split("[.,]", match[0])
    if len(parts[0]) <= 3 and parts[0] != "0" and all(len(part) == 3 for part in parts[1:]):  # noqa: PLR2004  digits of a group
        return "".join(parts)
    return f"{''.join(parts[:-1])}.{parts[-1]}"


def semantic_similarities(answered: Sequence[tuple[BenchQuestion, str | None]], embedder: Embedder) -> list[Score]:
    """Give the cosine (-1..1) of each answer with its right answer, in order, asking the embedder once.

    A missing answer or right answer, and an embedder that is out, are errors and no zeros. Both texts are embedded as
    queries, as models with two roles advise for texts of one kind.
    """
    faults = [_unmeasurable(question, answer) for question, answer in answered]
    pairs = [(question.answer, answer or "") for question, answer in answered]
    texts = list(dict.fromkeys(text for pair, fault in zip(pairs, faults, strict=True) if not fault for text in pair))
    try:
        vectors = dict(zip(texts, embedded(embedder, texts, "query") if texts else (), strict=True))
    except EmbedderUnavailableError as error:
        return [fault or Score(None, str(error)) for fault in faults]
    measured = zip(faults, pairs, strict=True)
    return [fault or Score(sum(map(mul, vectors[gold], vectors[answer]))) for fault, (gold, answer) in measured]


def _unmeasurable(question: BenchQuestion, answer: str | None) -> Score | None:
    if is_blank(question.answer):
        return Score(None, NO_GOLD)
    return Score(None, NO_ANSWER) if answer is None or is_blank(answer) else None
