"""Files of JSON lines that a person hands to a command: read whole and checked whole before anything is done with them."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from clara.errors import Invalid

# A person corrects so many lines at a time; the rest of the faults is of the same kind.
MOST_NAMED: Final = 30
# WhatsApp lets 4,096 characters through; what is five times as long is a file in the wrong place.
MOST_CHARACTERS: Final = 20_000

Fields = Mapping[str, "Field"]


class BatchError(Invalid):
    """The file has faults; nothing was done with it. The message lists every bad line with its remedy."""


@dataclass(frozen=True, slots=True)
class Field:
    """What a field of a line must be. `fault` gives what is wrong with a value, with the remedy, or nothing."""

    fault: Callable[[Any], str]
    required: bool = True


def _text_fault(value: object) -> str:
    if not isinstance(value, str):
        return "must be a text"
    if len(value) > MOST_CHARACTERS:
        return f"has {len(value):,} characters; a message has at most {MOST_CHARACTERS:,}; shorten it"
    return ""


def _texts_fault(value: object) -> str:
    if not isinstance(value, list):
        return "must be a list of texts"
    return next((f"entry {number} {fault}" for number, one in enumerate(value, 1) if (fault := _text_fault(one))), "")


def _flag_fault(value: object) -> str:
    return "" if isinstance(value, bool) else "must be true or false"


def one_of(values: Iterable[str]) -> Field:
    """Want one of these texts."""
    known = sorted(values)
    return Field(lambda value: "" if value in known else f"'{value}' is unknown; use one of {', '.join(known)}")


TEXT: Final = Field(_text_fault)
TEXTS: Final = Field(_texts_fault)
FLAG: Final = Field(_flag_fault)


def or_null(field: Field) -> Field:
    """Take null as well."""
    return Field(lambda value: "" if value is None else field.fault(value), field.required)


def optional(field: Field) -> Field:
    """Want a field only where it is there."""
    return Field(field.fault, required=False)


def read_lines(source: Path, fields: Fields) -> list[dict[str, Any]]:
    """Give the objects of a file, one a line, in order; fields that are not named here are kept unchecked.

    Raises BatchError naming every line that is empty, no object, lacks a field, or repeats the `id` of another.
    """
    try:
        lines = source.read_bytes().split(b"\n")
    except OSError as error:
        raise BatchError(f"{source}: cannot be read ({error.strerror}); name another file") from error
    if lines[-1].strip() == b"":
        lines.pop()  # the line break at the end of the file
    found: list[dict[str, Any]] = []
    faults: list[str] = []
    first_of: dict[object, int] = {}
    for number, line in enumerate(lines, 1):
        entry, wrong = _read(line, fields)
        if "id" in fields and not wrong and (first := first_of.setdefault(entry["id"], number)) != number:
            wrong = [f"the id '{entry['id']}' is that of line {first}; give each line its own"]
        faults += [f"{source}:{number}: {fault}" for fault in wrong]
        found.append(entry)
    if faults:
        more = [f"and {len(faults) - MOST_NAMED} more faults"] if len(faults) > MOST_NAMED else []
        raise BatchError("\n".join([*faults[:MOST_NAMED], *more]))
    return found


def _read(line: bytes, fields: Fields) -> tuple[dict[str, Any], list[str]]:
    if not line.strip():
        return {}, ["is empty; remove the line"]
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError) as error:
        return {}, [f"{type(error).__name__}: {error}; each line must be one JSON object in UTF-8"]
    if not isinstance(entry, dict):
        return {}, [f"must be an object with {_listed(fields)}"]
    if missing := [name for name, field in fields.items() if field.required and name not in entry]:
        return {}, [f"lacks {_listed(missing)}; add it"]
    checked = ((name, fields[name].fault(entry[name])) for name in fields if name in entry)
    return entry, [f"'{name}' {fault}" for name, fault in checked if fault]


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)


def strangers(entries: Sequence[Mapping[str, Any]], fields: Fields) -> dict[str, int]:
    """Count the lines that hold fields which nobody reads."""
    unknown = [name for entry in entries for name in entry if name not in fields]
    return {name: unknown.count(name) for name in dict.fromkeys(unknown)}
