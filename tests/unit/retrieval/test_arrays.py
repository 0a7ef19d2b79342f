"""Tests of reading files of named arrays."""

from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clara.retrieval.arrays import read_arrays

NUMBERS = np.arange(600, dtype=np.float16).reshape(30, 20)


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The bytes of a file with two arrays."""
    file = tmp_path_factory.mktemp("arrays") / "two.npz"
    np.savez_compressed(file, numbers=NUMBERS, words=np.array("año"))
    return file.read_bytes()


def stored(folder: Path, content: bytes) -> Path:
    """Write a file."""
    file = folder / "some.npz"
    file.write_bytes(content)
    return file


def test_read(tmp_path: Path, content: bytes) -> None:
    """Arrays come back by name, as they were."""
    arrays = read_arrays(stored(tmp_path, content))
    assert set(arrays) == {"numbers", "words"}
    assert arrays["numbers"].dtype == np.float16
    assert np.array_equal(arrays["numbers"], NUMBERS)
    assert str(arrays["words"]) == "año"


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"hello", id="text"),
        pytest.param(b"PK\x03\x04", id="beginning-of-an-archive"),
        pytest.param(b"\x93NUMPY\x01\x00", id="bare-array"),
    ],
)
def test_something_else(tmp_path: Path, wrong: bytes) -> None:
    """A file that is no archive is refused by its name."""
    with pytest.raises(ValueError, match=r"some\.npz is damaged"):
        read_arrays(stored(tmp_path, wrong))


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.999])
def test_cut_short(tmp_path: Path, content: bytes, share: float) -> None:
    """A file that was not written to its end is refused by its name."""
    with pytest.raises(ValueError, match=r"some\.npz is damaged"):
        read_arrays(stored(tmp_path, content[: int(len(content) * share)]))


def test_archive_of_something_else(tmp_path: Path) -> None:
    """Python objects are not loaded, because that would run what they say."""
    file = tmp_path / "some.npz"
    np.savez(file, things=np.array([{}], dtype=object))
    with pytest.raises(ValueError, match=r"some\.npz is damaged.*allow_pickle"):
        read_arrays(file)


def test_missing(tmp_path: Path) -> None:
    """A file that is not there is an OSError."""
    with pytest.raises(FileNotFoundError):
        read_arrays(tmp_path / "some.npz")


@given(st.lists(st.tuples(st.integers(0, 10_000), st.integers(1, 255)), min_size=1, max_size=3))
def test_any_damage(tmp_path_factory: pytest.TempPathFactory, content: bytes, wrong: list[tuple[int, int]]) -> None:
    """Whatever bytes are wrong, the numbers come back right or the file is refused; no other error comes out."""
    damaged = bytearray(content)
    for place, change in wrong:
        damaged[place % len(damaged)] ^= change
    file = tmp_path_factory.getbasetemp() / "some.npz"
    file.write_bytes(damaged)
    with suppress(OSError, ValueError):
        assert all(np.array_equal(array, NUMBERS) for name, array in read_arrays(file).items() if name == "numbers")
