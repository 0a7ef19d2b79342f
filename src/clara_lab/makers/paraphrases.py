"""Faithful answers for the evaluation: facts said otherwise, with the same figures and the same sense."""

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from clara.language.sentences import sentence_ends
from clara.retrieval.passage import Passage
from clara_lab.makers.figures import FigureWriter, Making

# What says no in a Spanish fact: a bare figure of such a fact would be no faithful answer in another language.
DENYING: Final = re.compile(
    r"\b(?:no|ni|sin|nunca|nadie|ningún|ninguna|tampoco|salvo|excepto|excepci[oó]n\w*|exclu\w+|fuera|menos si|nada)\b",
    re.IGNORECASE,
)
_EURO: Final = re.compile(r"(?<![\d.,])(\d{1,3}(?:\.\d{3})*|\d+)(,\d{1,2})? ?€")
_LONG_DATE: Final = re.compile(r"(?<![\d.,y] )(?<!al )(?<![\w.,-])(\d{1,2}) de ([a-z]+) de (\d{4})")
_SHORT_DATE: Final = re.compile(r"(?<![\d./-])(\d{1,2})-(\d{1,2})-(\d{4})(?![\d-])")
_TIME_SPAN: Final = re.compile(r"\b(\w+) (días|meses|años|semanas)\b(?! de [a-z]+ de)")

# How many faithful answers tell two facts, the second one first.
_PAIRED: Final = 0.25
# How many name the procedure before a figure in another language.
_NAMED: Final = 0.25

Change = Callable[[str], str]


class Paraphraser:
    """Says facts otherwise."""

    def __init__(self, making: Making, chance: random.Random, names: Mapping[str, Mapping[str, str]] | None = None) -> None:
        self._making = making
        self._chance = chance
        self._names = names or {}
        self._rendering = FigureWriter(making, chance)
        self._words: Mapping[str, str] = making["words"]["es"]
        self._numbers = {word: number for number, word in self._words.items()}
        self._changes: Mapping[str, Change] = {
            "amount": self._amounts,
            "percent": self._percentages,
            "date": self._dates,
            "number": self._spans,
            "synonym": self._synonyms,
        }

    def spanish(self, passage: Passage) -> tuple[str, str] | None:
        """Give (what was changed, text) for a fact in Spanish, each of its sentences with its mark, or None."""
        text = passage.text
        changed: list[str] = []
        for name, change in self._chance.sample(sorted(self._changes.items()), len(self._changes)):
            if (other := change(text)) != text:
                text = other
                changed.append(name)
        return ("+".join(changed), self.marked(text, "C1")) if changed else None

    def other(self, passage: Passage, language: str) -> tuple[str, str] | None:
        """Give (kind, sentence) that states one figure of a fact in a language, or None."""
        values: list[Mapping[str, Any]] = list(passage.stored_metadata["values"])
        if DENYING.search(passage.text) or not values or passage.stored_metadata["conditions"]:
            return None
        value = self._chance.choice(values)
        said = self._rendering.statement(value, language)
        if not said:
            return None
        if self._names and self._chance.random() < _NAMED:
            said = f"{self._names[passage.document_id][language]}: {said}"
        return value["kind"], self.marked(f"{said.rstrip()}{'。' if language == 'zh' else '.'}", "C1")

    def paired(self, case: Mapping[str, Any], passage: Passage, passages: Sequence[Passage]) -> dict[str, Any]:
        """Put another fact of the procedure before what is said, in the same words as in the data or as a figure."""
        others = [other for other in passages if other.document_id == passage.document_id and other.id != passage.id]
        other = self._chance.choice(others)
        said = self.spanish(other) if case["language"] == "es" else self.other(other, case["language"])
        if said is None:
            return dict(case)
        text = f"{said[1].replace('[C1]', '[C2]')}\n{case['text']}"
        return {**case, "change": f"pair:{case['change']}", "passages": [passage.id, other.id], "text": text}

    def marked(self, text: str, mark: str) -> str:
        """Put a mark on every sentence: before its full stop or behind it, and perhaps a bullet before all."""
        ends = sentence_ends(text)
        sentences = [text[start:end].strip() for start, end in zip([0, *ends], ends, strict=False)]
        behind = self._chance.random() < 1 / 2
        said = [
            f"{sentence} [{mark}]" if behind or sentence[-1:] not in ".。" else f"{sentence[:-1]} [{mark}]{sentence[-1]}"
            for sentence in sentences
        ]
        return self._chance.choice(["", "", "• ", "- "]) + " ".join(said)

    def _amounts(self, text: str) -> str:
        def otherwise(match: re.Match[str]) -> str:
            whole, cents = match[1].replace(".", ""), match[2] or ""
            spaced = re.sub(r"(?<=\d)(?=(?:\d{3})+$)", " ", whole)
            written = self._chance.choice([f"{whole}{cents}", f"{match[1]}{cents or ',00'}", f"{spaced}{cents}"])
            return f"{written} {self._chance.choice(['€', 'euros', 'EUR'])}"

        return _EURO.sub(otherwise, text)

    def _percentages(self, text: str) -> str:
        return re.sub(r" ?%", " por ciento", text)

    def _dates(self, text: str) -> str:
        months: Sequence[str] = self._making["months"]["es"]

        def in_digits(match: re.Match[str]) -> str:
            if match[2] not in months:
                return match[0]
            month = months.index(match[2]) + 1
            return self._chance.choice([f"{match[1]}/{month}/{match[3]}", f"{int(match[1]):02d}-{month:02d}-{match[3]}"])

        text, count = _LONG_DATE.subn(in_digits, text)
        return (
            text if count else _SHORT_DATE.sub(lambda found: f"{found[1]} de {months[int(found[2]) - 1]} de {found[3]}", text)
        )

    def _spans(self, text: str) -> str:
        def otherwise(match: re.Match[str]) -> str:
            number = match[1]
            other = self._words.get(number) or self._numbers.get(number)
            return f"{other} {match[2]}" if other and number not in {"uno", "1"} else match[0]

        return _TIME_SPAN.sub(otherwise, text)

    def _synonyms(self, text: str) -> str:
        for said, other in self._making["synonyms"]:
            text = re.sub(rf"\b{said}\b", other, text, count=1)
        return text


def faithful(
    passages: Sequence[Passage],
    languages: Sequence[str],
    making: Making,
    names: Mapping[str, Mapping[str, str]],
    chance: random.Random,
) -> Iterator[dict[str, Any]]:
    """Give faithful answers to the facts: in Spanish the facts reworded, in other languages their figures; pairs of both."""
    rewording = Paraphraser(making, chance, names)
    for language in languages:
        for passage in chance.sample(passages, len(passages)):
            said = rewording.spanish(passage) if language == "es" else rewording.other(passage, language)
            if said is None:
                continue
            case = {"language": language, "change": said[0], "passages": [passage.id], "text": said[1]}
            yield rewording.paired(case, passage, passages) if chance.random() < _PAIRED else case
