"""Tests of links: which passages a text names."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clara.ingestion.links import MOST_LINKS, linked, names_of
from clara.retrieval.names import MOST_CHARACTERS
from clara.retrieval.passage import Passage


def page(name: str, title: str, text: str = "", **metadata: object) -> Passage:
    """Make a passage of a document with a title; without a title it has no heading."""
    return Passage(name, "c", "wiki", name, "", (title,) if title else (), text, "en", metadata=metadata)


def named_by(text: str, *pages: Passage) -> set[str]:
    """Give what a text names of some passages."""
    return {target for source, target in linked([page("text", "", text), *pages]) if source == "text"}


@pytest.mark.parametrize(
    ("passage", "names"),
    [
        pytest.param(page("a", "Mercury"), ["Mercury"], id="title"),
        pytest.param(page("a", "Mercury (planet)"), ["Mercury (planet)", "Mercury"], id="qualifier"),
        pytest.param(page("a", "Live (at) Home"), ["Live (at) Home"], id="brackets-inside"),
        pytest.param(page("a", "Mercury", index=0), ["Mercury"], id="first-piece"),
        pytest.param(page("a", "Mercury", index=1), [], id="later-piece"),
        pytest.param(page("a", ""), [], id="no-title"),
        pytest.param(page("a", "Mercury", names=["Hermes", "Quicksilver"]), ["Hermes", "Quicksilver"], id="given"),
        pytest.param(page("a", "Mercury", names=("Hermes", 7, None)), ["Hermes"], id="only-texts"),
        pytest.param(page("a", "Mercury", names=[]), [], id="none-given"),
        pytest.param(page("a", "Mercury", names="Hermes"), ["Mercury"], id="a-text-is-no-list"),
        pytest.param(page("a", "x" * MOST_CHARACTERS), ["x" * MOST_CHARACTERS], id="longest"),
        pytest.param(page("a", "x" * (MOST_CHARACTERS + 1)), [], id="too-long"),
        pytest.param(page("a", "", names=["y" * (MOST_CHARACTERS + 1), "Hermes"]), ["Hermes"], id="too-long-given"),
    ],
)
def test_names(passage: Passage, names: list[str]) -> None:
    """A passage is called by the names it is given, else by the title of the document it begins."""
    assert names_of(passage) == names


@pytest.mark.parametrize(
    ("text", "title", "says"),
    [
        pytest.param("He lived in New York for years.", "New York", True, id="in-a-sentence"),
        pytest.param("New York", "New York", True, id="all-of-it"),
        pytest.param("he lived in new york", "New York", True, id="several-words-in-small-letters"),
        pytest.param("in New\n  York", "New York", True, id="across-lines"),
        pytest.param("in New Yorkshire", "New York", False, id="begins-a-word"),
        pytest.param("in Anew York", "New York", False, id="ends-a-word"),
        pytest.param("(New York's)", "New York", True, id="punctuation-around"),
        pytest.param("route New York66", "New York", False, id="a-digit-behind"),
        pytest.param("the film Her won", "Her", True, id="one-word"),
        pytest.param("she lost her hat", "Her", False, id="one-word-in-small-letters"),
        pytest.param("SHE LOST HER HAT", "Her", False, id="one-word-in-capitals"),
        pytest.param("the planet Mercury", "Mercury (planet)", True, id="without-its-qualifier"),
        pytest.param("see Mercury (planet).", "Mercury (planet)", True, id="with-its-qualifier"),
        pytest.param("the UK", "UK", False, id="initials"),
        pytest.param("der Fluß an der Großen Straße, Berlin", "Große Straße", False, id="inflected"),
        pytest.param("der Fluß an der Straße in New York", "New York", True, id="behind-letters-that-fold-to-two"),
        pytest.param("an der Straße", "Straße", True, id="name-that-folds-to-more"),
        pytest.param("an der STRASSE", "Straße", False, id="one-word-otherwise-written"),
        pytest.param("an der grossen strasse 1", "Grossen Straße 1", True, id="several-words-otherwise-written"),
        pytest.param("İzmir and İstanbul", "İstanbul", True, id="dotted-capital"),
        pytest.param("İİİ Her", "Her", True, id="capitals-are-seen-behind-them-too"),
        pytest.param("İİİ her", "Her", False, id="small-letters-are-seen-behind-them-too"),
        pytest.param("in A\u0301lava today", "Álava", True, id="otherwise-encoded"),
        pytest.param("زار باريس أمس", "باريس", True, id="arabic"),
        pytest.param("于 北京大学 任教", "北京大学", True, id="chinese-with-blanks"),
        pytest.param("于北京大学任教", "北京大学", False, id="chinese-without-blanks-has-no-whole-words"),
        pytest.param("a \ud800\x00 New York", "New York", True, id="what-is-no-character"),
    ],
)
def test_whole_names_are_links(text: str, title: str, says: bool) -> None:
    """A text names a passage when it says its name as whole words, a single word with the same capitals."""
    assert named_by(text, page("it", title)) == ({"it"} if says else set())


@pytest.mark.parametrize(
    ("text", "targets"),
    [
        pytest.param("New York City", {"city"}, id="the-longest"),
        pytest.param("New York City and New York", {"city", "state"}, id="each-where-it-stands"),
        pytest.param("New York City Hall", {"city", "hall"}, id="overlapping"),
        pytest.param("New York Cityscape", {"state"}, id="the-longer-is-no-whole-word"),
        pytest.param("York City Hall", {"hall"}, id="the-end-of-a-longer-one"),
    ],
)
def test_the_longest_name_is_meant(text: str, targets: set[str]) -> None:
    """A name inside a longer one that is said is not meant."""
    pages = page("city", "New York City"), page("state", "New York"), page("hall", "City Hall")
    assert named_by(text, *pages) == targets


def test_a_passage_does_not_name_itself() -> None:
    """Its own name is no link, and neither is a name inside its own."""
    pages = [page("city", "New York City", "New York City is large."), page("state", "New York", "New York City is in it.")]
    assert linked(pages) == {("state", "city")}


def test_a_name_of_several_means_them_all() -> None:
    """An ambiguous name leads to each that has it, given or by title, once however often it is said."""
    pages = page("planet", "Mercury (planet)"), page("metal", "Quicksilver", names=["Mercury", "mercury"])
    assert named_by("Mercury, Mercury!", *pages) == {"planet", "metal"}
    assert named_by("mercury", *pages) == {"metal"}


def test_only_the_beginning_of_a_document_is_named() -> None:
    """Of a document in pieces, its title leads to the first; every piece may name others."""
    pieces = [page(f"a#{index}", "New York", "in Los Angeles", index=index) for index in range(3)]
    edges = linked([*pieces, page("b", "Los Angeles", "not New York")])
    assert edges == {("a#0", "b"), ("a#1", "b"), ("a#2", "b"), ("b", "a#0")}


@pytest.mark.parametrize("count", [MOST_LINKS, MOST_LINKS + 1, 3 * MOST_LINKS])
def test_a_list_of_everything_links_to_its_beginning(count: int) -> None:
    """A text that names very many passages links to those named first."""
    pages = [page(str(number), f"Page {number}") for number in range(count)]
    text = ", ".join(f"Page {number}" for number in range(count))
    assert named_by(text, *pages) == {str(number) for number in range(MOST_LINKS)}


@pytest.mark.parametrize(
    "pages",
    [[], [page("a", "", "New York")], [page("a", "UK", "UK"), page("b", "", "UK")]],
    ids=["nothing", "no-names", "only-initials"],
)
def test_no_names_no_links(pages: list[Passage]) -> None:
    """Where nothing has a name, nothing is linked."""
    assert linked(pages) == frozenset()


vocabulary = st.sampled_from(["new", "York", "city", "hall", "Große", "İzmir"])


@given(
    st.lists(st.lists(vocabulary, min_size=2, max_size=4).map(tuple), unique=True, max_size=6),
    st.lists(vocabulary, max_size=20),
)
def test_links_are_the_runs_of_words_in_no_longer_run(names: list[tuple[str, ...]], said: list[str]) -> None:
    """The names found in a text are those that comparing each name at each place finds."""
    found = [
        (start, start + len(name), name)
        for name in names
        for start in range(len(said))
        if tuple(said[start : start + len(name)]) == name
    ]
    meant = {
        " ".join(name)
        for start, end, name in found
        if not any((a, b) != (start, end) and a <= start and end <= b for a, b, _ in found)
    }
    pages = [page(" ".join(name), " ".join(name)) for name in names]
    assert named_by(" ".join(said), *pages) == meant


anything = st.text(st.characters(codec=None), max_size=30) | st.sampled_from(["New York", "ß New York", "İ (x)", "\ud800"])


@given(st.lists(st.tuples(anything, anything), max_size=6), st.randoms())
def test_any_corpus_is_linked(contents: list[tuple[str, str]], order: object) -> None:
    """Whatever the texts hold, links lead from one passage to another, whatever the order of the passages."""
    pages = [page(str(number), title, text) for number, (title, text) in enumerate(contents)]
    edges = linked(pages)
    ids = {passage.id for passage in pages}
    assert all(source in ids and target in ids and source != target for source, target in edges)
    shuffled = list(pages)
    order.shuffle(shuffled)  # type: ignore[attr-defined]
    assert linked(shuffled) == edges


@pytest.mark.timeout(10)
def test_long_texts_take_no_longer_than_their_length() -> None:
    """A text of 400,000 characters full of names that overlap is matched at once, and so is a title full of brackets."""
    pages = [page(f"{a}{b}", f"{a} {b}") for a, b in pairwise("abcdefgh")]
    assert len(named_by("a b c d e f g h " * 25_000, *pages)) == 7
    assert named_by("(" * 100_000, page("long", "(" * 100_000), page("blank", " " * 100_000 + "x")) == set()
