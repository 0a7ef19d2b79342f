"""Reading documents from JSON Lines: every fault of a file is named at once, with its line and its remedy."""

import codecs
import json
from collections.abc import Mapping
from math import isfinite
from pathlib import Path
from typing import Any

from clara.errors import Invalid
from clara.ingestion.chunks import Document

FIELDS = {"id", "title", "text", "collection", "language", "metadata"}
DEFAULT_COLLECTION = "default"
# A file with more faults than this is another kind of file: naming each line would help nobody.
MOST_FAULTS = 20
# A key of PostgreSQL's B-tree holds 2,704 bytes; an id and the name of its corpus stay below, whatever their letters.
LONGEST_ID = 500
# Deeper metadata than anybody writes; at 500 levels Python's own limit stops the digest of a passage.
DEEPEST = 100


class UnreadableDocumentsError(Invalid):
    """A file of documents has faults; nothing of it was loaded. The message lists each with its line and the remedy."""


def read_documents(file: Path, *, language: str) -> list[Document]:
    """Read {"id","title","text","metadata"?,"collection"?,"language"?} from each line. Raises UnreadableDocumentsError."""
    try:
        content = file.read_bytes()
    except OSError as error:
        raise UnreadableDocumentsError(f"{file}: {error.strerror}; give a readable file of JSON Lines") from error
    faults: list[str] = []
    documents: dict[str, Document] = {}
    lines: dict[str, int] = {}
    for number, line in enumerate(content.removeprefix(codecs.BOM_UTF8).split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            document = _read(line, language)
        except ValueError as error:
            faults.append(f"{file}:{number}: {error}")
            continue
        if document.id in documents:
            faults.append(f"{file}:{number}: id '{document.id}' is that of line {lines[document.id]}; give each its own")
        else:
            documents[document.id], lines[document.id] = document, number
    if not documents and not faults:
        faults.append(f'{file}: holds no document; each line must be {{"id": "…", "title": "…", "text": "…"}}')
    if faults:
        more = [f"... and {len(faults) - MOST_FAULTS} more"] if len(faults) > MOST_FAULTS else []
        raise UnreadableDocumentsError("\n".join([*faults[:MOST_FAULTS], *more]))
    return list(documents.values())


def _read(line: bytes, language: str) -> Document:
    """Read one line; whatever is wrong with it becomes a ValueError that says what to do."""
    try:
        entry = json.loads(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8 at byte {error.start}; save the file as UTF-8") from error
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON ({error.msg}); the line may be cut short: write it whole") from error
    except RecursionError as error:
        raise ValueError(f"nested too deeply; at most {DEEPEST} levels are kept") from error
    _check_storable(entry)
    return _document(entry, language)


def _check_storable(value: object, depth: int = 0) -> None:
    """Refuse what JSON can write and PostgreSQL cannot keep."""
    if depth > DEEPEST:
        raise ValueError(f"nested too deeply; at most {DEEPEST} levels are kept")
    match value:
        case str() if "\x00" in value or value != value.encode("utf-8", "replace").decode("utf-8"):
            raise ValueError("holds \\u0000 or half of a pair \\ud800 to \\udfff, which are no characters; take them out")
        case float() if not isfinite(value):
            raise ValueError(f"holds the number {value}, which is not JSON; write null or a finite number")
        case dict():
            for inner in (*value.keys(), *value.values()):
                _check_storable(inner, depth + 1)
        case list():
            for inner in value:
                _check_storable(inner, depth + 1)


def _document(entry: object, language: str) -> Document:
    if not isinstance(entry, dict):
        raise ValueError('must be an object {"id": "…", "title": "…", "text": "…"}')  # noqa: TRY004  one kind of fault
    if unknown := sorted(entry.keys() - FIELDS):
        raise ValueError(f"unknown fields {', '.join(unknown)}; put what is yours under 'metadata'")
    name, text = _text(entry, "id"), _text(entry, "text")
    if not name.strip() or "#" in name or len(name) > LONGEST_ID:
        raise ValueError(
            f"id is {name[:LONGEST_ID]!r}; it must not be empty, have over {LONGEST_ID} characters nor hold '#', "
            "which numbers the passages of a document"
        )
    metadata = entry.get("metadata", {})
    if not isinstance(metadata, dict):
        raise ValueError("'metadata' must be an object")  # noqa: TRY004
    collection = _text(entry, "collection", DEFAULT_COLLECTION)
    return Document(name, _text(entry, "title", ""), text, collection, _text(entry, "language", language), metadata)


def _text(entry: Mapping[str, Any], field: str, default: str | None = None) -> str:
    value = entry.get(field, default)
    if not isinstance(value, str):
        msg = f'\'{field}\' {"is missing" if value is None else "must be a text"}; write it as "{field}": "…"'
        raise ValueError(msg)  # noqa: TRY004
    return value
