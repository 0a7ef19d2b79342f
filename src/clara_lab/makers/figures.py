"""Writing a figure as people of a language write it: for the faithful and the mutated answers of the evaluation."""

import random
import re
from collections.abc import Mapping
from typing import Any, Final

Making = Mapping[str, Any]

_SLAVIC: Final = frozenset({"uk", "ru"})
# Up to this Arabic counts with the plural, Romanian without "de".
_ARABIC_PLURAL, _ROMANIAN_PLAIN, _DUAL = 10, 19, 2
# Digits of a telephone number inside Spain.
NATIONAL: Final = 9
_TEEN: Final = range(11, 15)
_SIGNS: Final = str.maketrans("0123456789,.", "٠١٢٣٤٥٦٧٨٩٬٫")


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
