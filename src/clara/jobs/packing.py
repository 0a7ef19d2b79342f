"""Data sets of the bench from wherever they lie, and into the Parquet layout: what `clara bench pack` does."""

from collections.abc import Mapping
from pathlib import Path

from clara.adapters.parquet.places import ObjectStore, Place
from clara.adapters.parquet.reading import read_folder
from clara.adapters.parquet.writing import write
from clara.evaluation.bench.assembling import assemble
from clara.evaluation.bench.dataset import BenchData, BenchDataError
from clara.evaluation.bench.formats import PARQUET, read_rows, recognise


def read_source(source: Path, name: str = "", where: Mapping[str, str] | None = None, split: str = "test") -> BenchData:
    """Read a data set from a folder or file of any known format. Raises BenchDataError with all its faults."""
    name = name or source.stem
    if recognise(source) == PARQUET:
        return read_folder(name, source)
    return assemble(name, read_rows(source, where, split))


def place_of(target: str, store: ObjectStore | None = None) -> Place:
    """Read where to write: a folder, or s3://bucket/prefix on the given store. Raises BenchDataError."""
    if not target.startswith("s3://"):
        return Place(target)
    bucket, _, prefix = target.removeprefix("s3://").partition("/")
    if store is None or store.bucket != bucket:
        raise BenchDataError(
            f"{target}: MINIO_BUCKET_NAME must be {bucket or 'the name after s3://'}, with MINIO_ENDPOINT, "
            "MINIO_ACCESS_KEY and MINIO_SECRET_KEY of the storage that has it"
        )
    return Place(prefix.strip("/"), store)


def pack(data: BenchData, target: Place, *, overwrite: bool = False) -> str:
    """Write data in the Parquet layout and give one line that says what is where. Raises BenchDataError."""
    write(data, target, overwrite=overwrite)
    gold = sum(len(question.gold) for question in data.questions)
    return (
        f"{target}: {len(data.documents)} documents, {len(data.questions)} questions, {gold} judgements, digest {data.digest}"
    )
