"""The questions of an evaluation: read from JSON lines, every fault named at once."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clara.data_files import DataError, Fault, Schema, read_schema

# The halves of the questions: on the first things are tuned, on the second they are judged.
SPLITS = ("dev", "test")
Entries = Sequence[tuple[int, dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class Question:
    """One question and what a right answer holds. `documents` is empty for a question that must be refused.

    `accepted` are further documents that answer as well. `section` is where a person would look first; `accepted_sections` are
    all those with a fact that answers.
    """

    id: str
    query: str
    language: str
    documents: frozenset[str]
    section: str | None
    accepted_sections: frozenset[str]
    facts: frozenset[str]
    territory: str | None
    category: str
    difficulty: str
    split: str
    accepted: frozenset[str] = frozenset()

    @property
    def in_scope(self) -> bool:
        """Whether the corpus holds an answer."""
        return bool(self.documents)


@dataclass(frozen=True, slots=True)
class KnownIds:
    """What questions may refer to: sections by document, ids of facts, territories."""

    sections: Mapping[str, frozenset[str]]
    facts: frozenset[str]
    territories: frozenset[str]


def read_questions(file: Path, schema_file: Path, known: KnownIds) -> list[Question]:
    """Read a file of questions. Raises DataError naming every fault of every line."""
    schema = read_schema(schema_file)
    try:
        lines = file.read_text("utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError([Fault(file.name, "file", f"cannot be read ({error}); restore it from the repository")]) from error
    faults: list[Fault] = []
    entries: list[tuple[int, dict[str, Any]]] = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            entry, problems = _entry(line, file.name, number, schema)
            faults += problems
            entries += [(number, entry)] if entry is not None else []
    repeated = [*_repeated(file.name, entries)]
    if not faults and not repeated:
        # The halves depend on every query: with one unread or repeated, right lines would be called wrong.
        faults += _split_faults(file.name, entries)
    faults += [*_reference_faults(file.name, entries, known), *repeated]
    if not entries and not faults:
        faults.append(Fault(file.name, "file", "holds no question; restore it from the repository"))
    if faults:
        raise DataError(faults)
    return [_question(entry) for _, entry in entries]


def halves(texts: Iterable[str]) -> dict[str, str]:
    """Split questions into two halves by the digests of their texts: "dev", one more when they are odd, and "test"."""
    ordered = sorted(texts, key=lambda text: hashlib.sha256(text.encode()).hexdigest())
    half = (len(ordered) + 1) // 2
    return {text: "dev" if place < half else "test" for place, text in enumerate(ordered)}


def _entry(line: str, file: str, number: int, schema: Schema) -> tuple[dict[str, Any] | None, list[Fault]]:
    """Read one line; give the entry, or None and its faults."""
    try:
        entry = json.loads(line)
        json.dumps(entry, ensure_ascii=False).encode()  # half a surrogate pair is JSON, and can never be written
    except (ValueError, RecursionError) as error:
        return None, [Fault(file, f"line {number}", f"not usable JSON ({error}); mend it there")]
    problems = schema.faults(entry, file, f"line {number}: ")
    return (None if problems else entry), problems


def _question(entry: Mapping[str, Any]) -> Question:
    return Question(
        **{name: entry[name] for name in ("id", "query", "language", "territory", "category", "difficulty", "split")},
        documents=frozenset(entry["expected_procedures"]),
        section=entry["expected_section"],
        accepted_sections=frozenset(entry.get("accepted_sections", ())),
        facts=frozenset(entry["expected_facts"]),
        accepted=frozenset(entry.get("accepted_procedures", ())),
    )


def _reference_faults(file: str, entries: Entries, known: KnownIds) -> Iterator[Fault]:
    for number, entry in entries:
        documents, section = entry["expected_procedures"], entry["expected_section"]
        yield from _unknown_procedures(file, number, entry, known)
        held = {name for document in documents for name in known.sections.get(document, ())}
        if section is not None and section not in held:
            yield Fault(file, f"line {number}: $.expected_section", f"'{section}' is no section of {documents}; correct it")
        for name in sorted(set(entry.get("accepted_sections", ())) - held):
            yield Fault(file, f"line {number}: $.accepted_sections", f"'{name}' is no section of {documents}; correct it")
        for name in sorted(set(entry["expected_facts"]) - known.facts):
            yield Fault(file, f"line {number}: $.expected_facts", f"there is no fact '{name}'; correct the id or remove it")
        if entry["territory"] is not None and entry["territory"] not in known.territories:
            yield Fault(
                file, f"line {number}: $.territory", f"unknown territory '{entry['territory']}'; use a code of places.json"
            )
        if (entry["category"] == "negative") != (not documents):
            yield Fault(
                file,
                f"line {number}: $.category",
                "is 'negative' exactly when no procedure is expected; correct one of the two",
            )


def _unknown_procedures(file: str, number: int, entry: Mapping[str, Any], known: KnownIds) -> Iterator[Fault]:
    for field in ("expected_procedures", "accepted_procedures"):
        for name in sorted(set(entry.get(field, ())) - set(known.sections)):
            yield Fault(file, f"line {number}: $.{field}", f"there is no procedure '{name}'; correct it")


def _repeated(file: str, entries: Entries) -> Iterator[Fault]:
    for field in ("id", "query"):
        seen: dict[str, int] = {}
        for number, entry in entries:
            first = seen.setdefault(entry[field], number)
            if first != number:
                yield Fault(file, f"line {number}: $.{field}", f"the same as on line {first}; each question needs its own")


def _split_faults(file: str, entries: Entries) -> Iterator[Fault]:
    if all(entry["split"] == "dev" for _, entry in entries):
        return  # a file of development questions only
    right = halves(entry["query"] for _, entry in entries)
    for number, entry in entries:
        if entry["split"] != right[entry["query"]]:
            remedy = f"the digest of this query puts it into '{right[entry['query']]}'; write that"
            yield Fault(file, f"line {number}: $.split", remedy)
