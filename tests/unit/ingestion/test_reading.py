"""Tests of reading documents from JSON Lines."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clara.ingestion.chunks import Document
from clara.ingestion.documents import DEEPEST, LONGEST_ID, MOST_FAULTS, UnreadableDocumentsError, read_documents

GOOD = b'{"id": "a", "title": "A", "text": "one"}'


@pytest.fixture(scope="session")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file to write anew."""
    return tmp_path_factory.mktemp("documents") / "documents.jsonl"


def faults(file: Path, content: bytes) -> list[str]:
    """Read a broken file and give the lines of the message, without the folder."""
    file.write_bytes(content)
    with pytest.raises(UnreadableDocumentsError) as caught:
        read_documents(file, language="en")
    return str(caught.value).replace(str(file), file.name).splitlines()


def test_all_fields(file: Path) -> None:
    """Every field of a line is read; those left out have their defaults, the language that of the caller."""
    metadata = {"year": 2020, "open": True, "tags": ["x"], "none": None, "share": 0.5}
    full = {"id": "b", "title": "B", "text": "two", "collection": "law", "language": "es", "metadata": metadata}
    file.write_bytes(b'{"id": "a", "text": "one"}\n' + json.dumps(full).encode())
    assert read_documents(file, language="en") == [
        Document("a", "", "one", "default", "en", {}),
        Document("b", "B", "two", "law", "es", metadata),
    ]


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(GOOD, id="no-line-end"),
        pytest.param(GOOD + b"\n", id="line-end"),
        pytest.param(GOOD + b"\r\n", id="windows"),
        pytest.param(b"\n \n" + GOOD + b"\n\t\r\n\n", id="blank-lines"),
        pytest.param(b"\xef\xbb\xbf" + GOOD, id="byte-order-mark"),
        pytest.param(b"  " + GOOD + b"  ", id="blanks-around"),
    ],
)
def test_ways_to_write_lines(file: Path, content: bytes) -> None:
    """What editors leave around the lines does not matter."""
    file.write_bytes(content)
    assert read_documents(file, language="en") == [Document("a", "A", "one", "default", "en", {})]


def nested(levels: int) -> bytes:
    """Write a document whose metadata is so many levels deep."""
    return b'{"id": "a", "text": "x", "metadata": {"x": ' + b"[" * (levels - 2) + b"1" + b"]" * (levels - 2) + b"}}"


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        pytest.param(b'{"id": "b", "title": "B", "te', "not JSON (Unterminated string", id="half-written"),
        pytest.param(b'{"id": "b", "title": "B"', "may be cut short: write it whole", id="half-written-between"),
        pytest.param(
            '{"id": "b", "text": "año"}'.encode("latin-1"), "not UTF-8 at byte 22; save the file as UTF-8", id="latin"
        ),
        pytest.param('{"id": "b"}'.encode("utf-16"), "not UTF-8 at byte 0; save the file as UTF-8", id="utf-16"),
        pytest.param(b'{"id": "b", "text": "a\x00b"}', "not JSON (Invalid control character", id="nul"),
        pytest.param(rb'{"id": "b", "text": "a\u0000b"}', "no characters; take them out", id="escaped-nul"),
        pytest.param(rb'{"id": "b", "text": "a\ud800b"}', "no characters; take them out", id="half-a-pair"),
        pytest.param(rb'{"id": "b", "text": "x", "metadata": {"k": [{"\u0000": 1}]}}', "take them out", id="nul-in-metadata"),
        pytest.param(
            b'{"id": "b", "text": "x", "metadata": {"k": NaN}}', "number nan, which is not JSON; write null", id="nan"
        ),
        pytest.param(b'{"id": "b", "text": "x", "metadata": {"k": [1e999]}}', "number inf, which is not JSON", id="infinity"),
        pytest.param(b'{"id": "b"}', '\'text\' is missing; write it as "text": "…"', id="no-text"),
        pytest.param(b'{"text": "x"}', "'id' is missing", id="no-id"),
        pytest.param(b'{"id": "b", "text": null}', "'text' is missing", id="null-text"),
        pytest.param(b'{"id": 7, "text": "x"}', "'id' must be a text", id="number-for-id"),
        pytest.param(b'{"id": "b", "text": ["x"]}', "'text' must be a text", id="list-for-text"),
        pytest.param(b'{"id": "b", "text": "x", "title": 7}', "'title' must be a text", id="number-for-title"),
        pytest.param(b'{"id": "b", "text": "x", "collection": false}', "'collection' must be a text", id="collection"),
        pytest.param(b'{"id": "b", "text": "x", "language": 1}', "'language' must be a text", id="language"),
        pytest.param(b'{"id": "b", "text": "x", "metadata": []}', "'metadata' must be an object", id="list-for-metadata"),
        pytest.param(b'{"id": "b", "text": "x", "metadata": null}', "'metadata' must be an object", id="null-metadata"),
        pytest.param(b'{"id": "b", "text": "x", "url": "", "by": ""}', "unknown fields by, url; put what", id="unknown"),
        pytest.param(b'{"id": "b#1", "text": "x"}', "id is 'b#1'; it must not be empty", id="number-sign"),
        pytest.param(b'{"id": " ", "text": "x"}', "id is ' '; it must not be empty", id="blank-id"),
        pytest.param(b'{"id": "%s", "text": "x"}' % (b"b" * 501), f"have over {LONGEST_ID} characters", id="long-id"),
        pytest.param(b"[1]", "must be an object", id="list"),
        pytest.param(b'"text"', "must be an object", id="text"),
        pytest.param(b"null", "must be an object", id="null"),
        pytest.param(b"plain text", "not JSON (Expecting value)", id="plain-text"),
        pytest.param(b"[" * 100_000, f"nested too deeply; at most {DEEPEST} levels are kept", id="bomb"),
        pytest.param(nested(DEEPEST + 1), f"nested too deeply; at most {DEEPEST} levels are kept", id="deep"),
        pytest.param(GOOD, "id 'a' is that of line 1; give each its own", id="repeated"),
    ],
)
def test_each_fault_is_named(file: Path, line: bytes, fault: str) -> None:
    """A fault is named with its line and its remedy, whatever stands in the lines around it."""
    (told,) = faults(file, GOOD + b"\n\n" + line + b"\n" + GOOD.replace(b'"a"', b'"z"'))
    assert told.startswith("documents.jsonl:3: ")
    assert fault in told
    assert ";" in told or "must be an object" in told


def test_as_deep_as_is_kept(file: Path) -> None:
    """Metadata of exactly as many levels as are kept is read."""
    file.write_bytes(nested(DEEPEST))
    assert len(read_documents(file, language="en")) == 1


def test_all_faults_at_once(file: Path) -> None:
    """Every line with a fault is named, in the order of the file."""
    content = b'{"id": "a"}\n' + GOOD + b"\nx\n" + GOOD + b'\n{"id": "b", "te'
    told = faults(file, content)
    assert [fault.split(": ")[0].removeprefix("documents.jsonl:") for fault in told] == ["1", "3", "4", "5"]


@pytest.mark.parametrize(
    ("count", "lines"),
    [
        pytest.param(MOST_FAULTS, MOST_FAULTS, id="as-many-as-are-named"),
        pytest.param(MOST_FAULTS + 1, MOST_FAULTS + 1, id="one-more"),
        pytest.param(5_000, MOST_FAULTS + 1, id="another-kind-of-file"),
    ],
)
def test_very_many_faults_are_counted(file: Path, count: int, lines: int) -> None:
    """Beyond a screenful, faults are counted only."""
    told = faults(file, b"x\n" * count)
    assert len(told) == lines
    assert (told[-1] == f"... and {count - MOST_FAULTS} more") is (count > MOST_FAULTS)


@pytest.mark.parametrize("content", [b"", b"\n\n", b"\xef\xbb\xbf"], ids=["empty", "blank", "only-a-mark"])
def test_no_document(file: Path, content: bytes) -> None:
    """A file without documents is a fault, which says what a line looks like."""
    (told,) = faults(file, content)
    assert told.startswith('documents.jsonl: holds no document; each line must be {"id"')


@pytest.mark.parametrize(("name", "why"), [("", "Is a directory"), ("none.jsonl", "No such file")], ids=["folder", "none"])
def test_what_is_no_file(tmp_path: Path, name: str, why: str) -> None:
    """A folder and a file that is not there are named with the remedy."""
    with pytest.raises(UnreadableDocumentsError, match=f"{why}.*; give a readable file of JSON Lines"):
        read_documents(tmp_path / name, language="en")


texts = st.text(st.characters(codec="utf-8", exclude_characters="\x00"))
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
documents = st.builds(
    Document,
    id=st.text(st.characters(codec="utf-8", exclude_characters="\x00#"), min_size=1).filter(str.strip),
    title=texts,
    text=texts,
    collection=texts,
    language=texts,
    metadata=st.dictionaries(texts, values, max_size=3),
)


@given(st.lists(documents, min_size=1, max_size=4, unique_by=lambda document: document.id), st.booleans(), st.booleans())
def test_what_is_written_is_read(file: Path, wanted: list[Document], plain: bool, windows: bool) -> None:
    """Documents come back as they were written, in their order, whatever they hold."""
    fields = ("id", "title", "text", "collection", "language", "metadata")
    lines = [json.dumps({field: getattr(one, field) for field in fields}, ensure_ascii=plain) for one in wanted]
    file.write_bytes(("\r\n" if windows else "\n").join(lines).encode())
    assert read_documents(file, language="xx") == wanted


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(file: Path, content: bytes) -> None:
    """No file makes reading fail in any other way."""
    file.write_bytes(content)
    with pytest.raises(UnreadableDocumentsError, match=r"documents\.jsonl"):
        read_documents(file, language="en")


@given(st.integers(1, len(GOOD) - 1))
def test_a_line_cut_anywhere_is_noticed(file: Path, kept: int) -> None:
    """A file whose writing was broken off loses no document silently: its last line is named."""
    (told,) = faults(file, GOOD.replace(b'"a"', b'"z"') + b"\n" + GOOD[:kept])
    assert told.startswith("documents.jsonl:2: ")
