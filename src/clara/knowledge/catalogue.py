"""Reading data/tramites: every file is checked, every fault is named at once, and nothing is used before all are right."""

import json
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from clara.knowledge.procedure import Certainty, Fact, LegalBasis, Procedure, Section, Source


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong in one file: where, and what to do."""

    file: str
    place: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.file}: {self.place}: {self.remedy}"


class CatalogueError(Exception):
    """The catalogue has faults; nothing was read from it. The message lists every one with its file, place and remedy."""

    def __init__(self, faults: list[Fault]) -> None:
        super().__init__("\n".join(str(fault) for fault in faults))
        self.faults = faults


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All procedures, by id, in order."""

    procedures: Mapping[str, Procedure]


def read_catalogue(folder: Path) -> Catalogue:
    """Read every procedure under `folder`/tramites. Raises CatalogueError naming every fault of every file."""
    schema = folder / "schema" / "procedure.schema.json"
    if not schema.is_file():
        raise CatalogueError([Fault(str(schema), "file", "is missing; restore data/ from the repository")])
    validator = Draft202012Validator(json.loads(schema.read_text("utf-8")))
    faults: list[Fault] = []
    documents: dict[str, dict[str, Any]] = {}
    for path in sorted((folder / "tramites").glob("*.json")):
        document, problems = _read(path, validator)
        faults.extend(problems)
        if document is not None:
            documents[path.name] = document
    faults.extend(_shared_ids(documents))
    if not documents and not faults:
        faults.append(Fault(str(folder / "tramites"), "folder", "holds no procedure; restore data/ from the repository"))
    if faults:
        raise CatalogueError(faults)
    return Catalogue({document["id"]: _procedure(document) for document in documents.values()})


def _read(path: Path, validator: Draft202012Validator) -> tuple[dict[str, Any] | None, list[Fault]]:
    try:
        document = json.loads(path.read_text("utf-8"))
    except UnicodeDecodeError as error:
        return None, [Fault(path.name, f"byte {error.start}", "not UTF-8; save the file as UTF-8")]
    except OSError as error:
        return None, [Fault(path.name, "file", f"cannot be read ({error.strerror}); restore it from the repository")]
    except RecursionError:
        return None, [Fault(path.name, "file", "nested too deeply; restore it from the repository")]
    except json.JSONDecodeError as error:
        return None, [Fault(path.name, f"line {error.lineno}, column {error.colno}", f"not JSON ({error.msg}); mend it there")]
    except ValueError as error:
        return None, [Fault(path.name, "file", f"not usable JSON ({error}); mend it")]
    problems = [Fault(path.name, error.json_path, _remedy(error)) for error in validator.iter_errors(document)]
    if not problems:
        problems = list(_own_rules(path, document))
    return (None if problems else document), problems


def _remedy(error: ValidationError) -> str:
    if error.validator == "additionalProperties":
        return f"{error.message}; remove or rename the field"
    if error.validator == "required":
        return f"{error.message}; add it"
    message = textwrap.shorten(error.message, 200, placeholder=" …")
    hint = error.schema.get("description") if isinstance(error.schema, Mapping) else None
    return f"{message}{f' ({hint})' if hint else ''}"


def _own_rules(path: Path, document: dict[str, Any]) -> Iterator[Fault]:
    """Check what a schema cannot say."""
    if "closed_on" in document and _day(document["closed_on"]) is None:
        yield Fault(path.name, "$.closed_on", f"'{document['closed_on']}' is no day of the calendar; correct it")
    if document["id"] != path.stem:
        yield Fault(path.name, "$.id", f"is '{document['id']}' but the file is named '{path.stem}'; make them equal")
    sections = [section["id"] for section in document["sections"]]
    for section in sorted({name for name in sections if sections.count(name) > 1}):
        yield Fault(path.name, "$.sections", f"section '{section}' appears twice; merge the two")
    for place, section in enumerate(document["sections"]):
        for number, fact in enumerate(section["facts"]):
            where = f"$.sections[{place}].facts[{number}]"
            if not fact["id"].startswith(f"{document['id']}-{section['id']}-"):
                yield Fault(path.name, f"{where}.id", f"'{fact['id']}' must start with '{document['id']}-{section['id']}-'")
            yield from _bad_dates(path, where, fact)


def _bad_dates(path: Path, where: str, fact: dict[str, Any]) -> Iterator[Fault]:
    valid = fact.get("valid", {})
    for number, source in enumerate(fact["sources"]):
        seen = source["seen_on"]
        if _day(seen if len(seen) == len("2026-01-01") else f"{seen}-01") is None:
            yield Fault(path.name, f"{where}.sources[{number}].seen_on", f"'{seen}' is no day of the calendar; correct it")
    for name, value in valid.items():
        if _day(value) is None:
            yield Fault(path.name, f"{where}.valid.{name}", f"'{value}' is no day of the calendar; correct it")
    if _day(valid.get("from")) and _day(valid.get("until")) and valid["from"] > valid["until"]:
        yield Fault(path.name, f"{where}.valid", "ends before it begins; swap or correct the days")


def _shared_ids(documents: Mapping[str, dict[str, Any]]) -> Iterator[Fault]:
    seen: dict[str, str] = {}
    for name, document in documents.items():
        for section in document["sections"]:
            for fact in section["facts"]:
                if fact["id"] in seen:
                    yield Fault(name, fact["id"], f"this fact id is already used in {seen[fact['id']]}; give it its own")
                seen[fact["id"]] = name


def _day(value: str | None) -> date | None:
    try:
        return date.fromisoformat(value) if value else None
    except ValueError:
        return None


def _procedure(document: dict[str, Any]) -> Procedure:
    phrases = {
        field: {language: tuple(entries) for language, entries in document.get(field, {}).items()}
        for field in ("vocabulary", "lookalikes", "questions")
    }
    return Procedure(
        id=document["id"],
        name=document["name"],
        authority=document["authority"],
        sections=tuple(
            Section(section["id"], section["title"], tuple(_fact(fact) for fact in section["facts"]))
            for section in document["sections"]
        ),
        closed_on=_day(document.get("closed_on")),
        **phrases,
    )


def _fact(fact: dict[str, Any]) -> Fact:
    valid = fact.get("valid", {})
    return Fact(
        id=fact["id"],
        text=fact["text"],
        certainty=Certainty(fact["certainty"]),
        sources=tuple(Source(**source) for source in fact["sources"]),
        legal_basis=tuple(LegalBasis(**basis) for basis in fact.get("legal_basis", [])),
        territory=fact.get("territory", "ES"),
        valid_from=_day(valid.get("from")),
        valid_until=_day(valid.get("until")),
    )
