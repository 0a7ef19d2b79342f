"""Wrong answers for the evaluation: facts with one thing changed that a person would be misled by."""

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from clara.retrieval.passage import Passage
from clara_lab.makers.paraphrases import DENYING, FigureWriter, Making, Paraphraser

_DIGITS: Final = re.compile(r"(?<![\w/.-])\d+(?:[.,]\d+)*(?![\w/-])")
_UNITS: Final = {
    "día": "mes", "días": "meses", "mes": "año", "meses": "semanas", "año": "mes", "años": "meses", "semanas": "meses",
    "hora": "día", "horas": "días", "días hábiles": "días", "días naturales": "semanas",
}  # fmt: skip
_SPAN: Final = re.compile(
    r"(?<=\d )(días hábiles|días naturales|días|meses|años|semanas|horas|día|mes|año|hora)\b(?! hábiles| de [a-z]+ de)"
)
_RATE: Final = re.compile(r"(?<=€ )al (mes|año)\b|(?<=€/)(mes|año)\b")
_MONEY: Final = re.compile(r"€(?!\w)|\beuros\b")
_NO: Final = re.compile(
    r"\b[Nn]o (?=se |hay |hace |es |son |tiene|puede|pueden|vale|basta|cuenta|exige|necesita|está|da |sirve|computa)"
)
_VERB: Final = re.compile(
    r"\b(?=(?:se (?:puede|pide|exige|paga|cobra|necesita)|hay que|hace falta|puede|debe|deben|tiene|tienen) )"
)
_NORM: Final = re.compile(r"(?:\bart\. |\bartículo |\b(?:Ley|Real Decreto(?:-ley)?|Orden \w+) ?/?)(\d{1,4})|BOE-A-\d{4}-(\d+)")
_LINK: Final = re.compile(r"https?://[^\s),;]+")
_LEAST: Final = {
    "al menos": "como máximo", "más de": "menos de", "mayores de": "menores de", "mayor de": "menor de",
    "antes de": "después de", "mínimo": "máximo", "mínima": "máxima", "o más": "o menos",
}  # fmt: skip
_BOUNDS: Final = {**_LEAST, **{most: least for least, most in _LEAST.items()}}
_BOUND: Final = re.compile("|".join(rf"\b{said}\b" for said in sorted(_BOUNDS, key=len, reverse=True)))
_PRICE: Final = re.compile(r"(?<![\w/.-])\d+(?:\.\d{3})*(?:,\d+)?(?= ?(?:€|%|euros))")
# With more of its words shared, a fact is said by the other one too.
_ALIKE: Final = 0.5


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What else there is to take a wrong thing from. `names` are the procedures' names by id and language."""

    making: Making
    names: Mapping[str, Mapping[str, str]]
    known: Mapping[str, Passage]

    def siblings(self, passage: Passage) -> list[Passage]:
        """Give the other facts of a fact's procedure."""
        return [other for other in self.known.values() if other.document_id == passage.document_id and other.id != passage.id]


class Mutator:
    """Changes one thing in a fact; each change gives the text, or None where there is nothing to change."""

    def __init__(self, around: Surroundings, chance: random.Random) -> None:
        self._around = around
        self._chance = chance
        self._rendering = FigureWriter(around.making, chance)
        self._rewording = Paraphraser(around.making, chance)
        months, choose = "|".join(around.making["months"]["es"]), chance.choice
        words = [word for number, word in around.making["words"]["es"].items() if int(number) > 1]
        self.changes: Mapping[str, Callable[[Passage], str | None]] = {
            "digit": self._at_one(_DIGITS, lambda number: self._other_digit(number, "123456789")),
            "swap": self._at_one(_DIGITS, self._swapped_digits),
            "decimal": self._at_one(_PRICE, self._moved_comma),
            "unit": self._unit,
            "currency": self._at_one(_MONEY, lambda _: choose(["dólares", "libras", "$"])),
            "month": self._another(rf"(?<=\d de )(?:{months})\b|\b(?:{months})(?= de \d)", around.making["months"]["es"]),
            "phone": self._phone,
            "url": self._at_one(_LINK, self._other_link),
            "norm": self._at_one(_NORM, self._other_number),
            "word": self._another(rf"\b(?:{'|'.join(words)})(?= (?:días|meses|años|semanas)\b)", words),
            "added": self._added,
            "other": self._other,
            "bound": self._at_one(_BOUND, _BOUNDS.__getitem__),  # the most for the least, before for after
            "no_dropped": self._dropped,
            "no_added": self._negated,
            "procedure": self._procedure,
            "territory": self._territory,
        }

    def case(self, kind: str, passage: Passage) -> dict[str, Any] | None:
        """Give a mutated answer of a kind to a fact, with everything else as it should be, or None."""
        if kind == "condition":
            limited = bool(passage.stored_metadata["conditions"])
            text = self._rewording.marked(passage.text, "C1")
            return {"passages": [passage.id], "unlimited": True, "text": text} if limited else None
        if kind == "mark":
            return self._wrong_mark(passage)
        said = self.changes[kind](passage)
        return {"passages": [passage.id], "text": self._rewording.marked(said, "C1")} if said else None

    def foreign(self, passage: Passage, language: str) -> dict[str, Any] | None:
        """Give a sentence in another language that states a figure of a fact wrongly, or None."""
        values = [value for value in passage.stored_metadata["values"] if not isinstance(value["value"], str)]
        if DENYING.search(passage.text) or not values or passage.stored_metadata["conditions"]:
            return None
        value = self._chance.choice(values)
        wrong = self._wrong_value(value, passage)
        said = self._rendering.statement(wrong, language) if wrong else None
        if said is None:
            return None
        return {"passages": [passage.id], "text": self._rewording.marked(f"{said.rstrip()}.", "C1")}

    def swapped(self, passage: Passage, language: str) -> dict[str, Any] | None:
        """Give a figure of a fact as it is, told of another procedure in another language, or None."""
        said = self._rewording.other(passage, language)
        if said is None:
            return None
        sentence = said[1].lstrip("•- ")
        return {"passages": [passage.id], "text": f"{self._other_name(passage, language)}: {sentence}"}

    def _other_name(self, passage: Passage, language: str) -> str:
        others = [names[language] for procedure, names in self._around.names.items() if procedure != passage.document_id]
        return re.sub(r" ?[(（].*[)）]", "", self._chance.choice(others))

    def _wrong_value(self, value: Mapping[str, Any], passage: Passage) -> dict[str, Any] | None:
        """Change a value or its unit, so that it is none of the fact's."""
        number = value["value"]
        others = [number + 1, number * 10, number + 2, number * 2, number + 10]
        if isinstance(number, float):
            others = [round(number + 0.1, 2), round(number * 10, 2), round(number + 9, 2)]
        wrong = {**value, "value": self._chance.choice(others)}
        if value["kind"] == "period" and self._chance.random() < 1 / 2:
            unit = self._chance.choice(sorted({"day", "week", "month", "year"} - {value["unit"]}))
            wrong = {**value, "unit": unit}
        held = [(other["value"], other.get("unit")) for other in passage.stored_metadata["values"]]
        return None if (wrong["value"], wrong.get("unit")) in held or _equals_another(wrong, held) else wrong

    def _other_digit(self, written: str, digits: str = "0123456789") -> str:
        place = self._chance.choice([place for place, sign in enumerate(written) if sign.isdigit()])
        sign = self._chance.choice([digit for digit in digits if digit != written[place]])
        return written[:place] + sign + written[place + 1 :]

    def _swapped_digits(self, number: str) -> str:
        pairs = [place for place in range(len(number) - 1) if number[place : place + 2].isdigit()]
        pairs = [place for place in pairs if number[place] != number[place + 1] and number[place + 1] != "0"]
        if not pairs:
            return number
        place = self._chance.choice(pairs)
        return number[:place] + number[place + 1] + number[place] + number[place + 2 :]

    def _moved_comma(self, number: str) -> str:
        whole, comma, part = number.partition(",")
        if comma:
            return f"{whole}{part[:1]},{part[1:] or '0'}"
        return f"{number}0" if not number.endswith("00") or self._chance.random() < 1 / 2 else number[:-1]

    def _unit(self, passage: Passage) -> str | None:
        swapped = {"mes": "año", "año": "mes"}
        text = self._at_one(_SPAN, _UNITS.__getitem__)(passage)
        return text or self._at_one(_RATE, lambda rate: rate[:-3] + swapped[rate[-3:]])(passage)

    def _phone(self, passage: Passage) -> str | None:
        phones = [str(value["value"]) for value in passage.stored_metadata["values"] if value["kind"] == "phone"]
        pattern = re.compile("|".join(r" ?".join(digits) for digits in phones))
        return self._at_one(pattern, self._other_digit)(passage) if phones else None

    def _other_link(self, link: str) -> str:
        bare = link.rstrip(".")
        host = re.sub(r"\.(es|eu|org|com)(?=/|$)", lambda end: ".com" if end[1] != "com" else ".es", bare, count=1)
        return self._chance.choice([host, f"{bare.rstrip('/')}/solicitud", bare.replace("://", "://tramites-", 1)])

    def _other_number(self, norm: str) -> str:
        return re.sub(r"\d+$", lambda number: str(int(number[0]) + self._chance.choice([1, 2, 10])), norm)

    def _added(self, passage: Passage) -> str | None:
        wrong = self._chance.choice([13, 17, 19, 27, 34, 37, 41, 43, 47, 52, 71, 83])
        said = self._chance.choice(self._around.making["added"]["es"]).format(n=wrong)
        return f"{passage.text.rstrip('.')}, {said}." if str(wrong) not in passage.text else None

    def _other(self, passage: Passage) -> str | None:
        """Put a figure of another fact of the procedure in the place of one of the same sort."""
        pattern = re.compile(r"(?<![\w/.-])\d+(?:[.,]\d+)*(?= (?:€|%|días|meses|años))")
        here = pattern.search(passage.text)
        others = [found[0] for other in self._around.siblings(passage) for found in pattern.finditer(other.text)]
        others = sorted({other for other in others if other not in passage.text})
        return pattern.sub(self._chance.choice(others), passage.text, count=1) if here and others else None

    def _dropped(self, passage: Passage) -> str | None:
        found = list(_NO.finditer(passage.text))
        if not found:
            return None
        match = self._chance.choice(found)
        rest = passage.text[match.end() :]
        return passage.text[: match.start()] + (rest[0].upper() if match[0][0] == "N" else rest[0]) + rest[1:]

    def _negated(self, passage: Passage) -> str | None:
        found = [match for match in _VERB.finditer(passage.text) if not DENYING.search(passage.text[: match.start()][-12:])]
        if not found:
            return None
        place = self._chance.choice(found).start()
        return f"{passage.text[:place]}no {passage.text[place:]}"

    def _procedure(self, passage: Passage) -> str | None:
        """Name another procedure in the place of this one, or before what is said."""
        other = self._other_name(passage, "es")
        if other.lower() in passage.text.lower():
            return None
        return f"Para {other[0].lower()}{other[1:]}: {passage.text[0].lower()}{passage.text[1:]}"

    def _territory(self, passage: Passage) -> str | None:
        territories: Sequence[str] = self._around.making["territories"]
        others = [name for name in territories if name not in passage.text]
        here = re.compile("|".join(re.escape(name) for name in territories))
        if here.search(passage.text):
            return here.sub(self._chance.choice(others), passage.text, count=1)
        return (
            f"En {self._chance.choice(others)}, {passage.text[0].lower()}{passage.text[1:]}"
            if passage.territory != "ES"
            else None
        )

    def _wrong_mark(self, passage: Passage) -> dict[str, Any] | None:
        """Point to another fact of the procedure, one that does not say the same."""
        mine = _said(passage.text)
        others = [other for other in self._around.siblings(passage) if len(mine & _said(other.text)) < _ALIKE * len(mine)]
        if not others:
            return None
        other = self._chance.choice(others)
        return {"passages": [other.id], "text": self._rewording.marked(passage.text, "C1")}

    def _another(self, pattern: str, names: Sequence[str]) -> Callable[[Passage], str | None]:
        """Make a change that puts another of the names, one that the text does not have, in the place of a match."""
        compiled = re.compile(pattern)

        def change(passage: Passage) -> str | None:
            others = [name for name in names if name not in passage.text]
            return self._at_one(compiled, lambda _: self._chance.choice(others))(passage)

        return change

    def _at_one(self, pattern: re.Pattern[str], other: Callable[[str], str]) -> Callable[[Passage], str | None]:
        """Make a change of one of the matches into something that the text does not have."""

        def change(passage: Passage) -> str | None:
            text = passage.text
            for match in self._chance.sample(found := list(pattern.finditer(text)), len(found)):
                said = other(match[0])
                if said != match[0] and not re.search(rf"(?<!\w){re.escape(said)}(?!\w)", text):
                    return text[: match.start()] + said + text[match.end() :]
            return None

        return change


def _said(text: str) -> set[str]:
    return {word for word in re.findall(r"\w+", text.lower()) if len(word) > len("para")}


def _equals_another(wrong: Mapping[str, Any], held: Sequence[tuple[Any, str | None]]) -> bool:
    """Whether a changed period is another one of the fact in another unit: 12 months, one year."""
    factor = {"year": 12, "month": 1, "week": 7, "day": 1}
    return any(
        isinstance(number, int | float)
        and number * factor.get(unit or "", 0) == wrong["value"] * factor.get(wrong.get("unit", ""), -1)
        for number, unit in held
    )
