"""The telephone lines that people are told to call: one table, data/hotlines.json. Texts name a line by its id."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Any, Final

from clara.data_files import DataError, Fault, each, read_document, record

FILE: Final = "hotlines.json"
_PLACEHOLDER: Final = re.compile(r"\{line\.([^{}.]*)(\.mail)?\}")


@dataclass(frozen=True, slots=True)
class Hotline:
    """One line. `number` is as people read it; `sources` are addresses; `unconfirmed` says why no public page is among them."""

    id: str
    number: str
    name: str
    territory: str
    sources: tuple[str, ...]
    mail: str | None = None
    hours: str | None = None
    languages: str | None = None
    named: tuple[str, ...] = ()
    unconfirmed: str | None = None

    @property
    def digits(self) -> str:
        """Give the number as it is dialled."""
        return self.number.replace(" ", "")


class Hotlines:
    """All lines by their ids, in the order of the table."""

    def __init__(self, lines: Sequence[Hotline]) -> None:
        self.lines = tuple(lines)
        self._by_id = {line.id: line for line in lines}
        self.by_digits: Mapping[str, Hotline] = {line.digits: line for line in lines}

    def filled(self, text: str) -> str:
        """Put numbers and addresses in the place of lines. Raises KeyError with what the table lacks."""

        def said(place: re.Match[str]) -> str:
            line = self._by_id.get(place[1])
            told = None if line is None else line.mail if place[2] else line.number
            if told is None:
                raise KeyError(place[0])
            return told

        return _PLACEHOLDER.sub(said, text)

    def fill(self, document: Mapping[str, Any], file: str) -> tuple[dict[str, Any], list[Fault]]:
        """Fill every text of a document; give the document, and a fault for each text that names what the table lacks."""
        faults: list[Fault] = []
        return {name: self._fill(value, file, f"$.{name}", faults) for name, value in document.items()}, faults

    def _fill(self, value: object, file: str, place: str, faults: list[Fault]) -> object:
        if isinstance(value, dict):
            return {name: self._fill(entry, file, f"{place}.{name}", faults) for name, entry in value.items()}
        if isinstance(value, list):
            return [self._fill(entry, file, f"{place}[{number}]", faults) for number, entry in enumerate(value)]
        if not isinstance(value, str):
            return value
        try:
            return self.filled(value)
        except KeyError as lacking:
            faults.append(Fault(file, place, f"{lacking.args[0]} is not in {FILE}; add it there, or correct it"))
            return _PLACEHOLDER.sub("", value)


def read_hotlines(folder: Path) -> Hotlines:
    """Read `folder`/hotlines.json. Raises DataError naming every fault."""
    document, faults = read_document(folder, FILE, "hotlines")
    lines = [record(Hotline, entry, sources=each(itemgetter("url"))) for entry in document["lines"]] if document else []
    for field in ("id", "digits"):
        seen: set[str] = set()
        for line in lines:
            value = getattr(line, field)
            if value in seen:
                faults.append(Fault(FILE, line.id, f"'{value}' stands there twice; merge the two"))
            seen.add(value)
    if faults:
        raise DataError(faults)
    return Hotlines(lines)
