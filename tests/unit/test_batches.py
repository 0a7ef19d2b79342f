"""Tests of reading files of JSON lines: every fault is named with its line, before anything is done."""

from pathlib import Path

import pytest

from clara.data_files import FLAG, MOST_NAMED, TEXT, TEXTS, BatchError, one_of, optional, or_null, read_lines, strangers

FIELDS = {
    "id": TEXT,
    "query": TEXT,
    "turns": optional(TEXTS),
    "route": optional(one_of(["a", "b"])),
    "erase": optional(FLAG),
    "section": optional(or_null(TEXT)),
}


def read(tmp_path: Path, content: bytes) -> list[dict[str, object]]:
    """Read a file of this content."""
    source = tmp_path / "lines.jsonl"
    source.write_bytes(content)
    return read_lines(source, FIELDS)


def faults(tmp_path: Path, content: bytes) -> list[str]:
    """Give the faults of a file of this content, without its name."""
    with pytest.raises(BatchError) as caught:
        read(tmp_path, content)
    return [line.removeprefix(f"{tmp_path / 'lines.jsonl'}:") for line in str(caught.value).splitlines()]


def test_lines(tmp_path: Path) -> None:
    """Each line gives its object, with the fields that nobody asked for; the line break at the end is no line."""
    entries = read(tmp_path, b'{"id": "a", "query": "x", "more": 1}\n{"id": "b", "query": "y", "section": null}\r\n')
    assert entries == [{"id": "a", "query": "x", "more": 1}, {"id": "b", "query": "y", "section": None}]
    assert strangers(entries, FIELDS) == {"more": 1}


def test_without_a_line_break_at_the_end(tmp_path: Path) -> None:
    """The last line counts without a line break."""
    assert len(read(tmp_path, b'{"id": "a", "query": "x"}\n{"id": "b", "query": "x"}')) == 2


@pytest.mark.parametrize(
    ("line", "said"),
    [
        pytest.param(b"", "is empty; remove the line", id="empty"),
        pytest.param(b"  \t", "is empty; remove the line", id="blank"),
        pytest.param(b"hola", "JSONDecodeError", id="not-json"),
        pytest.param(b'{"id": "z", "query": "\xe9"}', "UnicodeDecodeError", id="not-utf-8"),
        pytest.param(b"[" * 100_000, "RecursionError", id="deep"),
        pytest.param(b'["a"]', "must be an object", id="list"),
        pytest.param(b'{"id": "z"}', "lacks 'query'", id="lacking"),
        pytest.param(b'{"id": 1, "query": "x"}', "'id' must be a text", id="number"),
        pytest.param(b'{"id": "a", "query": "x"}', "the id 'a' is that of line 1", id="repeated"),
        pytest.param(b'{"id": "z", "query": "' + b"x" * 100_000 + b'"}', "'query' has 100,000 characters", id="endless"),
        pytest.param(b'{"id": "z", "query": "x", "turns": ["x", 1]}', "'turns' entry 2 must be a text", id="turns"),
        pytest.param(b'{"id": "z", "query": "x", "turns": "x"}', "'turns' must be a list of texts", id="one-turn"),
        pytest.param(b'{"id": "z", "query": "x", "route": "c"}', "'route' 'c' is unknown; use one of a, b", id="route"),
        pytest.param(b'{"id": "z", "query": "x", "erase": 1}', "'erase' must be true or false", id="flag"),
    ],
)
def test_a_bad_line(tmp_path: Path, line: bytes, said: str) -> None:
    """A bad line is named with its number, what is wrong and what to do."""
    [fault] = faults(tmp_path, b'{"id": "a", "query": "x"}\n' + line + b'\n{"id": "b", "query": "x"}\n')
    assert fault.startswith("2: ")
    assert said in fault


def test_all_faults_at_once_and_not_endlessly(tmp_path: Path) -> None:
    """Every bad line is named by one reading; of very many the first ones, and how many more."""
    named = faults(tmp_path, b"x\n" * (MOST_NAMED + 5))
    assert [fault.split(":")[0] for fault in named[:-1]] == [str(number) for number in range(1, MOST_NAMED + 1)]
    assert named[-1] == "and 5 more faults"


def test_no_such_file(tmp_path: Path) -> None:
    """A file that cannot be read is named."""
    with pytest.raises(BatchError, match="cannot be read"):
        read_lines(tmp_path / "none.jsonl", FIELDS)
