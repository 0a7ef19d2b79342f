"""Where a data set lies: a local folder, or S3-compatible storage with a local copy, fetched whole or not at all."""

import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from pyarrow.fs import AwsStandardS3RetryStrategy, FileSystem, FileType, LocalFileSystem, S3FileSystem, copy_files

from clara_lab.bench.dataset import BenchDataError

FILES: Final = ("corpus.parquet", "queries.parquet", "qrels.parquet")

# Somebody waits at the command line: a server that is away is told within seconds. Refused connections took .5 s with these.
CONNECT_SECONDS: Final = 5
# The storage library gives up when not a byte came for so long; a large file may take longer as a whole.
SILENT_SECONDS: Final = 20
TRIES: Final = 2

# A local copy is a folder named by a digest of the three states, and by the three sizes.
COPIES: Final = "*-*-*-*"
NO_BUCKET: Final = "{}: the bucket {} does not exist there; check MINIO_BUCKET_NAME and MINIO_ENDPOINT"
# What the storage library says in its messages, which may repeat what was sent; only these words of them are passed on.
_SAID: Final = re.compile(r"AWS Error ([A-Z_]+)")
_CREDENTIALS: Final = (
    *("ACCESS_DENIED", "INVALID_ACCESS_KEY_ID", "SIGNATURE_DOES_NOT_MATCH", "INVALID_CLIENT_TOKEN_ID"),
    "MISSING_AUTHENTICATION_TOKEN",
)


@dataclass(frozen=True, slots=True)
class ObjectStore:
    """An S3-compatible server and a bucket on it. Its keys never show in a message or a representation."""

    endpoint: str
    bucket: str
    access_key: str = field(repr=False)
    secret_key: str = field(repr=False)
    region: str = "us-east-1"

    def filesystem(self) -> FileSystem:
        """Give what reads and writes there; nothing is asked yet. Raises BenchDataError for an endpoint that is none."""
        address = urlsplit(self.endpoint)
        if address.scheme not in {"http", "https"} or not address.hostname or address.username or address.path.strip("/"):
            raise BenchDataError("MINIO_ENDPOINT must be like http://host:9000, without a path and without a name or password")
        return S3FileSystem(
            access_key=self.access_key,
            secret_key=self.secret_key,
            endpoint_override=address.netloc,
            scheme=address.scheme,
            region=self.region,
            connect_timeout=CONNECT_SECONDS,
            request_timeout=SILENT_SECONDS,
            retry_strategy=AwsStandardS3RetryStrategy(max_attempts=TRIES),
        )


@dataclass(frozen=True, slots=True)
class DatasetLocation:
    """A folder, or with a store a prefix of its bucket, that holds (or shall hold) the three files of a data set."""

    folder: str
    store: ObjectStore | None = None

    def __str__(self) -> str:
        return f"s3://{self.store.bucket}/{self.folder} at {self.store.endpoint}" if self.store else self.folder

    def path_of(self, name: str) -> str:
        """Give the path of one of its files in its file system."""
        inside = f"{self.folder.strip('/')}/{name}" if self.store else str(Path(self.folder).absolute() / name)
        return f"{self.store.bucket}/{inside.lstrip('/')}" if self.store else inside

    def filesystem(self) -> FileSystem:
        """Give what reads and writes there."""
        return self.store.filesystem() if self.store else LocalFileSystem()


class StorageAwayError(BenchDataError):
    """The storage does not answer. What was fetched from it before may be used instead."""


@contextmanager
def named_errors(place: DatasetLocation, filesystem: FileSystem) -> Iterator[None]:
    """Turn what storage raises into BenchDataError that names the place and the remedy, without a word of what was sent."""
    try:
        yield
    except FileNotFoundError as error:
        raise BenchDataError(_absent(place, filesystem)) from error
    except OSError as error:
        raise _translated(place, error) from (error if place.store is None else None)


def _absent(place: DatasetLocation, filesystem: FileSystem) -> str:
    if place.store is not None:
        try:
            bucket = filesystem.get_file_info(place.store.bucket).type
        except OSError as error:
            raise _translated(place, error) from None
        if bucket == FileType.NotFound:
            return NO_BUCKET.format(place, place.store.bucket)
    return (
        f"{place}: a data set has the files {', '.join(FILES)}, and not all of them are there; check S3_DATASETS_PREFIX and "
        "MTEB_DATASET_NAME, or write them with `python -m clara_lab bench pack`"
    )


def _translated(place: DatasetLocation, error: OSError) -> BenchDataError:
    if place.store is None or error.errno is not None:  # errors of the storage library have no number
        where = f" ({error.filename})" if error.filename else ""
        told = error.strerror or type(error).__name__
        return BenchDataError(f"{place}: {told}{where}; is the folder readable and writable, and is there room on the disk?")
    found = _SAID.search(str(error))
    said = found.group(1) if found else "no answer that can be understood"
    if said in _CREDENTIALS:
        return BenchDataError(
            f"{place}: the storage refuses the credentials ({said}); check MINIO_ACCESS_KEY, MINIO_SECRET_KEY and their rights"
        )
    if said == "NO_SUCH_BUCKET":
        return BenchDataError(NO_BUCKET.format(place, place.store.bucket))
    return StorageAwayError(f"{place}: the storage does not answer ({said}); is it running, and is MINIO_ENDPOINT right?")


@dataclass(frozen=True, slots=True)
class LocalCopy:
    """The local files by their names, and how they came: "fetched", "unchanged", or "storage away" (what was there before)."""

    files: dict[str, Path]
    how: str


def fetch(place: DatasetLocation, cache: Path) -> LocalCopy:
    """Give local copies of the files of a place, below the folder `cache`. Raises BenchDataError.

    The storage is asked whether they changed; when it does not answer and whole copies are there, these are given. Each state
    has a folder of its own and gets it when its last byte is written, so a download cut short never counts.
    """
    if place.store is None:
        return LocalCopy({name: Path(place.path_of(name)) for name in FILES}, "local")
    folder = cache / hashlib.sha256(repr((place.store.endpoint, place.path_of(""))).encode()).hexdigest()[:32]
    filesystem = place.filesystem()
    try:
        with named_errors(place, filesystem):
            copy, how = _current(place, filesystem, folder)
    except StorageAwayError:
        kept = next(filter(_is_whole, folder.glob(COPIES)), None)
        if kept is None:
            raise
        copy, how = kept, "storage away"
    return LocalCopy({name: copy / name for name in FILES}, how)


def _current(place: DatasetLocation, filesystem: FileSystem, folder: Path) -> tuple[Path, str]:
    states: list[tuple[str, int, str]] = []
    for name in FILES:
        with filesystem.open_input_file(place.path_of(name)) as opened:
            said = {str(key).casefold(): bytes(value).decode("latin-1") for key, value in opened.metadata().items()}
            states.append((said.get("etag", ""), opened.size(), said.get("last-modified", "")))
    digest = hashlib.sha256(repr(states).encode()).hexdigest()[:16]
    copy = folder / "-".join([digest, *(str(size) for _, size, _ in states)])
    if _is_whole(copy):
        return copy, "unchanged"
    _download(place, filesystem, copy)
    for older in set(folder.glob(COPIES)) - {copy}:  # another process may read it still: POSIX lets it finish
        shutil.rmtree(older, ignore_errors=True)
    return copy, "fetched"


def _is_whole(copy: Path) -> bool:
    """Say whether each file has the size that the folder's name notes for it."""
    sizes = zip(FILES, copy.name.split("-")[1:], strict=True)
    return all((copy / name).is_file() and (copy / name).stat().st_size == int(size) for name, size in sizes)


def _download(place: DatasetLocation, filesystem: FileSystem, copy: Path) -> None:
    copy.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=copy.parent, prefix=".part-") as folder:
        piece = Path(folder) / copy.name
        piece.mkdir()
        for name in FILES:
            copy_files(place.path_of(name), str(piece / name), filesystem, LocalFileSystem(), use_threads=False)
            with (piece / name).open("rb") as written:
                os.fsync(written.fileno())
        if not _is_whole(piece):
            raise BenchDataError(f"{place}: it changed, or not all of it came; try again")
        shutil.rmtree(copy, ignore_errors=True)  # one that was damaged
        piece.rename(copy)
