"""Recognising messages that give orders to the machine, insult, hate or are indecent; and the question inside an insult."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from clara.data_files import DataError, read_document, read_schema
from clara.retrieval.vocabulary import folded

# Chinese is written without spaces: each ideograph is a word of its own.
_WORD = re.compile(r"[\u3400-\u9fff]|[^\W_\u3400-\u9fff]+")
# Marks by which prompts tell who speaks; no person writes them to ask something.
_MARKUP = re.compile(
    r"<\|?/?(?:system|im_start|im_end|assistant)|\[/?(?:system|inst)\]|(?:^|\n| )(?:system|assistant) ?: "
    r"|###? ?(?:system|instruction)",
    re.IGNORECASE,
)


class Kind(StrEnum):
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

    rules: Sequence[tuple[Kind, Sequence[re.Pattern[str]]]]
    insults: re.Pattern[str]
    swearing: re.Pattern[str]
    reports: re.Pattern[str]

    def recognise(self, text: str) -> Kind | None:
        """Tell what a message is, or None. What a person reports of others is not held against her."""
        said = _joined(_tokens(text))
        reported = self.reports.search(said) is not None
        for kind, groups in self.rules:
            if (kind is Kind.ORDERS or not reported) and all(group.search(said) for group in groups):
                return kind
        if _MARKUP.search(text):
            return Kind.ORDERS
        return Kind.INSULT if not reported and self.insults.search(said) else None

    def without(self, text: str) -> str:
        """Give the text without insults and swearing: what may be left is the question."""
        tokens = _tokens(text)
        said = _joined(tokens)
        starts = {place: number for number, place in enumerate(_places(tokens))}
        cut: set[int] = set()
        for pattern in (self.insults, self.swearing):
            for match in pattern.finditer(said):
                first = starts[match.start()]
                cut.update(range(first, first + len(match.group().split())))
        if not cut:
            return text
        pieces: list[str] = []
        end = 0
        for number, (_, start, stop) in enumerate(tokens):
            if number in cut:
                pieces.append(text[end:start])
                end = stop
        return " ".join("".join([*pieces, text[end:]]).split()).strip(" ,.;:!¡-，。！、")


def read_abuse(folder: Path) -> Abuse:
    """Read scope/abuse.json. Raises DataError naming every fault."""
    document, faults = read_document(
        folder / "scope" / "abuse.json", "scope/abuse.json", read_schema(folder / "schema" / "scope_abuse.schema.json")
    )
    if document is None or faults:
        raise DataError(faults)
    return Abuse(
        tuple((Kind(kind), tuple(map(_any_of, rule))) for kind, rules in document["rules"].items() for rule in rules),
        *(_any_of(document[name]) for name in ("insults", "swearing", "reports")),
    )


def _any_of(phrases: Iterable[str]) -> re.Pattern[str]:
    """Match any of some phrases as whole words, the longest first; a star at the end takes any ending."""
    written = {f"{re.escape(_joined(_tokens(phrase)))}{'[^ ]*' if phrase.endswith('*') else ''}" for phrase in phrases}
    return re.compile(rf"(?<![^ ])(?:{'|'.join(sorted(written, key=len, reverse=True))})(?![^ ])")


def _tokens(text: str) -> list[tuple[str, int, int]]:
    """Give the words without capitals and accents, each with where it stands."""
    return [(folded(match.group()), *match.span()) for match in _WORD.finditer(text)]


def _joined(tokens: Sequence[tuple[str, int, int]]) -> str:
    return " ".join(word for word, _, _ in tokens)


def _places(tokens: Sequence[tuple[str, int, int]]) -> list[int]:
    """Give where each word stands in the joined words."""
    places: list[int] = []
    end = 0
    for word, _, _ in tokens:
        places.append(end)
        end += len(word) + 1
    return places
