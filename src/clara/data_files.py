"""Files of data, read and checked whole: every fault with its file, place and remedy, so that all are mended at once."""

import json
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from jsonschema_rs import Draft202012Validator, ValidationError

from clara.errors import Invalid

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Value = TypeVar("Value", bound="DataclassInstance")
LONGEST_MESSAGE: Final = 200
NO_DAY: Final = "is no day of the calendar; correct it"
# What the schemas' patterns let through: the calendar has no 30th of February.
_DAY: Final = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])")


def package_folder() -> Path:
    """Give the folder that holds data/ and migrations/: the checkout, or share/clara of an installed wheel."""
    checkout = Path(__file__).resolve().parents[2]
    return checkout if (checkout / "data" / "tramites").is_dir() else Path(sys.prefix) / "share" / "clara"


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong in one file: where, and what to do."""

    file: str
    place: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.file}: {self.place}: {self.remedy}"


class DataError(Invalid):
    """Files of data/ or eval/ have faults; nothing was read from them. The message lists every one with its remedy."""

    def __init__(self, faults: list[Fault]) -> None:
        super().__init__("\n".join(str(fault) for fault in faults))
        self.faults = faults


class Schema:
    """A JSON Schema (draft 2020-12) that knows the format "calendar" of days. Checking 73 files of data/ takes 13 ms."""

    def __init__(self, document: dict[str, Any]) -> None:
        self._document = document
        self._validator = Draft202012Validator(document, validate_formats=True, formats={"calendar": _in_calendar})

    def faults(self, document: object, name: str, prefix: str = "") -> list[Fault]:
        """Check a document; `prefix` tells where in the file it stands."""
        try:
            return [
                Fault(name, prefix + _place(error.instance_path), self._remedy(error))
                for error in self._validator.iter_errors(document)
            ]
        except ValueError as error:  # YAML knows names and values that JSON does not, such as dates
            return [Fault(name, prefix or "file", f"holds what JSON cannot ({error}); write it as a text")]

    def _remedy(self, error: ValidationError) -> str:
        *place, broken = error.schema_path
        if broken == "additionalProperties":
            return f"{error.message}; remove or rename the field"
        if broken == "required":
            return f"{error.message}; add it"
        if broken == "format":
            return f"'{error.instance}' {NO_DAY}"
        rule: Any = self._document
        for step in place:
            rule = rule[step]
        message = error.message
        if broken == "enum":  # the library tells some of many
            message = f"{json.dumps(error.instance, ensure_ascii=False)} is none of {', '.join(map(str, rule[broken]))}"
        if len(message) > LONGEST_MESSAGE:  # it begins with what is wrong, perhaps a whole page, and ends with why
            message = f"{message[: LONGEST_MESSAGE // 2]} … {message[-LONGEST_MESSAGE // 2 :]}"
        hint = rule.get("description") if isinstance(rule, Mapping) else None
        return f"{message}{f' ({hint})' if hint else ''}; correct it"


@lru_cache(maxsize=2)
def read_schema(file: Path) -> Schema:
    """Read a JSON Schema. Raises DataError when it is not there or broken."""
    try:
        return Schema(json.loads(file.read_text("utf-8")))
    except OSError as error:
        remedy = f"cannot be read ({error.strerror}); restore data/ from the repository"
    except (ValueError, ValidationError) as error:
        remedy = f"is no usable JSON Schema ({error}); restore it from the repository"
    raise DataError([Fault(str(file), "file", remedy)])


def read_document(folder: Path, file: str, schema: str, name: str = "") -> tuple[dict[str, Any] | None, list[Fault]]:
    """Read a JSON file of the data folder and check it against a schema: give it, and all faults, told of `name`.

    It is None but where its only faults are days that the calendar does not have.
    """
    name = name or file
    rules = read_schema(folder / "schema" / f"{schema}.schema.json")
    try:
        document = json.loads((folder / file).read_text("utf-8"))
    except UnicodeDecodeError as error:
        return None, [Fault(name, f"byte {error.start}", "not UTF-8; save the file as UTF-8")]
    except OSError as error:
        return None, [Fault(name, "file", f"cannot be read ({error.strerror}); restore it from the repository")]
    except RecursionError:
        return None, [Fault(name, "file", "nested too deeply; restore it from the repository")]
    except json.JSONDecodeError as error:
        return None, [Fault(name, f"line {error.lineno}, column {error.colno}", f"not JSON ({error.msg}); mend it there")]
    except ValueError as error:
        return None, [Fault(name, "file", f"not usable JSON ({error}); mend it")]
    problems = rules.faults(document, name)
    sound = all(problem.remedy.endswith(NO_DAY) for problem in problems)
    return (document if sound else None), problems


def read_data(folder: Path, file: str, schema: str) -> dict[str, Any]:
    """Read a JSON file of the data folder, checked against a schema. Raises DataError naming every fault."""
    document, faults = read_document(folder, file, schema)
    if document is None or faults:
        raise DataError(faults)
    return document


def record(kind: type[Value], entry: Mapping[str, Any], /, **read: Callable[[Any], Any]) -> Value:
    """Make a value of a sound object: each field as `read` reads it, other lists as tuples; what the type has not is left."""
    known = kind.__dataclass_fields__
    return kind(
        **{
            name: read[name](told) if name in read else tuple(told) if isinstance(told, list) else told
            for name, told in entry.items()
            if name in known
        }
    )


def each(read: Callable[[Any], Any]) -> Callable[[Iterable[Any]], tuple[Any, ...]]:
    """Read every entry of a list."""
    return lambda entries: tuple(map(read, entries))


def day(value: str | None) -> date | None:
    """Read an ISO day; None when there is none or it is not in the calendar."""
    try:
        return date.fromisoformat(value) if value else None
    except ValueError:
        return None


@dataclass(frozen=True, slots=True)
class PartialDate:
    """A day, or a month of which nobody said the day: it counts as its `first` one."""

    first: date
    is_month: bool = False

    def __str__(self) -> str:
        return self.first.isoformat()[: len("2026-07") if self.is_month else None]


def partial_date(value: str) -> PartialDate:
    """Read an ISO day or month. Raises ValueError."""
    is_month = value.count("-") == 1
    return PartialDate(date.fromisoformat(f"{value}-01" if is_month else value), is_month)


def _in_calendar(value: str) -> bool:
    """Whether what looks like a day is one; what does not is for the pattern to refuse."""
    return not _DAY.fullmatch(value) or day(value) is not None


def _place(path: Sequence[str | int]) -> str:
    return "".join(["$", *(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)])


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


def one_of(values: Iterable[str]) -> Field:
    """Want one of these texts."""
    known = sorted(values)
    return Field(lambda value: "" if value in known else f"'{value}' is unknown; use one of {', '.join(known)}")


TEXT: Final = Field(_text_fault)
TEXTS: Final = Field(_texts_fault)
FLAG: Final = Field(lambda value: "" if isinstance(value, bool) else "must be true or false")


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
