"""The page that an answer is written from, and the prompts around it. Writer and judge are given the very same page."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

from clara.errors import Unavailable
from clara.language.sentences import sentence_ends
from clara.retrieval.quotation import one_line, visible
from clara_lab.bench.dataset import LABEL, BenchDocument, BenchQuestion


class ChatUnavailableError(Unavailable):
    """The model gave no usable text. The message is a short reason without a word of the prompt or the answer."""


@dataclass(frozen=True, slots=True)
class ChatPrompt:
    """What a model is told: who it is, and what is asked. `max_tokens` bounds what it writes; 0 leaves that to the model.

    `json` asks for a JSON document instead of running text.
    """

    system: str
    user: str
    max_tokens: int = 0
    json: bool = False


@dataclass(frozen=True, slots=True)
class Completion:
    """What a model wrote, how many tokens it read and wrote as it says itself (0: it does not say), and how long it took."""

    text: str
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0


class ChatModel(Protocol):
    """Completes prompts; safe to share between threads, which wait for their turn inside."""

    @property
    def name(self) -> str:
        """The model's name, as its service calls it."""
        ...

    def complete(self, prompt: ChatPrompt) -> Completion:
        """Give what the model wrote. Raises ChatUnavailableError."""
        ...


PLACEHOLDER: Final = "(No document was found.)"
BETWEEN: Final = "\n\n"
LABELS: Final = ("yes", "no")
# What instruction and question take beside the documents, in tokens of four characters: the longest instruction, one of the
# judge's, is 165, and a question of 1,000 characters 250.
PROMPT_TOKENS: Final = 512
# English and Spanish take about four characters a token, programs three; a page that does not fit is refused.
CHARACTERS_A_TOKEN: Final = 3
# Of a model that does not say what it reads: twenty passages of HotpotQA (12,400 characters on average) fit, and the smallest
# context that is still served, 8,192 tokens, holds them.
UNKNOWN_CHARACTERS: Final = 16_000

_FORGED: Final = re.compile(r"^([ \t]*)\[(Doc \d+)\]", re.MULTILINE)
TEXTS: Final[Mapping[str, Mapping[str, Any]]] = tomllib.loads(Path(__file__).with_name("texts.toml").read_text("utf-8"))
SHORT_ANSWER: Final[str] = TEXTS["answering"]["short"]
LABEL_ANSWER: Final[str] = TEXTS["answering"]["label"]


@dataclass(frozen=True, slots=True)
class ShownDocument:
    """A document on the page, as far as it is shown."""

    id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class BenchContext:
    """A page of documents and what is on it, best first. `left_out` had no room; `cut`: the only one is shown in part."""

    text: str = PLACEHOLDER
    shown: tuple[ShownDocument, ...] = ()
    left_out: int = 0
    cut: bool = False


def context_of(documents: Sequence[BenchDocument], most: int | None = None) -> BenchContext:
    """Lay out documents as they are ranked, each whole, until the next one does not fit in `most` characters (None: no end).

    If not even the first one fits, it is cut after a sentence, or after a word when its first sentence is too long.
    Documents without text are not shown. Raises ValueError when `most` is below 1.
    """
    if most is not None and most < 1:
        raise ValueError(f"the page may have {most} characters; GENERATION_MAX_CONTEXT_CHARS must be 1 or more")
    shown: list[ShownDocument] = []
    room, cut = most, False
    told = [_shown(document) for document in documents if visible(document.text).strip()]
    for document in told:
        size = len(_block(len(shown) + 1, document)) + (len(BETWEEN) if shown else 0)
        if room is not None and size > room:
            beginning = None if shown else _beginning(document, room)
            shown += [beginning] if beginning else []
            cut = beginning is not None
            break
        shown.append(document)
        room = None if room is None else room - size
    text = BETWEEN.join(_block(number, document) for number, document in enumerate(shown, 1))
    return BenchContext(text or PLACEHOLDER, tuple(shown), len(told) - len(shown), cut)


def context_characters(context_length: int | None, written_tokens: int) -> int:
    """Give how many characters of documents a model can be given that reads and writes so many tokens together.

    None: it does not say, and gets 16,000. Raises ChatUnavailableError when nothing is left for documents.
    """
    if context_length is None:
        return UNKNOWN_CHARACTERS
    left = context_length - PROMPT_TOKENS - written_tokens
    if left < 1:
        raise ChatUnavailableError(
            f"the model has a context of {context_length} tokens, less than the prompt ({PROMPT_TOKENS}) and its answer "
            f"({written_tokens}) take; choose another LLM_MODEL_NAME"
        )
    return left * CHARACTERS_A_TOKEN


def page_of(context: BenchContext, question: BenchQuestion) -> str:
    """Give the page with its question below."""
    return f"{context.text}{BETWEEN}Question: {one_line(question.text)}"


def answer_prompt(
    question: BenchQuestion, context: BenchContext, max_tokens: int, labels: Sequence[str] = LABELS
) -> ChatPrompt:
    """Ask for a short answer, or for one of the labels when the question's answer is one."""
    system = LABEL_ANSWER + " or ".join(labels) if question.answer_type == LABEL else SHORT_ANSWER
    return ChatPrompt(system, page_of(context, question), max_tokens)


def _shown(document: BenchDocument) -> ShownDocument:
    # No text may begin another document's header.
    return ShownDocument(document.id, one_line(document.title), _FORGED.sub(r"\1(\2)", visible(document.text).strip()))


def _block(number: int, document: ShownDocument) -> str:
    return f"{f'[Doc {number}] {document.title}'.rstrip()}\n{document.text}"


def _beginning(document: ShownDocument, room: int) -> ShownDocument | None:
    left = room - len(_block(1, ShownDocument(document.id, document.title, "")))
    ends = [end for end in sentence_ends(document.text) if end <= left]
    text = document.text[: ends[-1]] if ends else document.text[: max(0, left) + 1].rpartition(" ")[0]
    return ShownDocument(document.id, document.title, text.rstrip()) if text.strip() else None
