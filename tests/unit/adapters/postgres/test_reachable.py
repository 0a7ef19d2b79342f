"""Tests of whether another user may enter a folder, which the server needs when we are root."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from clara.adapters.postgres.embedded import reachable_by_others

OPEN, CLOSED, LIST_ONLY, ENTER_ONLY = 0o755, 0o700, 0o744, 0o711


@pytest.fixture
def base() -> Iterator[Path]:
    """A folder that anybody may enter; pytest's own is closed to others."""
    with TemporaryDirectory() as folder:
        Path(folder).chmod(OPEN)
        yield Path(folder)


def make(base: Path, *modes: int) -> Path:
    """Make folders one in another, with these modes, and give the innermost."""
    folders = [base]
    for number in range(len(modes)):
        folders.append(folders[-1] / str(number))
        folders[-1].mkdir()
    for folder, mode in zip(folders[1:], modes, strict=True):
        folder.chmod(mode)
    return folders[-1]


@pytest.mark.parametrize(
    ("modes", "expected"),
    [
        pytest.param((), True, id="the-base-itself"),
        pytest.param((OPEN,), True, id="open"),
        pytest.param((OPEN, OPEN, OPEN), True, id="open-all-the-way"),
        pytest.param((ENTER_ONLY, OPEN), True, id="entering-is-enough"),
        pytest.param((CLOSED,), False, id="closed"),
        pytest.param((OPEN, CLOSED), False, id="closed-at-the-end"),
        pytest.param((CLOSED, OPEN), False, id="closed-on-the-way"),
        pytest.param((OPEN, LIST_ONLY, OPEN), False, id="listing-is-not-enough"),
    ],
)
@pytest.mark.parametrize("below", ["", "not/there/yet"], ids=["itself", "to-be-made"])
def test_reachable(base: Path, modes: tuple[int, ...], expected: bool, below: str) -> None:
    """A place is reachable when every folder there is on the way may be entered; what is to be made does not count."""
    assert reachable_by_others(make(base, *modes) / below) is expected


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o755], ids=oct)
@pytest.mark.parametrize(("folder", "expected"), [(OPEN, True), (CLOSED, False)], ids=["open", "closed"])
def test_file(base: Path, folder: int, expected: bool, mode: int) -> None:
    """Of a file, only the folders that lead to it count."""
    file = make(base, OPEN) / "postgres"
    file.touch(mode)
    file.parent.chmod(folder)
    assert reachable_by_others(file) is expected


def test_root() -> None:
    """The root folder is where everybody starts."""
    assert reachable_by_others(Path("/"))
