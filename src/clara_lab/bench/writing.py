"""Writing an answer from a page: with a language model, or, without any service, by choosing from the page's own words."""

import re
from dataclasses import dataclass
from typing import Final, Protocol

from clara_lab.bench.dataset import BenchQuestion
from clara_lab.bench.prompting import LABELS, BenchContext, answer_prompt
from clara_lab.chat import ChatModel, ChatUnavailableError

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
