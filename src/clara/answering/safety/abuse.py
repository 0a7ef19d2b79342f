"""Recognising messages that give orders to the machine, insult, hate or are indecent; and the question inside an insult."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from clara.data_files import read_data
from clara.language.patterns import WordPattern
from clara.language.tokens import located, texts_of, words

# Marks by which prompts tell who speaks; no person writes them to ask something.
_MARKUP = re.compile(
    r"<\|?/?(?:system|im_start|im_end|assistant)|\[/?(?:system|inst)\]|(?:^|\n| )(?:system|assistant) ?: "
    r"|###? ?(?:system|instruction)",
    re.IGNORECASE,
)


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
