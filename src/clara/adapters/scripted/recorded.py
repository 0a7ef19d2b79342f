"""Recorded answers in a folder, as they are or compressed."""

import gzip
from pathlib import Path


def recorded(folder: Path, name: str) -> bytes:
    """Give the content of a recorded answer. Raises FileNotFoundError."""
    plain = folder / name
    if plain.exists():
        return plain.read_bytes()
    return gzip.decompress((folder / f"{name}.gz").read_bytes())
