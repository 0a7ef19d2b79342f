"""Tests of data sets in Parquet, in folders and on real S3 servers on this machine, with what can go wrong there."""

import logging
import socket
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from moto.server import ThreadedMotoServer
from pyarrow.fs import S3FileSystem

from clara_lab.bench.dataset import BenchData, BenchDataError, BenchDocument, BenchQuestion, assemble
from clara_lab.parquet.files import read_folder, read_store, write
from clara_lab.parquet.storage import FILES, DatasetLocation, ObjectStore

N = 3000  # more rows than one batch
DATA = assemble(
    "numbers",
    [BenchDocument(f"d{number}", f"No {number}", f"\u2028Of {number}.", "d0" if number == 1 else "") for number in range(N)]
    + [
        BenchQuestion("q1", "Which?", "one", "", "bridge", "hard", frozenset({"d1", "d2"})),
        BenchQuestion("q2", "Is it?", "yes", "", "comparison", "easy", frozenset({"d3"})),
        BenchQuestion("q3", "Unanswered?", gold=frozenset({"d4"})),
    ],
)  # fmt: skip
PREFIX = "datasets/evaluation"


@pytest.fixture
def server() -> Iterator[ThreadedMotoServer]:
    """An S3 server with the bucket `lake`."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    served = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    served.start()
    # What moto holds is of the process, not of the server.
    urllib.request.urlopen(urllib.request.Request(f"{store_of(served).endpoint}/moto-api/reset", method="POST")).close()
    raw(store_of(served)).create_dir("lake")
    yield served
    served.stop()


def store_of(server: ThreadedMotoServer) -> ObjectStore:
    host, port = server.get_host_and_port()
    return ObjectStore(f"http://{host}:{port}", "lake", "the-access-key", "the-secret-key")


def raw(store: ObjectStore) -> S3FileSystem:
    address = store.endpoint.removeprefix("http://")
    return S3FileSystem(
        access_key="a", secret_key="b", endpoint_override=address, scheme="http", region="us-east-1", allow_bucket_creation=True
    )


def place_of(store: ObjectStore) -> DatasetLocation:
    return DatasetLocation(f"{PREFIX}/numbers", store)


def put(store: ObjectStore, name: str, content: bytes) -> None:
    with raw(store).open_output_stream(f"lake/{PREFIX}/numbers/{name}") as stream:
        stream.write(content)


def table(folder: Path, name: str, **columns: Any) -> None:
    pq.write_table(pa.table(columns), folder / name)


def refused(read: Any, *parts: str) -> None:
    with pytest.raises(BenchDataError) as told:
        read()
    for part in parts:
        assert part in str(told.value)
    assert "the-access-key" not in repr(told.value)
    assert "the-secret-key" not in repr(told.value)


def same(read: BenchData) -> None:
    assert (read.documents, read.questions, read.digest) == (DATA.documents, DATA.questions, DATA.digest)


def test_a_folder_and_a_bucket_read_the_same(server: ThreadedMotoServer, tmp_path: Path) -> None:
    """What was packed into a folder or a bucket comes back whole, with its provenance."""
    store = store_of(server)
    marked = replace(DATA, relative_only=True, origin={**DATA.origin, "format": "hotpotqa"})
    write(marked, place_of(store))
    write(marked, DatasetLocation(str(tmp_path / "numbers")))
    stored = read_store("numbers", store, PREFIX, tmp_path / "cache")
    local = read_folder("numbers", tmp_path / "numbers")
    same(stored)
    same(local)
    assert stored.relative_only
    assert (stored.origin["format"], stored.origin["copy"], local.origin["format"]) == ("hotpotqa", "fetched", "hotpotqa")
    assert stored.origin["questions_without_answer"] == 1


def test_the_copy_is_used_until_the_data_change(server: ThreadedMotoServer, tmp_path: Path) -> None:
    """Nothing is fetched twice; what changed is fetched, and the old copy goes; while the server is away the copy does."""
    store = store_of(server)
    place = place_of(store)
    write(DATA, place)
    copies = [read_store("numbers", store, PREFIX, tmp_path).origin["copy"] for _ in range(2)]
    assert copies == ["fetched", "unchanged"]
    fewer = assemble("numbers", [*DATA.documents, *DATA.questions[:2]])
    write(fewer, place, overwrite=True)
    again = read_store("numbers", store, PREFIX, tmp_path)
    assert (again.digest, again.origin["copy"]) == (fewer.digest, "fetched")
    assert len(list(tmp_path.rglob("*.parquet"))) == 3
    server.stop()
    away = read_store("numbers", store, PREFIX, tmp_path)
    assert (away.digest, away.origin["copy"]) == (fewer.digest, "storage away")
    server.start()  # so that it can be stopped


def test_a_copy_that_is_not_whole_never_counts(server: ThreadedMotoServer, tmp_path: Path) -> None:
    """A damaged copy is fetched again; while the server is away it is no substitute."""
    store = store_of(server)
    write(DATA, place_of(store))
    read_store("numbers", store, PREFIX, tmp_path)
    copy = next(tmp_path.rglob("corpus.parquet"))
    copy.write_bytes(copy.read_bytes()[:100])
    mended = read_store("numbers", store, PREFIX, tmp_path)
    assert mended.origin["copy"] == "fetched"
    same(mended)
    copy.unlink()
    server.stop()
    refused(lambda: read_store("numbers", store, PREFIX, tmp_path), "does not answer (NETWORK_CONNECTION)", "MINIO_ENDPOINT")
    server.start()


def test_what_is_not_there_is_named(server: ThreadedMotoServer, tmp_path: Path) -> None:
    """A missing bucket, data set and file are told apart."""
    store = store_of(server)
    other = replace(store, bucket="nobody")
    refused(lambda: read_store("numbers", other, PREFIX, tmp_path), "the bucket nobody does not exist", "MINIO_BUCKET_NAME")
    refused(lambda: write(DATA, DatasetLocation("x", other)), "the bucket nobody does not exist")
    refused(lambda: read_store("numbers", store, PREFIX, tmp_path), "corpus.parquet, queries.parquet", "S3_DATASETS_PREFIX")
    refused(lambda: read_folder("x", tmp_path / "none"), "files that are not there", "corpus.parquet", "qrels.parquet")
    for endpoint in ("127.0.0.1:9000", "http://me:secret@host", "http://host/path", "http://"):
        refused(replace(store, endpoint=endpoint).filesystem, "MINIO_ENDPOINT must be like http://host:9000")


def test_what_was_written_is_not_lost(server: ThreadedMotoServer, tmp_path: Path) -> None:
    """Writing where a data set is already needs saying so, in a folder as in a bucket."""
    for place in (DatasetLocation(str(tmp_path / "n")), DatasetLocation("n", store_of(server))):
        write(DATA, place)
        refused(lambda place=place: write(DATA, place), "are there already")
        write(DATA, place, overwrite=True)


def test_a_shortened_object_is_no_whole_parquet(server: ThreadedMotoServer, tmp_path: Path) -> None:
    """An object cut short in the bucket is named; so is one that is something else."""
    store = store_of(server)
    write(DATA, DatasetLocation(str(tmp_path / "n")))
    for name in FILES:
        put(store, name, (tmp_path / "n" / name).read_bytes())
    put(store, "corpus.parquet", (tmp_path / "n" / "corpus.parquet").read_bytes()[:-200])
    put(store, "qrels.parquet", b"<html>")
    refused(
        lambda: read_store("numbers", store, PREFIX, tmp_path / "cache"),
        "files that are no whole Parquet: corpus.parquet (ArrowInvalid), qrels.parquet (ArrowInvalid)",
    )


@contextmanager
def refusing(code: str) -> Iterator[ObjectStore]:
    """Serve an S3 that refuses everything, as it does for wrong keys."""

    class Refusing(BaseHTTPRequestHandler):
        def answer(self) -> None:
            body = f"<Error><Code>{code}</Code><Message>No.</Message><AWSAccessKeyId>the-access-key</AWSAccessKeyId></Error>"
            self.send_response(403)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body.encode())

        do_GET = do_HEAD = do_PUT = do_POST = answer  # noqa: N815

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Refusing) as served:
        threading.Thread(target=served.serve_forever, daemon=True).start()
        yield ObjectStore(f"http://127.0.0.1:{served.server_port}", "lake", "the-access-key", "the-secret-key")
        served.shutdown()


@contextmanager
def breaking_off(size: int) -> Iterator[ObjectStore]:
    """Serve an S3 that promises `size` bytes of every object and drops the connection after some."""

    class BreakingOff(BaseHTTPRequestHandler):
        def answer(self) -> None:
            self.send_response(206 if "Range" in self.headers else 200)
            self.send_header("Content-Length", str(size))
            self.send_header("ETag", '"e"')
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(b"PAR1" * 10)

        do_GET = do_HEAD = answer  # noqa: N815

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), BreakingOff) as served:
        threading.Thread(target=served.serve_forever, daemon=True).start()
        yield ObjectStore(f"http://127.0.0.1:{served.server_port}", "lake", "the-access-key", "the-secret-key")
        served.shutdown()


def test_a_download_cut_short_leaves_nothing(tmp_path: Path) -> None:
    """When the connection drops in the middle of an object, that is told, and no file is left that could be taken for it."""
    with breaking_off(100_000) as store:
        refused(lambda: read_store("numbers", store, PREFIX, tmp_path), "s3://lake/")
    assert [file for file in tmp_path.rglob("*") if file.is_file()] == []


@pytest.mark.parametrize("code", ["InvalidAccessKeyId", "SignatureDoesNotMatch", "AccessDenied"])
def test_wrong_credentials_are_told_without_repeating_them(code: str, tmp_path: Path) -> None:
    """Reading and writing name the settings to check; no key is in the message, nor in the store's representation."""
    with refusing(code) as store:
        refused(lambda: read_store("numbers", store, PREFIX, tmp_path), "refuses the credentials", "MINIO_ACCESS_KEY")
        refused(lambda: write(DATA, DatasetLocation("n", store)), "refuses the credentials")
    assert "the-" not in repr(store)


def test_a_server_that_is_away_is_told(tmp_path: Path) -> None:
    """Without a copy the message names the endpoint."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        store = ObjectStore(f"http://127.0.0.1:{taken.getsockname()[1]}", "lake", "the-access-key", "the-secret-key")
        refused(lambda: read_store("numbers", store, PREFIX, tmp_path), "does not answer (NETWORK_CONNECTION)", store.endpoint)


def test_a_folder_that_cannot_be_written_is_not_the_servers_fault(server: ThreadedMotoServer, tmp_path: Path) -> None:
    """A cache below a file is told as such."""
    store = store_of(server)
    write(DATA, place_of(store))
    (tmp_path / "file").touch()
    refused(lambda: read_store("numbers", store, PREFIX, tmp_path / "file"), "Not a directory", "is the folder readable")


def test_every_fault_of_a_folder_is_told_at_once(tmp_path: Path) -> None:
    """Missing columns, wrong types and, when these are right, rows that do not belong together."""
    table(tmp_path, "corpus.parquet", doc_id=[1, 2], text=["a", "b"])
    table(tmp_path, "queries.parquet", query_id=["q1"], question=["?"])
    table(tmp_path, "qrels.parquet", query_id=["q1"], doc_id=["d1"], relevance=["high"])
    refused(
        lambda: read_folder("x", tmp_path),
        "columns that must be text: corpus.parquet column doc_id is int64;",
        "columns that must be a number: qrels.parquet column relevance is string;",
        "missing columns: queries.parquet lacks text (it has query_id, question);",
    )
    table(tmp_path, "corpus.parquet", doc_id=["d1", "d1", None], text=["a", None, "c"])
    table(tmp_path, "queries.parquet", query_id=["q1"], text=[None], answer=[None])
    table(tmp_path, "qrels.parquet", query_id=["q1", "q7"], doc_id=["d9", "d1"])
    refused(
        lambda: read_folder("x", tmp_path),
        "document ids given twice: d1;", "a document without an id", "questions without text: q1;",
        "judgements of absent documents: d9 (of question q1);", "judgements of absent questions: q7;",
    )  # fmt: skip


def test_files_of_two_writings_are_refused(tmp_path: Path) -> None:
    """When the questions are another pack's, the digest says so."""
    write(DATA, DatasetLocation(str(tmp_path / "a")))
    write(assemble("numbers", [*DATA.documents, *DATA.questions[1:]]), DatasetLocation(str(tmp_path / "b")))
    for name in FILES[1:]:
        (tmp_path / "b" / name).replace(tmp_path / "a" / name)
    refused(lambda: read_folder("x", tmp_path / "a"), "not of one writing")


def test_other_writers_of_parquet_are_read(tmp_path: Path) -> None:
    """Only the needed columns, dictionary and large strings, grades as numbers: 0 is no answer."""
    table(
        tmp_path,
        "corpus.parquet",
        doc_id=pa.array(["d1", "d2"], pa.large_string()),
        text=pa.array(["a", "b"]).dictionary_encode(),
    )
    table(tmp_path, "queries.parquet", query_id=["q1"], text=["?"], level=pa.array([None], pa.null()))
    table(tmp_path, "qrels.parquet", query_id=["q1", "q1"], doc_id=["d1", "d2"], relevance=[2.0, 0.0])
    data = read_folder("x", tmp_path)
    assert data.questions == (BenchQuestion("q1", "?", gold=frozenset({"d1"})),)
    assert data.documents == (BenchDocument("d1", "", "a"), BenchDocument("d2", "", "b"))
