"""Tests of what is asked of a server, and of how its address is read. No server is needed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clara.adapters.postgres.connections import UnsuitableServerError, lacking, open_engine, plain_url


@pytest.mark.parametrize(
    ("server", "pgvector"),
    [
        pytest.param(160_000, "0.8.0", id="oldest-of-both"),
        pytest.param(160_000, "0.8", id="two-parts"),
        pytest.param(160_011, "0.8.1", id="newer-release"),
        pytest.param(180_001, "0.10.0", id="ten-is-more-than-eight"),
        pytest.param(190_000, "1.0.0", id="next-version"),
        pytest.param(180_000, "1", id="one-part"),
        pytest.param(180_000, "0.8.0-dev", id="built-from-source"),
    ],
)
def test_nothing_lacking(server: int, pgvector: str) -> None:
    """PostgreSQL 16 with pgvector 0.8, and whatever is newer, will do."""
    assert lacking(server, pgvector) is None


@pytest.mark.parametrize(
    ("server", "pgvector", "said"),
    [
        pytest.param(159_999, "0.8.0", "PostgreSQL 15;", id="one-version-too-old"),
        pytest.param(90_600, "0.8.0", "PostgreSQL 9;", id="very-old"),
        pytest.param(0, "0.8.0", "PostgreSQL 0;", id="not-told"),
        pytest.param(150_000, None, "PostgreSQL 15;", id="the-server-comes-first"),
        pytest.param(160_000, None, "has no pgvector;", id="no-pgvector"),
        pytest.param(180_000, "0.7.4", "has pgvector 0.7.4;", id="pgvector-too-old"),
        pytest.param(180_000, "0.5", "has pgvector 0.5;", id="pgvector-much-too-old"),
        pytest.param(180_000, "0", "has pgvector 0;", id="pgvector-zero"),
    ],
)
def test_lacking(server: int, pgvector: str | None, said: str) -> None:
    """What is too old or missing is named together with what is needed and the way out."""
    fault = lacking(server, pgvector)
    assert fault is not None
    assert said in fault
    assert "or newer" in fault
    assert "unset RAG_DB_URL" in fault


@given(st.integers(0, 300_000), st.none() | st.tuples(st.integers(0, 3), st.integers(0, 20), st.integers(0, 9)))
def test_any_server(server: int, version: tuple[int, int, int] | None) -> None:
    """A server will do exactly when both versions are new enough."""
    offered = ".".join(map(str, version)) if version else None
    enough = server >= 160_000 and version is not None and version >= (0, 8, 0)
    assert (lacking(server, offered) is None) is enough


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        pytest.param("postgresql://u:p@h:5432/d", "postgresql://u:p@h:5432/d", id="as-it-is"),
        pytest.param("postgres://u:p@h/d", "postgresql://u:p@h/d", id="short-scheme"),
        pytest.param("postgresql+psycopg://u:p@h/d", "postgresql://u:p@h/d", id="our-driver"),
        pytest.param("postgresql+psycopg2://h/d", "postgresql://h/d", id="older-driver"),
        pytest.param("postgresql+asyncpg://h/d", "postgresql://h/d", id="other-driver"),
        pytest.param("postgresql://u:p%40ss%2Fw@h/d", "postgresql://u:p%40ss%2Fw@h/d", id="signs-in-the-password"),
        pytest.param("postgresql://u:p@h/d?sslmode=require", "postgresql://u:p@h/d?sslmode=require", id="option"),
        pytest.param("postgresql://[::1]:5433/d", "postgresql://[::1]:5433/d", id="ipv6"),
        pytest.param("postgresql:///d?host=/run/pg", "postgresql:///d?host=%2Frun%2Fpg", id="socket"),
        pytest.param("postgresql://postgres@/d?host=/run/pg", "postgresql://postgres@/d?host=%2Frun%2Fpg", id="embedded"),
    ],
)
def test_plain_url(url: str, expected: str) -> None:
    """The address is written as libpq reads it, with nothing lost but the driver."""
    assert plain_url(url) == expected
    assert plain_url(expected) == expected


@pytest.mark.parametrize(
    "url", ["postgres://u:p@h/d", "postgresql://u:p@h/d", "postgresql+psycopg2://u:p@h/d", "postgresql+asyncpg://u:p@h/d"]
)
def test_engine_uses_our_driver(url: str) -> None:
    """Whatever driver the address names, ours is used, and nothing is connected yet."""
    engine = open_engine(url)
    assert engine.url.drivername == "postgresql+psycopg"
    assert (engine.url.host, engine.url.database, engine.url.password) == ("h", "d", "p")


@pytest.mark.parametrize("use", [plain_url, open_engine], ids=["plain_url", "open_engine"])
@pytest.mark.parametrize(
    ("url", "said"),
    [
        pytest.param("", "is not a database URL", id="blank"),
        pytest.param("clara", "is not a database URL", id="word"),
        pytest.param("host=h dbname=d", "is not a database URL", id="keywords"),
        pytest.param("mysql://u:s3cret@h/d", "names 'mysql'", id="mysql"),
        pytest.param("sqlite:///d.db", "names 'sqlite'", id="sqlite"),
        pytest.param("https://u:s3cret@h/d", "names 'https'", id="web-address"),
    ],
)
def test_unsuitable_url(use: object, url: str, said: str) -> None:
    """An address of something else is refused with an example of a right one, and no password is repeated."""
    with pytest.raises(UnsuitableServerError) as caught:
        use(url)
    assert said in str(caught.value)
    assert "postgresql://user:password@host:5432/database" in str(caught.value)
    assert "s3cret" not in str(caught.value)
