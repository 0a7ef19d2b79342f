"""What Clara does not do, said kindly: two steps around the search.

Before it, `screen` ends messages that give orders to the machine, are indecent or hateful, and insults without a question;
an insult or an order
around a question is taken off, and the question is answered. After it, `tell_apart` names a refusal: out of scope
where it is clear what the question is about, else the honest "not found". It never takes an answer away.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Final

from clara.answering.message import Reply, ReplyStatus, Turn
from clara.data_files import read_data
from clara.language.phrases import WordPattern
from clara.language.tokens import length, located, texts_of, words
from clara.retrieval.classifier import TextClassifier, VectorOf, by_letters
from clara.retrieval.passage import Status
from clara.retrieval.turn_vectors import TurnVectors

# Marks by which prompts tell who speaks; no person writes them to ask something.
_MARKUP = re.compile(
    r"<\|?/?(?:system|im_start|im_end|assistant)|\[/?(?:system|inst)\]|(?:^|\n| )(?:system|assistant) ?: "
    r"|###? ?(?:system|instruction)",
    re.IGNORECASE,
)

# What such marks enclose, or a line of them, is not said to Clara either.
_ENCLOSED: Final = re.compile(
    r"(?P<open>[\[<])\s*(?P<name>system|inst|admin|prompt)[^\]>]*[\]>].*?[\[<]\s*/\s*(?P=name)[^\]>]*[\]>]"
    r"|#{3,}[^#]*#{3,}|</?[a-z][^<>]{0,60}>",
    re.IGNORECASE | re.DOTALL,
)
# Behind these signs a clause ends.
_CLAUSE: Final = re.compile(r"(?<=[.!?;:,،؛。！？；，\n])\s*")


def unmarked(text: str) -> str:
    """Give a text without marks, and what they enclose, that come along when somebody copies it, or that talk to a machine."""
    return " ".join(_ENCLOSED.sub(" ", text).split())


class AbuseKind(StrEnum):
    """What a message is that asks for nothing Clara does."""

    ORDERS = "orders"
    HATE = "hate"
    INDECENT = "indecent"
    INSULT = "insult"
    EVERYDAY = "everyday"
    MEDICAL = "medical"
    ABROAD = "abroad"


@dataclass(frozen=True, slots=True)
class Abuse:
    """Phrases as patterns over the words of a message. `rules` hold, by kind, groups that must all be met."""

    rules: Sequence[tuple[AbuseKind, Sequence[WordPattern]]]
    insults: WordPattern
    swearing: WordPattern
    reports: WordPattern

    def recognise(self, text: str) -> AbuseKind | None:
        """Tell what a message is, or None. What a person reports of others is not held against her."""
        said = words(text)
        reported = self.reports.search(said)
        for kind, groups in self.rules:
            if (kind is AbuseKind.ORDERS or not reported) and all(group.search(said) for group in groups):
                return kind
        if _MARKUP.search(text):
            return AbuseKind.ORDERS
        return AbuseKind.INSULT if not reported and self.insults.search(said) else None

    def without_orders(self, text: str) -> str:
        """Give the text without the clauses that give orders to the machine: what may be left is the question; else ""."""
        clauses = _CLAUSE.split(text)
        left = " ".join(clause for clause in clauses if self.recognise(clause) is not AbuseKind.ORDERS).strip()
        return "" if self.recognise(left) is AbuseKind.ORDERS else left

    def without(self, text: str) -> str:
        """Give the text without insults and swearing: what may be left is the question."""
        tokens = located(text)
        said = texts_of(tokens)
        patterns = (self.insults, self.swearing)
        cut = {place for pattern in patterns for start, end in pattern.spans(said) for place in range(start, end)}
        if not cut:
            return text
        pieces: list[str] = []
        end = 0
        for number, token in enumerate(tokens):
            if number in cut:
                pieces.append(text[end : token.start])
                end = token.end
        return " ".join("".join([*pieces, text[end:]]).split()).strip(" ,.;:!¡-，。！、")


def read_abuse(folder: Path) -> Abuse:
    """Read scope/abuse.json. Raises DataError naming every fault."""
    document = read_data(folder, "scope/abuse.json", "scope_abuse")
    return Abuse(
        tuple((AbuseKind(kind), tuple(map(WordPattern, rule))) for kind, rules in document["rules"].items() for rule in rules),
        *(WordPattern(document[name]) for name in ("insults", "swearing", "reports")),
    )


# What each kind is answered with: the name of a fixed text, and the status of the reply.
ANSWERS: Final = {
    AbuseKind.ORDERS: ("no_orders", ReplyStatus.OUT_OF_SCOPE),
    AbuseKind.HATE: ("boundary", ReplyStatus.CALMED),
    AbuseKind.INDECENT: ("boundary", ReplyStatus.CALMED),
    AbuseKind.INSULT: ("calm", ReplyStatus.CALMED),
    AbuseKind.EVERYDAY: ("out_of_scope", ReplyStatus.OUT_OF_SCOPE),
    AbuseKind.MEDICAL: ("out_of_scope_medical", ReplyStatus.OUT_OF_SCOPE),
    AbuseKind.ABROAD: ("out_of_scope_abroad", ReplyStatus.OUT_OF_SCOPE),
}
# An unanswered question is called out of scope when the kinds above are together at least so probable: chosen on the
# development half of eval/answers/scope.jsonl.
CLEAR: Final = 0.6
# With fewer words that carry meaning than this beside it, an insult holds no question.
QUESTION: Final = 2
# Beside orders to the machine a question has at least so many of them, and is surely about something that is held.
GLUED: Final = 3
CERTAIN: Final = 0.1

# The class of questions that the catalogue holds, and of those about Spanish public matters which it does not hold.
HELD: Final = "held"
PUBLIC: Final = "public"

_KINDS: Final = frozenset(AbuseKind)
# Says a fixed text: language, name.
Say = Callable[[str, str], str]


@dataclass(frozen=True, slots=True)
class Scope:
    """What tells the scope. `content` gives the words of a text that carry meaning, `model` how probable each kind is."""

    abuse: Abuse
    model: TextClassifier
    content: Callable[[str], list[str]]
    vector: VectorOf = by_letters

    def screen(self, turn: Turn, say: Say) -> Turn | Reply:
        """End what holds no question; take insults and swearing off what is looked for."""
        kind = self.abuse.recognise(turn.question)
        asked = turn.asked or turn.question
        if kind is AbuseKind.ORDERS and self._said(left := self.abuse.without_orders(asked)) >= GLUED:
            return replace(turn, asked=left, ordered=True)
        if kind is not None and kind is not AbuseKind.INSULT:
            return answer(kind, turn.language, say)
        cleaned = self.abuse.without(asked)
        if kind is AbuseKind.INSULT and self._said(cleaned) < QUESTION:
            return answer(kind, turn.language, say)
        return replace(turn, asked=cleaned if self._said(cleaned) else asked)

    def tell_apart(self, turn: Turn, say: Say) -> Turn | Reply:
        """Name the refusal of a question for which nothing was found; everything else goes on."""
        found = turn.found
        doubted = turn.ordered and found is not None and (found.outside is None or found.outside > CERTAIN)
        if found is None or (found.status is not Status.NOT_FOUND and not doubted):
            return turn
        kind = self.abuse.recognise(turn.question) or self._clear(turn.asked or turn.question, turn.vectors or TurnVectors())
        if kind is None:
            return turn
        reply = answer(kind, turn.language, say)
        return replace(reply, tier=found.tier, timings_ms=found.timings_ms, trace={**reply.trace, **found.trace})

    def _clear(self, text: str, vectors: TurnVectors) -> AbuseKind | None:
        """Tell what a text is about that is clearly outside."""
        shares = self.model.shares(text, self.vector(text, vectors))
        outside = {AbuseKind(name): share for name, share in shares.items() if name in _KINDS}
        return max(outside, key=outside.__getitem__) if sum(outside.values()) >= CLEAR else None

    def _said(self, text: str) -> int:
        """Count the words of a text that carry meaning; Chinese has no spaces to count by."""
        return length(" ".join(self.content(text)))


def answer(kind: AbuseKind, language: str, say: Say) -> Reply:
    """Give the fixed answer to a kind; the trace holds the reason, for the counters, and no word of the message."""
    name, status = ANSWERS[kind]
    return Reply(say(language, name), status, language, trace={"reason": kind.value})
