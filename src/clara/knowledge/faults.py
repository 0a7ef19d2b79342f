"""What is wrong in data: every fault with its file, place and remedy, gathered, so that all are mended at once."""

import json
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong in one file: where, and what to do."""

    file: str
    place: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.file}: {self.place}: {self.remedy}"


class DataError(Exception):
    """Files of data/ or eval/ have faults; nothing was read from them. The message lists every one with its remedy."""

    def __init__(self, faults: list[Fault]) -> None:
        super().__init__("\n".join(str(fault) for fault in faults))
        self.faults = faults


def validator_of(schema: Path) -> Draft202012Validator:
    """Read a JSON Schema. Raises DataError when it is not there or broken."""
    try:
        return Draft202012Validator(json.loads(schema.read_text("utf-8")))
    except OSError as error:
        remedy = f"cannot be read ({error.strerror}); restore data/ from the repository"
        raise DataError([Fault(str(schema), "file", remedy)]) from error
    except ValueError as error:
        raise DataError([Fault(str(schema), "file", f"is no usable JSON ({error}); restore it from the repository")]) from error


def read_document(path: Path, name: str, validator: Draft202012Validator) -> tuple[dict[str, Any] | None, list[Fault]]:
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
    problems = faults_against(document, name, validator)
    return (None if problems else document), problems


def faults_against(document: object, name: str, validator: Draft202012Validator, prefix: str = "") -> list[Fault]:
    """Check a document against its schema; `prefix` tells where in the file it stands."""
    return [Fault(name, prefix + error.json_path, _remedy(error)) for error in validator.iter_errors(document)]


def day(value: str | None) -> date | None:
    """Read an ISO day; None when there is none or it is not in the calendar."""
    try:
        return date.fromisoformat(value) if value else None
    except ValueError:
        return None


def _remedy(error: ValidationError) -> str:
    if error.validator == "additionalProperties":
        return f"{error.message}; remove or rename the field"
    if error.validator == "required":
        return f"{error.message}; add it"
    message = textwrap.shorten(error.message, 200, placeholder=" …")
    hint = error.schema.get("description") if isinstance(error.schema, Mapping) else None
    return f"{message}{f' ({hint})' if hint else ''}"
