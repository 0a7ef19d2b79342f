"""What is wrong in data: every fault with its file, place and remedy, gathered, so that all are mended at once."""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from jsonschema_rs import Draft202012Validator, ValidationError

from clara.errors import Invalid

LONGEST_MESSAGE = 200


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
    """A JSON Schema (draft 2020-12). Checking 73 files of data/ takes 13 ms."""

    def __init__(self, document: dict[str, Any]) -> None:
        self._document = document
        self._validator = Draft202012Validator(document)

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


def read_schema(file: Path) -> Schema:
    """Read a JSON Schema. Raises DataError when it is not there or broken."""
    try:
        return Schema(json.loads(file.read_text("utf-8")))
    except OSError as error:
        remedy = f"cannot be read ({error.strerror}); restore data/ from the repository"
        raise DataError([Fault(str(file), "file", remedy)]) from error
    except (ValueError, ValidationError) as error:
        raise DataError(
            [Fault(str(file), "file", f"is no usable JSON Schema ({error}); restore it from the repository")]
        ) from error


def read_document(path: Path, name: str, schema: Schema) -> tuple[dict[str, Any] | None, list[Fault]]:
    """Read one JSON file and check it against its schema; give the document, or None and all its faults."""
    try:
        document = json.loads(path.read_text("utf-8"))
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
    problems = schema.faults(document, name)
    return (None if problems else document), problems


def read_data(folder: Path, name: str, schema: str) -> dict[str, Any]:
    """Read the JSON file `name` of the data folder, checked against its schema. Raises DataError naming every fault."""
    document, faults = read_document(folder / name, name, read_schema(folder / "schema" / f"{schema}.schema.json"))
    if document is None:
        raise DataError(faults)
    return document


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


def _place(path: Sequence[str | int]) -> str:
    return "".join(["$", *(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)])
