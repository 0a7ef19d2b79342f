"""The served languages: one pack each in data/languages/<code>, from which everything that is said in it is read."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from clara.data_files import DataError, Fault, read_document, record

FOLDER: Final = "languages"


@dataclass(frozen=True, slots=True)
class Language:
    """A served language. `name` is as its speakers write it, `prompt` how a language model is told to write it.

    `script` is "latin", "cyrillic", "arabic" or "han", `direction` "ltr" or "rtl". `late`: in short messages a word that it
    shares is the other language's. `transliterated` says in Latin letters how to be answered in another language.
    `called` are its names in every language, `requested` how people ask for it.
    """

    name: str
    order: int
    script: str
    direction: str
    prompt: str
    late: bool = False
    transliterated: str = ""
    called: Sequence[str] = ()
    requested: Sequence[str] = ()


def read_languages(folder: Path) -> dict[str, Language]:
    """Read the pack.json of every folder of `folder`/languages; by code, in the order in which languages are tried.

    Raises DataError naming every fault.
    """
    codes = sorted(path.name for path in (folder / FOLDER).glob("[a-z][a-z]"))
    if not codes:
        raise DataError([Fault(str(folder / FOLDER), "folder", "holds no language; restore data/ from the repository")])
    documents, faults = read_packs(folder, "pack", codes)
    places: dict[int, str] = {}
    for code, document in documents.items():
        if (first := places.setdefault(document["order"], code)) != code:
            faults.append(Fault(pack_file(code, "pack"), "$.order", f"is that of '{first}' as well; give each its own"))
    if faults:
        raise DataError(faults)
    found = [(code, record(Language, document)) for code, document in documents.items()]
    return dict(sorted(found, key=lambda entry: entry[1].order))


def read_packs(folder: Path, subject: str, codes: Iterable[str] | None = None) -> tuple[dict[str, dict[str, Any]], list[Fault]]:
    """Read <subject>.json of the packs, all unless `codes` are named, checked against `folder`/schema/<subject>.schema.json.

    Gives what is right, by language in their order, and every fault. Raises DataError when there is no schema or no pack.
    """
    documents: dict[str, dict[str, Any]] = {}
    faults: list[Fault] = []
    for code in read_languages(folder) if codes is None else codes:
        document, problems = read_document(folder, pack_file(code, subject), subject)
        if document is not None:
            documents[code] = document
        faults += problems
    return documents, faults


def read_with_packs(folder: Path, file: str, schema: str, subject: str) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Read a file that holds for every language, and what each pack says of it. Raises DataError naming every fault of all."""
    document, problems = read_document(folder, file, schema)
    packs, faults = read_packs(folder, subject)
    if document is None or problems or faults:
        raise DataError([*problems, *faults])
    return document, packs


def pack_file(language: str, subject: str) -> str:
    """Name a file of a pack as faults name it: by its path below data/."""
    return f"{FOLDER}/{language}/{subject}.json"
