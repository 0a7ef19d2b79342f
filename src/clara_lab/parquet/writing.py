"""Writing a data set as Parquet of schema v2.0, into a folder or below a prefix of a bucket."""

import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow.fs import FileSystem, FileType, LocalFileSystem, copy_files

from clara_lab.bench.dataset import BenchData, BenchDataError, BenchQuestion
from clara_lab.parquet.places import FILES, DatasetLocation, named_errors
from clara_lab.parquet.reading import BATCH_ROWS, CORPUS, PACKED, PROVENANCE, QRELS, QUERIES

TEXT: Final = pa.string()
SCHEMAS: Final[Mapping[str, pa.Schema]] = {
    CORPUS: pa.schema([("doc_id", TEXT), ("title", TEXT), ("text", TEXT), ("parent_id", TEXT)]),
    QUERIES: pa.schema(
        [(name, TEXT) for name in ("query_id", "text", "answer", "answer_type", "question_type", "level")]
    ),
    QRELS: pa.schema([("query_id", TEXT), ("doc_id", TEXT), ("relevance", pa.int32())]),
}  # fmt: skip


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
        for name, rows in (
            (CORPUS, ((row.id, row.title, row.text, row.parent) for row in data.documents)),
            (QUERIES, (_question(row) for row in data.questions)),
            (QRELS, ((row.id, gold, 1) for row in data.questions for gold in sorted(row.gold))),
        ):
            _write_file(filesystem, place.path_of(name), _described(name, data), rows)


def _question(row: BenchQuestion) -> tuple[str, ...]:
    return (row.id, row.text, row.answer, row.answer_type, row.question_type, row.level)


def _described(name: str, data: BenchData) -> pa.Schema:
    if name != CORPUS:
        return SCHEMAS[name]
    kept = {"origin": {**data.origin, PACKED: data.digest}, "relative_only": data.relative_only}
    return SCHEMAS[name].with_metadata({PROVENANCE: json.dumps(kept).encode()})


def _write_file(filesystem: FileSystem, path: str, schema: pa.Schema, rows: Iterable[tuple[Any, ...]]) -> None:
    # Whole before it is anywhere that somebody reads from: closing a broken stream would complete a shortened object.
    with tempfile.TemporaryDirectory(prefix="clara-pack-") as folder:
        piece = Path(folder) / "piece.parquet"
        with pq.ParquetWriter(piece, schema, compression="zstd") as writer:
            for batch in _batches(rows):
                columns = zip(*batch, strict=True)
                arrays = [pa.array(values, field.type) for values, field in zip(columns, schema, strict=True)]
                writer.write_batch(pa.record_batch(arrays, schema=schema))
        is_local = filesystem.type_name == "local"
        copy_files(str(piece), f"{path}.part" if is_local else path, LocalFileSystem(), filesystem, use_threads=False)
        if is_local:
            filesystem.move(f"{path}.part", path)


def _batches(rows: Iterable[tuple[Any, ...]]) -> Iterator[list[tuple[Any, ...]]]:
    waiting = iter(rows)
    while batch := list(islice(waiting, BATCH_ROWS)):
        yield batch
