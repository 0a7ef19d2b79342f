"""A local copy of a data set on object storage: fetched once, whole or not at all, and fetched again when it changed there."""

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from pyarrow.fs import FileSystem

from clara_lab.bench.dataset import BenchDataError
from clara_lab.parquet.places import FILES, DatasetLocation, StorageAwayError, named_errors

# Read and written at once; a file is never in memory as a whole.
PIECE_BYTES: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class ObjectVersion:
    """What tells one state of an object from another."""

    etag: str
    size: int
    modified: str

    def name_of(self, file: str) -> str:
        """Give the name under which this state of a file is kept."""
        mark = hashlib.sha256(repr((self.etag, self.size, self.modified)).encode()).hexdigest()[:16]
        return f"{Path(file).stem}-{mark}.parquet"


@dataclass(frozen=True, slots=True)
class LocalCopy:
    """The local files by their names, and how they came: "fetched", "unchanged", or "storage away" (what was there before)."""

    files: dict[str, Path]
    how: str


def fetch(place: DatasetLocation, cache: Path) -> LocalCopy:
    """Give local copies of the files of a place, below the folder `cache`. Raises BenchDataError.

    The storage is asked whether they changed; when it does not answer and whole copies are there, these are given. Each
    state has a file name of its own and gets it when its last byte is written, so a download cut short never counts.
    """
    if place.store is None:
        return LocalCopy({name: Path(place.path_of(name)) for name in FILES}, "local")
    folder = cache / hashlib.sha256(repr((place.store.endpoint, place.path_of(""))).encode()).hexdigest()[:32]
    filesystem = place.filesystem()
    try:
        with named_errors(place, filesystem):
            return _current(place, filesystem, folder)
    except StorageAwayError:
        kept = _kept(folder)
        if kept is None:
            raise
        return LocalCopy(kept, "storage away")


def _current(place: DatasetLocation, filesystem: FileSystem, folder: Path) -> LocalCopy:
    versions: dict[str, ObjectVersion] = {}
    how = "unchanged"
    for name in FILES:
        with filesystem.open_input_file(place.path_of(name)) as opened:
            versions[name] = _version(opened.metadata(), opened.size())
            target = folder / versions[name].name_of(name)
            if not _is_whole(target, versions[name]):
                how = "fetched"
                _download(place, opened, target, versions[name])
    _remember(folder, versions)
    return LocalCopy({name: folder / version.name_of(name) for name, version in versions.items()}, how)


def _version(about: dict[Any, Any], size: int) -> ObjectVersion:
    said = {str(key).casefold(): bytes(value).decode("latin-1") for key, value in about.items()}
    return ObjectVersion(said.get("etag", ""), size, said.get("last-modified", ""))


def _is_whole(file: Path, version: ObjectVersion) -> bool:
    return file.is_file() and file.stat().st_size == version.size


def _download(place: DatasetLocation, opened: Any, target: Path, version: ObjectVersion) -> None:  # noqa: ANN401  pyarrow's files have no types
    def copy(piece: Path) -> None:
        with piece.open("wb") as written:
            while part := opened.read(PIECE_BYTES):
                written.write(part)
            os.fsync(written.fileno())
        if piece.stat().st_size != version.size:
            raise BenchDataError(f"{place}: {piece.stat().st_size} bytes of {version.size} came; try again")

    _replace(target, copy)


def _replace(target: Path, write: Callable[[Path], None]) -> None:
    """Let a file appear when it is complete, and not before."""
    target.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=".part-")
    os.close(descriptor)
    piece = Path(name)
    try:
        write(piece)
        piece.replace(target)
    finally:
        piece.unlink(missing_ok=True)


def _remember(folder: Path, versions: dict[str, ObjectVersion]) -> None:
    """Say which copies belong together, then drop older ones. Another process may read these still: POSIX lets it finish."""

    def state(piece: Path) -> None:
        piece.write_text(json.dumps({name: asdict(version) for name, version in versions.items()}), "utf-8")

    _replace(folder / "current.json", state)
    kept = {version.name_of(name) for name, version in versions.items()}
    for file in folder.glob("*.parquet"):
        if file.name not in kept:
            with contextlib.suppress(OSError):
                file.unlink()


def _kept(folder: Path) -> dict[str, Path] | None:
    try:
        state = {name: ObjectVersion(**about) for name, about in json.loads((folder / "current.json").read_text()).items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return None
    files = {name: folder / version.name_of(name) for name, version in state.items()}
    whole = state.keys() == set(FILES) and all(_is_whole(file, state[name]) for name, file in files.items())
    return files if whole else None
