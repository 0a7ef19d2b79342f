"""What a model is given to read: found passages on a page of one of five layouts, within a budget of tokens."""

import json
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from clara.errors import Invalid
from clara.language.sentences import ABBREVIATIONS, sentence_ends
from clara.page_templates import read_macros
from clara.plain_text import counted
from clara.retrieval.passage import Hit, Passage
from clara.retrieval.quotation import fence, one_line, unmarked, visible
from clara.retrieval.tokens import TokenCounter, furthest


class Template(StrEnum):
    """How a page is laid out."""

    SIMPLE = "simple"
    DETAILED = "detailed"
    CONVERSATIONAL = "conversational"
    STRUCTURED = "structured"
    GROUNDED = "grounded"


@dataclass(frozen=True, slots=True)
class Block:
    """One passage on a page: `rank` counts from 1 among all hits, `text` is visible text, and may be the beginning only.

    `id` is a single line, and so are the values of `fields`, the metadata that may be shown.
    """

    rank: int
    hit: Hit
    id: str
    text: str
    fields: tuple[tuple[str, str], ...] = ()
    cut: bool = False

    @property
    def listed(self) -> str:
        """The fields in quotes, so that a heading cannot go on to name a source of its own."""
        return ", ".join(f"{name.capitalize()}: {json.dumps(value, ensure_ascii=False)}" for name, value in self.fields)


@dataclass(frozen=True, slots=True)
class ContextPage:
    """What a template lays out: the question as a single line, the blocks in order, and how many passages are left out."""

    question: str
    blocks: tuple[Block, ...]
    left_out: int = 0

    @property
    def notice(self) -> str:
        """Say what is cut short and left out, if anything."""
        said = [f"passage {number} is cut short" for number, block in enumerate(self.blocks, 1) if block.cut]
        said += [f"{counted(self.left_out, 'passage')} left out"] if self.left_out else []
        return f"Notice: {'; '.join(said)}." if said else ""


def mark(number: int) -> str:
    """Name the passage that is shown in this place, counted from 1."""
    return f"C{number}"


def _without_marks(block: Block) -> Block:
    fields = tuple((name, unmarked(value)) for name, value in block.fields)
    return replace(block, text=unmarked(block.text), fields=fields)


@cache
def _pages() -> Any:  # noqa: ANN401  a module of macros, one for each template
    known = {"xml": escape, "quoteattr": quoteattr, "without_marks": _without_marks}
    return read_macros(__package__, "context.txt", fence=fence, counted=counted, unmarked=unmarked, mark=mark, **known)


Fields = Mapping[str, Callable[[Passage], str | None]]

# DevMatrix gives 8,000 characters (1,000 to 200,000); at four characters a token, its own estimate, that is 2,000 tokens.
BUDGET = 2_000
LEAST, MOST = 100, 200_000
# The question may take a quarter: a page is there for the evidence.
QUESTION_SHARE = 4


class ContextBudgetError(Invalid, ValueError):
    """The budget is outside its range, or too small for the page without any passage. The message says which to raise."""


@dataclass(frozen=True, slots=True)
class Context:
    """A page to read: `tokens` long by the counter, with the hits that are `used` on it, in order.

    `truncated` says that something is missing: the end of the last passage, or the `left_out` passages of which nothing is
    shown. The page says so too.
    """

    text: str
    used: tuple[Hit, ...]
    tokens: int
    truncated: bool = False
    left_out: int = 0

    @property
    def marks(self) -> dict[str, Hit]:
        """The hit that each mark of a GROUNDED page names: "C1", "C2" and on."""
        return {mark(number): hit for number, hit in enumerate(self.used, 1)}


def metadata_field(key: str) -> Callable[[Passage], str | None]:
    """Show one value of the metadata, if it is text or a number; nothing nested, whose parts nobody has listed."""

    def read(passage: Passage) -> str | None:
        value = passage.metadata.get(key)
        return str(value) if isinstance(value, str | int | float) else None

    return read


# Metadata may hold what is nobody's business, so it is shown by name only.
FIELDS: Fields = {
    "language": lambda passage: passage.language,
    "heading": lambda passage: " > ".join(passage.heading),
    "source": metadata_field("source"),
    "verified": metadata_field("verified"),
}


class ContextBuilder:
    """Lays out hits on a page. `fields` are the metadata that may be shown, each with how it is read from a passage.

    `abbreviations`, in lower case and without stop, never end a sentence.
    """

    def __init__(self, counter: TokenCounter, fields: Fields = FIELDS, abbreviations: AbstractSet[str] = ABBREVIATIONS) -> None:
        self._counter = counter
        self._fields = fields
        self._abbreviations = abbreviations

    def build(
        self, question: str, hits: Sequence[Hit], template: Template = Template.DETAILED, budget: int = BUDGET
    ) -> Context:
        """Show as many hits as fit in `budget` tokens (100 to 200,000), best first as they come, without hidden characters.

        The last one shown may be cut after a sentence. One that does not fit even so, or has no text, is left out, and the next
        is tried. A question that takes more than a quarter of the budget is cut. Raises ContextBudgetError,
        TokenCounterUnavailableError.
        """
        if not LEAST <= budget <= MOST:
            raise ContextBudgetError(f"budget is {budget} tokens; it must be {LEAST} to {MOST}")
        asked, render = self._asked(question, budget // QUESTION_SHARE), getattr(_pages(), template)

        def page(blocks: Sequence[Block]) -> str:
            return str(render(ContextPage(asked, tuple(blocks), len(hits) - len(blocks)))).rstrip("\n")

        def fits(blocks: Sequence[Block]) -> bool:
            return self._counter.count(page(blocks)) <= budget

        if not fits(()):
            raise ContextBudgetError(f"budget is {budget} tokens, less than a {template} page without passages takes; raise it")
        blocks = self._chosen([self._block(rank, hit) for rank, hit in enumerate(hits, 1)], fits)
        text, left_out = page(blocks), len(hits) - len(blocks)
        truncated = left_out > 0 or any(block.cut for block in blocks)
        return Context(text, tuple(block.hit for block in blocks), self._counter.count(text), truncated, left_out)

    def _asked(self, question: str, most: int) -> str:
        line = one_line(question)
        if self._counter.count(line) <= most:
            return line
        return line[: furthest(0, len(line), lambda end: self._counter.count(f"{line[:end]}…") <= most)] + "…"

    def _block(self, rank: int, hit: Hit) -> Block:
        passage = hit.passage
        shown = ((name, one_line(read(passage) or "")) for name, read in self._fields.items())
        fields = tuple((name, value) for name, value in shown if value)
        return Block(rank, hit, one_line(passage.id), visible(passage.text).strip(), fields)

    def _chosen(self, candidates: Sequence[Block], fits: Callable[[Sequence[Block]], bool]) -> list[Block]:
        whole = [block for block in candidates if block.text]
        sure = furthest(0, len(whole), lambda count: fits(whole[:count]))
        chosen = whole[:sure]
        for block in whole[sure:]:
            beginning = self._beginning(block, chosen, fits)
            chosen += [beginning] if beginning else []
            if beginning and beginning.cut:
                break
        return chosen

    def _beginning(self, block: Block, before: Sequence[Block], fits: Callable[[Sequence[Block]], bool]) -> Block | None:
        """Give as many sentences of the block as fit behind the others, None when not even one does."""
        ends = sentence_ends(block.text, self._abbreviations)

        def piece(count: int) -> Block:
            return replace(block, text=block.text[: ends[count - 1]], cut=count < len(ends))

        count = furthest(0, len(ends), lambda count: fits([*before, piece(count)]))
        return piece(count) if count else None
