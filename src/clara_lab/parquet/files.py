"""Data sets as Parquet of schema v2.0: read as rows from local folders and from what was fetched, and written."""

import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import astuple
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow.fs import FileSystem, FileType, LocalFileSystem, copy_files

from clara_lab.bench.dataset import (
    BenchData,
    BenchDataError,
    BenchDocument,
    BenchQuestion,
    DataFault,
    DataRow,
    Judgement,
    Provenance,
    assemble,
)
from clara_lab.parquet.storage import FILES, DatasetLocation, ObjectStore, fetch, named_errors

CORPUS, QUERIES, QRELS = FILES
# Rows held at once beside what they become. 2,048 passages of HotpotQA are about 1.3 MB.
BATCH_ROWS: Final = 2048

# Columns of schema v2.0: False marks what may be absent or null.
COLUMNS: Final[Mapping[str, Mapping[str, bool]]] = {
    CORPUS: {"doc_id": True, "title": False, "text": True, "parent_id": False},
    QUERIES: {"query_id": True, "text": True, "answer": False, "answer_type": False, "question_type": False, "level": False},
    QRELS: {"query_id": True, "doc_id": True, "relevance": False},
}
# Under this key of a corpus file's metadata `python -m clara_lab bench pack` keeps what is known of where the data come from.
PROVENANCE: Final = b"clara.provenance"
# In it, the digest of the contents of all three files as they were written together.
PACKED: Final = "packed_digest"


def read_store(name: str, store: ObjectStore, prefix: str, cache: Path) -> BenchData:
    """Read the data set `name` below a prefix of a bucket, through the local cache. Raises BenchDataError."""
    place = DatasetLocation(f"{prefix.strip('/')}/{name}".strip("/"), store)
    fetched = fetch(place, cache)
    told = Provenance({"source": str(place), "copy": fetched.how})
    return _assembled(name, told, fetched.files)


def read_folder(name: str, folder: Path) -> BenchData:
    """Read a data set from a local folder. Raises BenchDataError."""
    return _assembled(name, Provenance({"source": str(folder)}), fetch(DatasetLocation(str(folder)), folder).files)


def _assembled(name: str, told: Provenance, files: Mapping[str, Path]) -> BenchData:
    rows = (row for file in FILES for row in read_file(files[file], file))
    data = assemble(name, chain(rows, [told]))  # last, so that where it was read now stands before where it came from once
    if data.origin.get(PACKED, data.digest) != data.digest:
        raise BenchDataError(
            f"data set {name} cannot be used: its files are not of one writing, or were changed since (the digest noted in "
            f"{CORPUS} is another than the contents'); write them again with `python -m clara_lab bench pack`"
        )
    return data


def read_file(file: Path, name: str) -> Iterator[DataRow]:
    """Give the rows of one of the three files, batch by batch; everything that is wrong with it is a row, too."""
    try:
        with pq.ParquetFile(file) as opened:
            faults = list(_schema_faults(name, opened.schema_arrow))
            yield from faults
            if faults:
                return
            if name == CORPUS:
                yield from _provenance(opened.schema_arrow)
            columns = [column for column in COLUMNS[name] if column in opened.schema_arrow.names]
            for batch in opened.iter_batches(BATCH_ROWS, columns=columns, use_threads=False):
                yield from (_made(name, row) for row in batch.to_pylist())
    except FileNotFoundError:
        yield DataFault(str(file), "files that are not there", "a data set has " + ", ".join(FILES))
    except (pa.ArrowException, OSError, ValueError) as error:
        yield DataFault(
            f"{name} ({type(error).__name__})",
            "files that are no whole Parquet",
            "write them again with `python -m clara_lab bench pack`",
        )


def _schema_faults(name: str, schema: pa.Schema) -> Iterator[DataFault]:
    for column, needed in COLUMNS[name].items():
        if column not in schema.names:
            if needed:
                there = ", ".join(schema.names) or "none"
                yield DataFault(f"{name} lacks {column} (it has {there})", "missing columns", "write them as schema v2.0 says")
            continue
        kind = schema.field(column).type
        if not _fits(column, kind.value_type if pa.types.is_dictionary(kind) else kind):
            wanted = "a number" if column == "relevance" else "text"
            yield DataFault(
                f"{name} column {column} is {kind}", f"columns that must be {wanted}", "write them as schema v2.0 says"
            )


def _fits(column: str, kind: pa.DataType) -> bool:
    if pa.types.is_null(kind):  # a column of nothing but nulls
        return True
    if column == "relevance":
        return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind))
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _provenance(schema: pa.Schema) -> Iterator[DataRow]:
    kept = (schema.metadata or {}).get(PROVENANCE)
    if kept is not None:
        try:
            said = json.loads(kept)
            yield Provenance(dict(said["origin"]), bool(said["relative_only"]))
        except (ValueError, KeyError, TypeError) as error:
            yield DataFault(f"{CORPUS} ({type(error).__name__})", "metadata that cannot be read", "write them again")


def _made(name: str, row: Mapping[str, Any]) -> DataRow:
    """Make what a row of a file says; columns stand in the order of the fields."""
    cells: list[Any] = [row.get(column) or "" for column in COLUMNS[name]]
    if name == QRELS:
        return Judgement(cells[0], cells[1], float(row.get("relevance", 1) or 0))
    return BenchDocument(*cells) if name == CORPUS else BenchQuestion(*cells)


SCHEMAS: Final[Mapping[str, pa.Schema]] = {
    name: pa.schema([(column, pa.int32() if column == "relevance" else pa.string()) for column in columns])
    for name, columns in COLUMNS.items()
}


def write(data: BenchData, place: DatasetLocation, *, overwrite: bool = False) -> None:
    """Write the three files, batch by batch. Raises BenchDataError; what is there already stays unless `overwrite`.

    In a folder each file appears when it is complete. In a bucket a file that broke off never becomes an object.
    """
    filesystem = place.filesystem()
    with named_errors(place, filesystem):
        there = [name for name in FILES if filesystem.get_file_info(place.path_of(name)).type != FileType.NotFound]
        if there and not overwrite:
            raise BenchDataError(f"{place}: {', '.join(there)} are there already; choose another place, or allow overwriting")
        if place.store is None:
            Path(place.folder).mkdir(parents=True, exist_ok=True)
        judgements = ((row.id, gold, 1) for row in data.questions for gold in sorted(row.gold))
        for name, rows in (
            (CORPUS, map(astuple, data.documents)),
            (QUERIES, map(astuple, data.questions)),
            (QRELS, judgements),
        ):
            _write_file(filesystem, place.path_of(name), _described(name, data), rows)


def _described(name: str, data: BenchData) -> pa.Schema:
    if name != CORPUS:
        return SCHEMAS[name]
    kept = {"origin": {**data.origin, PACKED: data.digest}, "relative_only": data.relative_only}
    return SCHEMAS[name].with_metadata({PROVENANCE: json.dumps(kept).encode()})


def _write_file(filesystem: FileSystem, path: str, schema: pa.Schema, rows: Iterable[tuple[Any, ...]]) -> None:
    # Whole before it is anywhere that somebody reads from: closing a broken stream would complete a shortened object.
    with tempfile.TemporaryDirectory(prefix="clara-pack-") as folder:
        piece = Path(folder) / "piece.parquet"
        waiting = (dict(zip(schema.names, row, strict=False)) for row in rows)  # a question's gold is in a file of its own
        with pq.ParquetWriter(piece, schema, compression="zstd") as writer:
            while batch := list(islice(waiting, BATCH_ROWS)):
                writer.write_batch(pa.RecordBatch.from_pylist(batch, schema))
        is_local = filesystem.type_name == "local"
        copy_files(str(piece), f"{path}.part" if is_local else path, LocalFileSystem(), filesystem, use_threads=False)
        if is_local:
            filesystem.move(f"{path}.part", path)
