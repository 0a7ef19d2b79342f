"""Faithful answers for the evaluation: facts said otherwise, with figures as people of a language write them."""

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from clara.language.sentences import sentence_ends
from clara.retrieval.passage import Passage

Making = Mapping[str, Any]

_SLAVIC: Final = frozenset({"uk", "ru"})
# Up to this Arabic counts with the plural, Romanian without "de".
_ARABIC_PLURAL, _ROMANIAN_PLAIN, _DUAL = 10, 19, 2
# Digits of a telephone number inside Spain.
NATIONAL: Final = 9
_TEEN: Final = range(11, 15)
_SIGNS: Final = str.maketrans("0123456789,.", "٠١٢٣٤٥٦٧٨٩٬٫")
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


class FigureWriter:
    """Writes figures. `making` is eval/answers/making/proof.json; `chance` chooses among the ways to write one."""

    def __init__(self, making: Making, chance: random.Random) -> None:
        self._making = making
        self._chance = chance

    def statement(self, value: Mapping[str, Any], language: str) -> str | None:
        """Give a sentence that states a figure as it stands in data, or None when it cannot be rendered."""
        templates = self._making["templates"][language].get(value["kind"])
        written = self.figure(value, language) if templates else None
        return self._chance.choice(templates).format(x=written) if written else None

    def figure(self, value: Mapping[str, Any], language: str) -> str | None:
        """Write a figure as it stands in data."""
        writers = {
            "amount": self._amount,
            "percentage": self._percentage,
            "period": self._period,
            "age": self._age,
            "date": self._date,
            "phone": self._phone,
            "url": self._url,
            "form": self._form,
            "norm": self._norm,
        }
        writer = writers.get(value["kind"])
        return writer(value, language) if writer else None

    def number(self, value: float, language: str) -> str:
        """Write a number with the separators of a language, cents with two decimals."""
        thousands, decimal, _ = self._making["money"][language]
        whole, _, part = f"{value:.2f}".partition(".")
        written = re.sub(r"(?<=\d)(?=(?:\d{3})+$)", thousands if self._chance.random() < 0.7 else "", whole)  # noqa: PLR2004
        written = written if part == "00" else f"{written}{decimal}{part}"
        return written.translate(_SIGNS) if language == "ar" and self._chance.random() < 1 / 2 else written

    def _amount(self, value: Mapping[str, Any], language: str) -> str | None:
        if round(value["value"], 2) != value["value"]:
            return None
        written = self._chance.choice(self._making["money"][language][2]).format(n=self.number(value["value"], language))
        _, _, rate = value.get("unit", "EUR").partition("/")
        if not rate:
            return str(written)
        rates = self._making["rates"][language].get(rate)
        if not rates:
            return None
        said = self._chance.choice(rates)
        return f"{said}{written}" if language == "zh" else f"{written} {said}"

    def _percentage(self, value: Mapping[str, Any], language: str) -> str:
        decimal = self._making["money"][language][1]
        number = f"{value['value']:g}".replace(".", decimal)
        return str(self._chance.choice(self._making["percentages"][language]).format(n=number))

    def _period(self, value: Mapping[str, Any], language: str) -> str | None:
        units = self._making["units"][language].get(value["unit"])
        count = value["value"]
        if units is None or not float(count).is_integer():
            return None
        number, words = int(count), self._making["words"][language]
        if language == "ar" and number <= _DUAL:
            return str(units[0] if number == 1 else self._making["duals"][value["unit"]])
        unit = units[plural(number, language)]
        spelt = words.get(str(number)) if number > _DUAL and self._chance.random() < 1 / 2 else None
        return f"{spelt or number}{'' if language == 'zh' else ' '}{unit}"

    def _age(self, value: Mapping[str, Any], language: str) -> str:
        number = int(value["value"])
        unit = self._making["units"][language]["year"][plural(number, language)]
        return str(self._making["ages"][language].format(n=number, u=unit))

    def _date(self, value: Mapping[str, Any], language: str) -> str | None:
        match = re.fullmatch(r"(\d{4}|-)-(\d{2})-(\d{2})", str(value["value"]))
        if match is None:
            return None
        short, long = self._chance.choice(self._making["dates"][language])
        month = self._making["months"][language][int(match[2]) - 1]
        return str((short if match[1] == "-" else long).format(d=int(match[3]), m=month, y=match[1]))

    def _phone(self, value: Mapping[str, Any], _language: str) -> str:
        digits = str(value["value"])
        if len(digits) != NATIONAL:
            return digits
        pairs = f"{digits[:3]} {digits[3:5]} {digits[5:7]} {digits[7:]}"
        return self._chance.choice([digits, pairs, f"{digits[:3]} {digits[3:6]} {digits[6:]}", f"+34 {pairs}"])

    def _url(self, value: Mapping[str, Any], _language: str) -> str:
        address = str(value["value"])
        return self._chance.choice([address, address.removeprefix("https://")]).rstrip("/")

    def _form(self, value: Mapping[str, Any], _language: str) -> str | None:
        code = str(value["value"])
        return code if code.startswith(("EX-", "790-", "TA-")) else None

    def _norm(self, value: Mapping[str, Any], language: str) -> str | None:
        name, _, number = str(value["value"]).rpartition(" ")
        said = self._making["norms"][language].get(name)
        return f"{said} {number}" if said else None


def plural(number: int, language: str) -> int:
    """Give which of the three forms of a unit a number takes: for one, for a few, for many."""
    last, teen = number % 10, number % 100 in _TEEN
    if language in _SLAVIC:
        return 0 if last == 1 and not teen else 1 if 2 <= last <= 4 and not teen else 2  # noqa: PLR2004
    if number == 1:
        return 0
    if language == "ar":
        return 1 if number <= _ARABIC_PLURAL else 2
    return 1 if language == "ro" and number <= _ROMANIAN_PLAIN else 2


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
