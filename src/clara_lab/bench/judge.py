"""What a language model thinks of an answer: whether the documents bear it, and whether it uses them.

The judge reads the page that the writer had. A verdict that cannot be read is no verdict; nothing is guessed from it.
"""

import json
import re
from typing import Final

from clara_lab.bench.answers import NO_ANSWER, normalised
from clara_lab.bench.dataset import LABEL, BenchQuestion
from clara_lab.bench.prompts import TEXTS, BenchContext, ChatModel, ChatPrompt, ChatUnavailableError, page_of
from clara_lab.bench.record import Score

FAITHFULNESS: Final = "faithfulness"
CONTEXT_UTILISATION: Final = "context_utilisation"
JUDGED: Final = (FAITHFULNESS, CONTEXT_UTILISATION)
UNREADABLE: Final = "the judge gave no score from 0 to 1"
# A sentence and a score; a reasoning model thinks before them.
JUDGE_TOKENS: Final = 1_024

_TEXTS: Final = TEXTS["judging"]
# By the measure, and whether the answer is short.
INSTRUCTIONS: Final = {
    (measure, short): "".join((_TEXTS["task"], _TEXTS["statement"] if short else "", _TEXTS[measure][length], _TEXTS["form"]))
    for measure in JUDGED
    for short, length in ((False, "long"), (True, "short"))
}
_SCORE: Final = r"(?P<score>\d+(?:\.\d+)?(?:\s*/\s*\d+(?:\.\d+)?)?)"
_ALONE: Final = re.compile(rf"\s*{_SCORE}\s*\.?\s*")
_NAMED: Final = re.compile(rf"\bscore\b[\"'*]*\s*(?::|=|is|of)[\s\"'*]*{_SCORE}(?![\w/%]|[.,]\d)", re.IGNORECASE)
_FENCE: Final = re.compile(r"```(?:json)?\s*(?P<document>\{.*\})\s*```", re.DOTALL)


class AnswerJudge:
    """Asks a model about answers; safe to share between threads. `name` is the model's."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model
        self.name = model.name

    def verdict(self, measure: str, question: BenchQuestion, answer: str | None, context: BenchContext) -> Score:
        """Give (0..1) how far the documents bear the answer, or how far the answer uses them; a judge that fails is an error.

        No documents bear nothing, and of none, none is used.
        """
        if answer is None or not answer.strip():
            return Score(None, NO_ANSWER)
        if not context.shown:
            return Score(0.0)
        try:
            verdict = self._model.complete(judge_prompt(measure, question, answer, context)).text
        except ChatUnavailableError as error:
            return Score(None, f"judge {error}")
        score = read_score(verdict)
        return Score(None, UNREADABLE) if score is None else Score(score)


def judge_prompt(measure: str, question: BenchQuestion, answer: str, context: BenchContext) -> ChatPrompt:
    """Show the judge the writer's own page, the question and the answer. One word, yes and no are judged as statements."""
    instruction = INSTRUCTIONS[measure, is_short(question, answer)]
    return ChatPrompt(instruction, f"{page_of(context, question)}\nAnswer to judge: {answer.strip()}", JUDGE_TOKENS, json=True)


def is_short(question: BenchQuestion, answer: str) -> bool:
    """Whether an answer is too short to be judged by itself: a label, or a single word."""
    return question.answer_type == LABEL or len(normalised(answer).split()) <= 1


def read_score(verdict: str) -> float | None:
    """Read the one score (0..1) of a verdict, None when there is none or several that differ.

    It stands in a JSON object, alone, or behind the word "score"; it is a number from 0 to 1, or a fraction such as 8/10.
    Anything else ("10.5", "80 %", 7) has a scale that nobody stated.
    """
    fenced = _FENCE.search(verdict)
    try:
        document = json.loads(fenced["document"] if fenced else verdict)
    except (ValueError, RecursionError):
        document = None
    if isinstance(document, dict):
        score = document.get("score")
        return None if isinstance(score, bool) or not isinstance(score, int | float | str) else _scalar(str(score))
    alone = _ALONE.fullmatch(verdict)
    if alone:
        return _scalar(alone["score"])
    named = {_scalar(match["score"]) for match in _NAMED.finditer(verdict)}
    return named.pop() if len(named) == 1 else None


def _scalar(written: str) -> float | None:
    if not re.fullmatch(_SCORE, written.strip()):
        return None
    above, _, below = written.partition("/")
    whole = float(below or 1)
    return float(above) / whole if 0 <= float(above) <= whole and whole > 0 else None
