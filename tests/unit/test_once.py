"""Tests of building things once."""

import sys
from collections.abc import Callable, Iterator
from threading import Barrier, Thread

import pytest

from clara.once import Once


class Thing:
    """Has one part, which `build` makes."""

    def __init__(self, build: Callable[[], object]) -> None:
        self._build = build

    @Once
    def part(self) -> object:
        """The part."""
        return self._build()


@pytest.fixture
def eager_threads() -> Iterator[None]:
    """Let threads interrupt each other as often as possible."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("eager_threads")
def test_a_part_is_built_once() -> None:
    """However many threads ask at the same moment, a part is built once and all get the same."""
    threads_count, rounds = 8, 100
    built: list[list[object]] = [[] for _ in range(rounds)]

    def build_in(place: int) -> object:
        thing = [number for number in range(50) if number % 2]  # long enough to be interrupted
        built[place].append(thing)
        return thing

    things = [Thing(lambda place=place: build_in(place)) for place in range(rounds)]
    start = Barrier(threads_count)
    got: list[list[object]] = [[] for _ in range(rounds)]

    def work() -> None:
        for place, thing in enumerate(things):
            start.wait()
            got[place].append(thing.part)

    threads = [Thread(target=work) for _ in range(threads_count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [len(parts) for parts in built] == [1] * rounds
    for parts, (part,) in zip(got, built, strict=True):
        assert len(parts) == threads_count
        assert all(each is part for each in parts)


def test_a_part_is_built_late() -> None:
    """Nothing is built before the first use, and a part that is None is built once as well."""
    built: list[int] = []
    thing = Thing(lambda: built.append(1))
    assert built == []
    assert (thing.part, thing.part, built) == (None, None, [1])


def test_a_part_may_be_put_there() -> None:
    """What is assigned stands in the place of what would have been built."""
    thing = Thing(object)
    thing.part = "another"
    assert thing.part == "another"


def test_a_build_that_failed_is_tried_again() -> None:
    """At the next use."""
    tries: list[int] = []

    def build() -> str:
        tries.append(1)
        if len(tries) == 1:
            raise OSError("not yet")
        return "there"

    thing = Thing(build)
    with pytest.raises(OSError, match="not yet"):
        _ = thing.part
    assert thing.part == "there"
