"""Making the cases of the suite `masking`: sentences of eval/answers/making filled with invented identity data.

    python -m clara_lab.makers.masking_cases

Writes eval/answers/masking.jsonl, always the same. No value belongs to anybody: they come from a seeded generator, in the
ways in which people write them. Development and test have other sentences, and other values.
"""

import json
import random
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

import click
from stdnum import iban
from stdnum.es import dni, nie

from clara.settings import resources

SEED: Final = 20_261_122
FILLINGS: Final = 2
SLOT: Final = re.compile(r"\{(\w+)\}")
KEPT: Final = re.compile(r"«([^»]+)»")
NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "name": ("María López", "fatima zahra benali", "Ionuț Popescu", "ana", "John Okafor", "Aïcha Diallo", "jose luis garcia"),
    "name2": ("Carlos Pérez Ruiz", "Amina Haddad", "Elena Popa", "Mamadou Sow", "Rosa Quispe", "Oksana Melnyk"),
    "name_ar": ("محمد العلوي", "فاطمة الزهراء", "يوسف بنعلي", "خديجة"),
    "name_zh": ("李明", "王小红", "陈伟", "张丽"),
    "name_cy": ("Олена Шевченко", "Иван Петров", "Наталія Коваль", "Ольга Смирнова", "Андрій"),
}
WORDS: Final = ("sol", "luna.mar", "j.perez", "ana_92", "info-lopez")
HOSTS: Final = ("gmail.com", "hotmail.es", "yahoo.co.uk", "outlook.com", "mail.ru")
MONTHS: Final = ("enero", "mayo", "julio", "octubre")
EASTERN: Final = str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩")

Fill = Callable[[random.Random], str]


def _digits(dice: random.Random, count: int) -> str:
    return "".join(str(dice.randrange(10)) for _ in range(count))


def _dni(dice: random.Random) -> str:
    number = dice.randrange(10_000_000, 99_999_999)
    letter, dotted = dni.calc_check_digit(str(number)), f"{number:,}".replace(",", ".")
    joined = f"{number}{letter}"
    return dice.choice((joined, f"{number}-{letter}", f"{dotted}-{letter}", f"{number} {letter}", joined.lower()))


def _nie(dice: random.Random) -> str:
    number = f"{dice.choice('XYZ')}{dice.randrange(1_000_000, 9_999_999)}"
    letter = nie.calc_check_digit(number)
    joined, digits = f"{number}{letter}", number[1:]
    return dice.choice((joined, f"{number[0]}-{digits}-{letter}", joined.lower(), f"{number[0]} {digits} {letter}"))


def _naf(dice: random.Random) -> str:
    province, number, control = f"{dice.randrange(1, 53):02}", _digits(dice, 8), _digits(dice, 2)
    return dice.choice((f"{province}/{number}/{control}", f"{province}{number}{control}", f"{province} {number} {control}"))


def _iban(dice: random.Random) -> str:
    groups = [_digits(dice, 4) for _ in range(5)]
    control = iban.calc_check_digits(f"ES00{''.join(groups)}")
    return dice.choice((" ", "", "-")).join([f"ES{control}", *groups])


def _card(dice: random.Random) -> str:
    return dice.choice((" ", "", "-")).join([f"4{_digits(dice, 3)}", *(_digits(dice, 4) for _ in range(3))])


def _phone(dice: random.Random) -> str:
    number = f"{dice.choice('67')}{_digits(dice, 8)}"
    spaced = f"{number[:3]} {number[3:6]} {number[6:]}"
    pairs = f"{number[:3]} {number[3:5]} {number[5:7]} {number[7:]}"
    abroad = f"+212 6{_digits(dice, 2)} {_digits(dice, 3)} {_digits(dice, 3)}"
    return dice.choice((number, spaced, pairs, f"+34 {spaced}", f"+34{number}", abroad))


def _born(dice: random.Random) -> str:
    day, month, year = dice.randrange(1, 29), dice.randrange(1, 13), dice.randrange(1950, 2008)
    spoken = f"{day} de {dice.choice(MONTHS)} de {year}"
    return dice.choice((f"{day:02}/{month:02}/{year}", f"{day}-{month}-{year}", f"{day}.{month:02}.{year}", spoken))


def _passport(dice: random.Random) -> str:
    letters = "".join(dice.choice("ABCDEFGHKLMNPRST") for _ in range(dice.randrange(1, 4)))
    return f"{letters}{_digits(dice, dice.choice((6, 7)))}"


FILLS: Final[Mapping[str, Fill]] = {
    **{kind: partial(random.Random.choice, seq=names) for kind, names in NAMES.items()},
    "dni": _dni,
    "nie": _nie,
    "naf": _naf,
    "iban": _iban,
    "card": _card,
    "phone": _phone,
    "phone_ar": lambda dice: f"6{_digits(dice, 8)}".translate(EASTERN),
    "mail": lambda dice: f"{dice.choice(WORDS)}{dice.randrange(100)}@{dice.choice(HOSTS)}",
    "born": _born,
    "born_ar": lambda dice: f"{dice.randrange(1, 29)}/{dice.randrange(1, 13)}/{dice.randrange(1950, 2008)}",
    "born_zh": lambda dice: f"{dice.randrange(1950, 2008)}年{dice.randrange(1, 13)}月{dice.randrange(1, 29)}日",
    "passport": _passport,
    "n": lambda dice: str(dice.randrange(3, 99)),
    "file": lambda dice: f"{dice.randrange(2019, 2026)}/{_digits(dice, 6)}",
}
# A house number alone is in many texts; it is hidden when its street goes with it, which is how it is judged.
STREET: Final = re.compile(r"[^ :,，]+ [^ :,，]+ ?\{n\}|\{n\} [^ ,]+ [^ ,]+|中山路\{n\}号")


def cases_of(sentences: Mapping[str, Mapping[str, list[str]]]) -> list[dict[str, Any]]:
    """Fill every sentence FILLINGS times."""
    made: list[dict[str, Any]] = []
    for split, spoken in sentences.items():
        dice = random.Random(f"{SEED}{split}")  # noqa: S311  invented values, not secrets
        for language, texts in spoken.items():
            for number, text in enumerate(texts, 1):
                for filling in range(1, FILLINGS + 1 if SLOT.search(text) else 2):
                    identity = f"masking-{split}-{language}-{number:02}-{filling}"
                    made.append({"id": identity, "language": language, "split": split, **filled(text, dice)})
    return made


def filled(sentence: str, dice: random.Random) -> dict[str, Any]:
    """Fill the slots of a sentence; give the text, what must be hidden, what must stay, and the kinds."""
    values = {slot: FILLS[slot](dice) for slot in dict.fromkeys(SLOT.findall(sentence))}
    street = STREET.search(sentence)
    hidden = [value for slot, value in values.items() if slot != "n"]
    if street:
        hidden.append(SLOT.sub(lambda match: values[match[1]], street.group()).strip(" «»"))
    text = SLOT.sub(lambda match: values[match[1]], sentence)
    return {"text": KEPT.sub(r"\1", text), "hidden": hidden, "kept": KEPT.findall(text), "kind": " ".join(values)}


def main() -> None:
    """Write eval/answers/masking.jsonl."""
    folder = resources() / "eval" / "answers"
    made = cases_of(json.loads((folder / "making" / "masking.json").read_text("utf-8"))["sentences"])
    lines = "".join(f"{json.dumps(case, ensure_ascii=False)}\n" for case in made)
    (folder / "masking.jsonl").write_text(lines, "utf-8")
    click.echo(f"masking.jsonl: {len(made)} cases")


if __name__ == "__main__":
    main()
