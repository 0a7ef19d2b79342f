"""The lexical index is right after every change, whoever makes it."""

from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

INSERT = """
insert into passages (corpus, id, collection, document_id, section, heading, text, indexed_text, language, territory, digest,
                      metadata)
values (%(corpus)s, %(id)s, 'c', 'd', 's', '{}', %(text)s, %(text)s, %(language)s, 'ES', '', '{}')
"""
DERIVED = {
    "postings": """
        select p.corpus, l.term, p.pk, l.frequency, sum(l.frequency) over (partition by p.pk)
          from passages p cross join lateral lexemes(p.language, p.indexed_text) l order by 1, 2, 3""",
    "lexicon": "select corpus, term, count(*) from postings group by corpus, term order by 1, 2",
    "corpora": """
        select c.name, (select count(*) from passages p where p.corpus = c.name),
               coalesce((select sum(frequency) from postings p where p.corpus = c.name), 0)
          from corpora c order by 1""",
}
STORED = {
    "postings": "select corpus, term, passage_pk, frequency, length from postings order by 1, 2, 3",
    "lexicon": "select corpus, term, passages from lexicon order by 1, 2",
    "corpora": "select name, passages, terms from corpora order by 1",
}

changes = st.lists(
    st.one_of(
        st.tuples(
            st.just("insert"),
            st.lists(
                st.tuples(
                    st.sampled_from(["uno", "dos"]),
                    st.lists(st.sampled_from(["padrón", "casa", "casas", "NIE", "el", "😀", "住"]), max_size=6),
                    st.sampled_from(["es", "en", "zh"]),
                ),
                min_size=1,
                max_size=4,
            ),
        ),
        st.tuples(st.just("delete"), st.integers(1, 4)),
    ),
    max_size=8,
)


def consistent(connection: psycopg.Connection[Any]) -> None:
    for table, stored in STORED.items():
        assert connection.execute(stored).fetchall() == connection.execute(DERIVED[table]).fetchall(), table


@pytest.fixture
def connection(empty_url: str) -> Any:
    with psycopg.connect(empty_url) as made:
        made.execute("insert into corpora (name) values ('uno'), ('dos')")
        made.commit()
        yield made


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=changes)
def test_any_sequence_of_changes_leaves_the_index_consistent(connection: psycopg.Connection[Any], steps: list[Any]) -> None:
    """Postings, document frequencies and totals always equal what the passages say."""
    number = 0
    for kind, what in steps:
        if kind == "insert":
            rows = []
            for corpus, terms, language in what:
                number += 1
                rows.append({"corpus": corpus, "id": str(number), "text": " ".join(terms), "language": language})
            connection.cursor().executemany(INSERT, rows)
        else:
            connection.execute("delete from passages where pk in (select pk from passages order by md5(id) limit %s)", [what])
        consistent(connection)
    connection.rollback()


def test_changing_an_indexed_text_in_place_is_refused(connection: psycopg.Connection[Any]) -> None:
    """An update of the text would leave stale postings, so it fails loudly."""
    connection.execute(INSERT, {"corpus": "uno", "id": "a", "text": "padrón", "language": "es"})
    with pytest.raises(psycopg.errors.RaiseException, match="never changes in place"):
        connection.execute("update passages set indexed_text = 'otra cosa'")


def test_dropping_a_corpus_takes_its_index_along(connection: psycopg.Connection[Any]) -> None:
    """Deleting the corpus leaves no posting and no term behind."""
    connection.execute(INSERT, {"corpus": "uno", "id": "a", "text": "padrón municipal", "language": "es"})
    connection.execute("delete from corpora where name = 'uno'")
    assert connection.execute("select count(*) from postings").fetchone() == (0,)
    assert connection.execute("select count(*) from lexicon").fetchone() == (0,)


@pytest.mark.parametrize(
    ("language", "text", "terms"),
    [
        pytest.param("es", "años", {"años"}, id="the ñ is kept"),
        pytest.param("es", "empadronarse empadronamiento", {"empadron"}, id="Spanish is stemmed"),
        pytest.param("es", "prestación prestacion", {"prestacion"}, id="accents are folded"),
        pytest.param("uk", "довідка", {"довідка"}, id="no stemmer: lower case only"),
        pytest.param("es", "el de la", set(), id="only stop words"),
    ],
)
def test_terms(connection: psycopg.Connection[Any], language: str, text: str, terms: set[str]) -> None:
    """Texts are cut into the terms of their language."""
    rows: Callable[[], list[Any]] = connection.execute("select term from lexemes(%s, %s)", [language, text]).fetchall
    assert {row[0] for row in rows()} == terms
