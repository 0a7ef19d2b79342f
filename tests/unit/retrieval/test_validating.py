"""Tests of refusing queries that cannot be meant."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from unit_builders import hit_of

from clara.retrieval.passage import Found, Query, Status
from clara.retrieval.validation import FILTER_KEYS, MAX_CHARACTERS, InvalidQueryError, validate, validated

QUERY = Query("who checks the token?", "code")
ANY_TEXT = st.text(st.characters() | st.characters(categories=["Cs"]))  # halves of surrogate pairs, too
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT | st.binary(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.dictionaries(ANY_TEXT | st.integers() | st.sampled_from(sorted(FILTER_KEYS)), inner, max_size=3)
    ),
    max_leaves=6,
)


def refused(**changes):
    with pytest.raises(InvalidQueryError) as caught:
        validate(replace(QUERY, **changes))
    return caught.value


@pytest.mark.parametrize(
    "text",
    [
        "select name from students union select password from users; --",
        "DROP TABLE passages; /* insert, update, delete */",
        "what is the union of two sets?",
        "' or 1=1",
        "n",
        "什么",
        "ما هو",
        "👩‍⚕️",
        "a\x00b",
        "cafe\u0301",
        "x" * MAX_CHARACTERS,
    ],
    ids=ascii,
)
def test_honest_questions_pass(text) -> None:
    """No word, script or symbol is forbidden, and 2,000 characters are allowed."""
    validate(replace(QUERY, text=text))


@pytest.mark.parametrize(
    "text",
    ["", " \n\t", "\u200b\u200d\ufeff", "\u202e\u2066", "\u3164\u2800", "\x00\x07", "\ufe0f\u0301", "\u00ad", "\U000e0041"],
    ids=ascii,
)
def test_a_blank_question_is_refused(text) -> None:
    """A text of which nothing can be seen is blank, whatever it is made of."""
    (fault,) = refused(text=text).faults
    assert fault == f"text is blank ({len(text)} characters, none of them visible); write the question"


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"text": "x" * 2001}, "text has 2001 characters; shorten it to 2000"),
        ({"text": "why\ud800?"}, "text is not valid Unicode; re-encode as UTF-8"),
        ({"text": None}, "text = None is no text; give the question as a string"),
        ({"limit": 0}, "limit = 0; give a whole number from 1 to 100"),
        ({"limit": 101}, "limit = 101; give a whole number from 1 to 100"),
        ({"limit": True}, "limit = True; give a whole number from 1 to 100"),
        ({"limit": 5.0}, "limit = 5.0; give a whole number from 1 to 100"),
        ({"limit": "5"}, "limit = '5'; give a whole number from 1 to 100"),
        ({"limit": 10**5000}, "limit = a very large int; give a whole number from 1 to 100"),
        ({"collections": "curated"}, "collections = 'curated'; give a tuple of names"),
        ({"filters": ["tags"]}, "filters = ['tags']; give a mapping of keys to tuples of values"),
        ({"filters": {"tags": ()}}, "filters[tags] = (); give a tuple of 1 to 20 values"),
        ({"filters": {"tags": "auth"}}, "filters[tags] = 'auth'; give a tuple of 1 to 20 values"),
        (
            {"filters": {"tags": ("x",) * 21}},
            "filters[tags] = ('x', 'x', 'x', 'x', 'x', 'x', ...); give a tuple of 1 to 20 values",
        ),
        ({"filters": {"approved": (True,)}}, "filters[approved] has the value True; give text of at most 200 characters"),
        (
            {"filters": {"tags": ("a", "\udfff")}},
            "filters[tags] has the value '\\udfff', which is not valid Unicode; re-encode as UTF-8",
        ),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else "",
)
def test_each_fault_names_field_value_and_remedy(changes, fault) -> None:
    """What is wrong is told in one sentence that says what would be right."""
    assert refused(**changes).faults == (fault,)


@pytest.mark.parametrize(
    "name", ["", "Code", "-code", "_code", "a b", "code\n", "código", "a" * 64, "x;y", None, 5, "\ud800"], ids=ascii
)
def test_names_are_plain(name) -> None:
    """Corpora and collections have short lower-case names."""
    (corpus,) = refused(corpus=name).faults
    (collection,) = refused(collections=("good", name)).faults
    assert corpus.startswith("corpus = ")
    assert collection.startswith("collections = ")
    assert "give 1 to 63 characters of a-z, 0-9, _ and -" in corpus


@pytest.mark.parametrize("name", ["a", "0", "project_code", "a-b-c", "a" * 63])
def test_usual_names_pass(name) -> None:
    """A name that starts with a letter or a digit and has at most 63 characters passes."""
    validate(replace(QUERY, corpus=name, collections=(name,)))


def test_an_unknown_filter_lists_the_known() -> None:
    """A key that is not on the white list is refused with the keys that are."""
    with pytest.raises(InvalidQueryError, match=r"unknown key 'password'; allowed are source, tags"):
        validate(replace(QUERY, filters={"password": ("x",)}), frozenset({"tags", "source"}))
    with pytest.raises(InvalidQueryError, match=r"unknown key 5; allowed are none"):
        validate(replace(QUERY, filters={5: ("x",)}), frozenset())


def test_every_key_of_the_white_list_passes() -> None:
    """Each allowed key may have up to 20 values of up to 200 characters."""
    validate(replace(QUERY, filters=dict.fromkeys(FILTER_KEYS, ("x" * 200,) * 20)))
    assert len(FILTER_KEYS) == 13


def test_all_faults_are_told_at_once() -> None:
    """A query with several faults has each of them in one message."""
    error = refused(text="", corpus="?", limit=0, collections=("A", "b", "C"), filters={"x": (), "tags": (1,)})
    fields = ["text", "limit", "corpus", "collections", "collections", "filters", "filters[tags]"]
    assert [fault.split()[0] for fault in error.faults] == fields
    assert str(error) == "; ".join(error.faults)


def test_the_question_is_never_quoted() -> None:
    """Messages are logged, so the text of a question is in none of them."""
    secret = "my number is 600123456 "
    assert "600123456" not in str(refused(text=secret * 100))
    assert "600123456" not in str(refused(text=secret + "\ud800"))


@given(text=ANYTHING, corpus=ANYTHING, limit=ANYTHING, collections=ANYTHING, filters=ANYTHING)
def test_nothing_else_is_raised(text, corpus, limit, collections, filters) -> None:
    """Whatever the fields hold, a query passes or is refused with a message that can be written as UTF-8."""
    faults = None
    try:
        validate(replace(QUERY, text=text, corpus=corpus, limit=limit, collections=collections, filters=filters))
    except InvalidQueryError as error:
        faults = error.faults
    assert faults is None or (faults and "; ".join(faults).encode())


@given(text=ANY_TEXT, value=ANY_TEXT, limit=st.integers(1, 100))
def test_what_passes_can_be_written(text, value, limit) -> None:
    """A query that passes holds only text that UTF-8 can carry."""
    query = replace(QUERY, text=text, limit=limit, filters={"tags": (value,)})
    try:
        validate(query)
    except InvalidQueryError:
        return
    assert text.strip()
    assert [part.encode().decode() for part in (text, value)] == [text, value]


def test_only_valid_queries_are_retrieved() -> None:
    """The wrapped retriever sees what passes, and gives its own answer; what does not pass never reaches it."""
    asked = []
    found = Found(Status.FOUND, "index", (hit_of(),))

    def retrieve(query):
        asked.append(query)
        return found

    checked = validated(retrieve, frozenset({"tags"}))
    assert checked(replace(QUERY, filters={"tags": ("a",)})) is found
    with pytest.raises(ValueError, match="unknown key 'source'"):
        checked(replace(QUERY, filters={"source": ("a",)}))
    assert len(asked) == 1
