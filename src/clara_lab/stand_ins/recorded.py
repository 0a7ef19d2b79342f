"""Recorded answers of the gazette in a folder, as they are or compressed, known by what is in them."""

import gzip
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

# How the shapes write their day, the id of a document, and that of a norm.
_DAYS: Final = (
    re.compile(rb"<fecha_publicacion>(\d{8})<"),
    re.compile(rb'"fecha_publicacion"\s*:\s*"(\d{8})"'),
    re.compile(rb"<fechaInv>(\d{4})/(\d\d)/(\d\d)<"),
    re.compile(rb'"fechainv"\s*:\s*"(\d{4})/(\d\d)/(\d\d)"', re.IGNORECASE),
)
_SUMMARY: Final = re.compile(rb'<sumario\b|"sumario_?diario"|"sumario_nbo"|"diario"')
_DOCUMENT: Final = re.compile(rb"<documento\b.*?<identificador>(BOE-[A-Z]-\d{4}-\d+)<", re.DOTALL)
_METADATA: Final = re.compile(rb"<response>.*?<metadatos>.*?<identificador>(BOE-[A-Z]-\d{4}-\d+)<", re.DOTALL)
_BLOCKS: Final = re.compile(rb"<bloque\b")
_ID: Final = re.compile(r"BOE-[A-Z]-\d{4}-\d+")


@dataclass(slots=True)
class GazetteRecordings:
    """What the gazette has: days by AAAAMMDD, documents and norms' metadata and texts by id."""

    days: dict[str, bytes] = field(default_factory=dict)
    documents: dict[str, bytes] = field(default_factory=dict)
    metadata: dict[str, bytes] = field(default_factory=dict)
    texts: dict[str, bytes] = field(default_factory=dict)

    def add(self, name: str, content: bytes) -> None:
        """Put an answer where its content says that it belongs; a norm's text is known by the id in the file's name."""
        named = _ID.search(name)
        if _SUMMARY.search(content) and (day := _day(content)):
            self.days[day] = content
        elif found := _DOCUMENT.search(content):
            self.documents[found[1].decode()] = content
        elif found := _METADATA.search(content):
            self.metadata[found[1].decode()] = content
        elif _BLOCKS.search(content) and named:
            self.texts[named[0]] = content


def recorded(folder: Path, name: str) -> bytes:
    """Give the content of a recorded answer. Raises FileNotFoundError."""
    plain = folder / name
    if plain.exists():
        return plain.read_bytes()
    return gzip.decompress((folder / f"{name}.gz").read_bytes())


def recordings(folder: Path) -> GazetteRecordings:
    """Read every answer in a folder; what is none is left out."""
    found = GazetteRecordings()
    for path in sorted(folder.iterdir()):
        name = path.name.removesuffix(".gz")
        if name.endswith((".xml", ".json")) and "BORME" not in name:
            found.add(name, recorded(folder, name))
    return found


def _day(content: bytes) -> str | None:
    found = next((match for pattern in _DAYS if (match := pattern.search(content))), None)
    return b"".join(found.groups()).decode() if found else None
