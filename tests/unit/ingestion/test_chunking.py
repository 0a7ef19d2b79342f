"""Tests of cutting documents into passages."""

import re
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from clara.adapters.models.local import LocalTokenCounter
from clara.ingestion.chunks import Chunk, ChunkingError, Cutting, Document, Strategy, chunk, outline, passages_of_document
from clara.ingestion.journey import plan_changes
from clara.ingestion.ports import StoredDigests

COUNTER = LocalTokenCounter()
GUIDE = """Antes de empezar.

# Padrón

Inscribirse es gratis. Se pide cita en el ayuntamiento.

## Plazos

El certificado tarda diez días. Vale tres meses.

```
# no es un título
```

### Urgencias ##

Hay un turno de urgencia.

Tasas
-----

No hay tasa.

# Empadronamiento colectivo

Lo pide quien dirige el centro.
"""
DOCUMENT = Document("padron", "Guía", GUIDE, "comun", "es", {"source": "https://sede.example", "index": 99})
CUTTING = st.sampled_from(["recursive", "fixed"])
# Words, numbers and marks with every kind of break between them, and any characters at all.
PROSE = st.lists(
    st.sampled_from(
        [
            "casa",
            "El ",
            "trámite. ",
            "1.234,56 €",
            "art. 21",
            "\n",
            "\n\n",
            "\r\n",
            "  ",
            "👨‍👩‍👧",
            "空",
            "é",
            "# Uno\n",
            "x" * 50,
            " développement",
            " " * 9,
        ]
    ),
    max_size=120,
).map("".join)
ANY = st.text(st.characters(codec=None), max_size=300)


class Characters:
    """Counts a token for each character, so that a test can tell sizes at a glance."""

    name = "characters"

    def count(self, text: str) -> int:
        """Count."""
        return len(text)


class Eighths:
    """Counts a token for each eight characters, and how many characters it was asked to count."""

    name = "eighths"

    def __init__(self) -> None:
        self.counted = 0

    def count(self, text: str) -> int:
        """Count."""
        self.counted += len(text)
        return -(-len(text) // 8)


def texts(text: str, strategy: Strategy = "recursive", size: int = 20, overlap: int = 0) -> list[str]:
    return [piece.text for piece in chunk(text, counter=Characters(), cutting=Cutting(strategy, size, overlap))]


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        pytest.param("uno dos tres.\n\ncuatro cinco.", ["uno dos tres.", "cuatro cinco."], id="paragraphs"),
        pytest.param("uno dos tres\ncuatro cinco", ["uno dos tres", "cuatro cinco"], id="lines"),
        pytest.param("Uno dos tres. Cuatro cinco.", ["Uno dos tres.", "Cuatro cinco."], id="sentences"),
        pytest.param("uno dos tres cuatro cinco", ["uno dos tres cuatro", "cinco"], id="words"),
        pytest.param("a" * 45, ["a" * 20, "a" * 20, "a" * 5], id="characters"),
        pytest.param("cafe\u0301" * 5, ["cafe\u0301" * 4, "cafe\u0301"], id="characters with their accents"),
        pytest.param("uno\n\ndos\ntres", ["uno\n\ndos\ntres"], id="all that fits stays together"),
    ],
)
def test_recursive_cuts_at_the_greatest_break_that_fits(text: str, pieces: list[str]) -> None:
    """Paragraphs first, then lines, sentences, words, and characters last."""
    assert texts(text) == pieces


@pytest.mark.parametrize(
    ("text", "overlap", "pieces"),
    [
        pytest.param("uno\ndos\ntres\ncuatro\ncinco\nseis", 0, ["uno\ndos\ntres\ncuatro", "cinco\nseis"], id="packed"),
        pytest.param(
            "uno\ndos\ntres\ncuatro\ncinco\nseis", 6, ["uno\ndos\ntres\ncuatro", "cuatro\ncinco\nseis"], id="one line again"
        ),
        pytest.param(
            "uno dos. tres\ncuatro cinco seis", 5, ["uno dos. tres", "cuatro cinco seis"], id="no part of a line again"
        ),
        pytest.param("sí\n" + "abcde " * 5, 0, ["sí\nabcde abcde abcde", "abcde abcde"], id="a line too long for itself"),
        pytest.param("uno\n\n\n\n" + " " * 30 + "\ndos", 0, ["uno", "dos"], id="blanks are no content"),
        pytest.param(
            "a" * 10 + "\n" + "b" * 9 + "\n" + "c" * 15, 9, ["a" * 10 + "\n" + "b" * 9, "c" * 15], id="no overlap without room"
        ),
    ],
)
def test_fixed_packs_lines(text: str, overlap: int, pieces: list[str]) -> None:
    """Lines fill a chunk up to its size; whole lines come again in the next as far as the overlap goes."""
    assert texts(text, "fixed", overlap=overlap) == pieces


def test_none_keeps_the_text_whole() -> None:
    """One chunk, whatever the size, without the blanks around it."""
    assert chunk("\n uno dos \n", counter=COUNTER, cutting=Cutting("none", 1, 0)) == [Chunk("uno dos", 0, 1, (), 2, 9)]


@pytest.mark.parametrize("strategy", ["recursive", "fixed", "none"])
@pytest.mark.parametrize("text", ["", " \n\t\n", "\xa0\u2003"], ids=ascii)
def test_a_blank_text_gives_nothing(strategy: Strategy, text: str) -> None:
    """There is nothing to find in blanks."""
    assert chunk(text, counter=COUNTER, cutting=Cutting(strategy)) == []


def test_blanks_behind_a_chunk_do_not_repeat_it() -> None:
    """A chunk that would be the end of the one before and blanks is left out."""
    assert texts("\n\nuno\n\n", size=6, overlap=3) == ["uno"]


def test_recursive_repeats_the_end_of_the_chunk_before() -> None:
    """The overlap is whole words of the neighbour."""
    assert texts("uno dos tres cuatro cinco seis", overlap=7) == ["uno dos tres cuatro", "cuatro cinco seis"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        pytest.param({"size": 0, "overlap": 0}, "size is 0 tokens; it must be 1 or more", id="no size"),
        pytest.param({"size": 50}, "overlap is 50 tokens; it must be 0 or more and below the size, 50", id="all overlap"),
        pytest.param({"overlap": -1}, "overlap is -1 tokens", id="negative overlap"),
        pytest.param(
            {"strategy": "semantic"}, "strategy is 'semantic'; it must be one of recursive, fixed, none", id="unknown strategy"
        ),
    ],
)
def test_settings_that_cannot_be_met_are_refused(changes: dict[str, object], message: str) -> None:
    """The message names the setting, its value and what it may be; nothing falls back to another strategy."""
    with pytest.raises(ChunkingError, match=re.escape(message)):
        Cutting(**changes)


@settings(max_examples=150)
@example(" 0:\u00d80:0:\U00011440", "recursive", 12, 7)  # without its blank the first chunk is the beginning of the second
@given(PROSE | ANY, CUTTING, st.integers(12, 40), st.integers(0, 11))
def test_no_chunk_is_too_long_and_nothing_is_lost(text: str, strategy: Strategy, size: int, overlap: int) -> None:
    """Sizes and overlaps hold by the real counter, order is kept, and only blanks are in no chunk."""
    chunks = chunk(text, counter=COUNTER, cutting=Cutting(strategy, size, overlap))
    covered = [False] * len(text)
    for place, piece in enumerate(chunks):
        assert (piece.index, piece.total) == (place, len(chunks))
        assert piece.text == piece.text.strip() == text.encode("utf-8", "replace").decode()[piece.start : piece.end]
        assert COUNTER.count(piece.text) <= size
        covered[piece.start : piece.end] = [True] * (piece.end - piece.start)
    for before, after in pairwise(chunks):
        assert before.start < after.start
        assert before.end < after.end
        assert COUNTER.count(text[after.start : before.end].strip()) <= overlap
    assert [character for character, seen in zip(text, covered, strict=True) if not seen and not character.isspace()] == []


@given(PROSE, CUTTING, st.integers(20, 60))
def test_without_overlap_the_chunks_are_the_text(text: str, strategy: Strategy, size: int) -> None:
    """Joined, the chunks are the text's characters that are not blank, each once."""
    chunks = chunk(text, counter=COUNTER, cutting=Cutting(strategy, size, 0))
    assert "".join("".join(piece.text for piece in chunks).split()) == "".join(text.split())


@given(st.lists(st.sampled_from(["👨‍👩‍👧", "🏳️‍🌈", "é", "n\u0303", " ", "क्षि"]), min_size=10, max_size=60), CUTTING)
def test_characters_that_are_written_together_stay_together(parts: list[str], strategy: Strategy) -> None:
    """No cut falls inside an emoji of several characters or between a letter and its accent."""
    text = "".join(parts)
    assume(text.strip())
    edges = {0}
    for part in parts:
        edges.add(max(edges) + len(part))
    for piece in chunk(text, counter=COUNTER, cutting=Cutting(strategy, 40, 0)):
        assert {piece.start, piece.end} <= edges


def test_a_character_above_the_size_stands_alone() -> None:
    """An emoji of several tokens is not lost where a chunk has room for one token."""
    assert [piece.text for piece in chunk("🪿🪿", counter=COUNTER, cutting=Cutting(size=1, overlap=0))] == ["🪿", "🪿"]


@pytest.mark.parametrize("strategy", ["recursive", "fixed"])
@pytest.mark.parametrize("unit", ["a", "1\n", " \n"], ids=["one word", "short lines", "blank lines"])
def test_hostile_texts_cost_their_length(strategy: Strategy, unit: str) -> None:
    """Long words, many lines and many blank lines are counted less than fifty times over, however long they are."""
    text = "a" + unit * (400_000 // len(unit)) + "b"
    counter = Eighths()
    assert chunk(text, counter=counter, cutting=Cutting(strategy))
    assert counter.counted < 50 * len(text)


def test_a_word_that_takes_more_tokens_without_its_blank_still_fits() -> None:
    """As " développement" is one token and "développement" five; both count, since a chunk loses the blanks around it."""
    text = " développement" * 30
    assert COUNTER.count(text) == 30
    chunks = chunk(text, counter=COUNTER, cutting=Cutting(size=10, overlap=0))
    assert max(COUNTER.count(piece.text) for piece in chunks) == 10


def test_a_lone_surrogate_becomes_a_question_mark() -> None:
    """What cannot be stored is replaced, and the places of all other characters stay."""
    (piece,) = chunk(" a\ud800b", counter=COUNTER)
    assert (piece.text, piece.start, piece.end) == ("a?b", 1, 4)


@pytest.mark.parametrize(
    ("starting", "heading"),
    [
        pytest.param("Antes", (), id="before the first"),
        pytest.param("# Padrón", ("Padrón",), id="its own line"),
        pytest.param("El certificado", ("Padrón", "Plazos"), id="two levels"),
        pytest.param("# no es un título", ("Padrón", "Plazos"), id="code is no heading"),
        pytest.param("Hay un turno", ("Padrón", "Plazos", "Urgencias"), id="three levels, closed with marks"),
        pytest.param("No hay tasa", ("Padrón", "Tasas"), id="underlined"),
        pytest.param("Lo pide", ("Empadronamiento colectivo",), id="a new first level ends the others"),
    ],
)
def test_a_place_knows_the_headings_above_it(starting: str, heading: tuple[str, ...]) -> None:
    """The path of titles in force at a place, from the heading's own line on."""
    assert outline(GUIDE).at(GUIDE.index(starting)) == heading


@pytest.mark.parametrize("title", ["Guía", ""])
def test_a_chunk_has_the_headings_of_its_start(title: str) -> None:
    """The document's title comes first, then the path where the chunk starts."""
    chunks = chunk(GUIDE, counter=COUNTER, cutting=Cutting(size=20, overlap=0), title=title)
    assert [piece.heading for piece in chunks] == [(title,) * bool(title) + outline(GUIDE).at(piece.start) for piece in chunks]
    assert len({piece.heading for piece in chunks}) > 3


@pytest.mark.parametrize(
    "text",
    [
        "uno\ndos\n---\ncuerpo",
        "---\ntitle: uno\n---\ncuerpo",
        "#sin espacio\ncuerpo",
        "#\ncuerpo",
        "~~~~\n# uno\n~~~\n# dos\n~~~~\ncuerpo",
    ],
    ids=["a rule under a paragraph", "a preamble", "a tag", "an empty heading", "a longer fence"],
)
def test_what_only_looks_like_a_heading_is_none(text: str) -> None:
    """Preambles, tags and code add nothing to the path."""
    assert outline(text).paths == ()


def test_a_first_heading_that_is_the_title_is_not_said_twice() -> None:
    """A path of "Guía > Guía" would only waste room."""
    (piece,) = chunk("# Guía\n\ncuerpo", counter=COUNTER, title="Guía")
    assert piece.heading == ("Guía",)


def test_a_document_of_several_chunks_becomes_numbered_passages() -> None:
    """Ids, place, headings and metadata; what the loader calls the same never wins."""
    made = passages_of_document(DOCUMENT, "clara", counter=COUNTER, cutting=Cutting(size=20, overlap=0))
    assert [passage.id for passage in made] == [f"padron#{place}" for place in range(len(made))]
    assert len(made) > 2
    last = made[-1]
    assert (last.corpus, last.collection, last.document_id, last.language) == ("clara", "comun", "padron", "es")
    assert (last.heading, last.section) == (("Guía", "Empadronamiento colectivo"), "Empadronamiento colectivo")
    assert last.metadata == {
        "source": "https://sede.example",
        "parent_id": "padron",
        "index": len(made) - 1,
        "total": len(made),
    }
    assert made[0].section == ""


def test_a_document_of_one_chunk_keeps_its_id() -> None:
    """Nothing is numbered where there is one; without a title the heading is the path alone."""
    (passage,) = passages_of_document(Document("a", "", "# Uno\n\ncuerpo", "comun"), "clara", counter=COUNTER)
    assert (passage.id, passage.heading, passage.section) == ("a", ("Uno",), "Uno")
    assert passage.metadata == {"parent_id": "a", "index": 0, "total": 1}


@pytest.mark.parametrize("strategy", ["recursive", "fixed", "none"])
def test_the_same_document_gives_the_same_passages(strategy: Strategy) -> None:
    """Loading twice changes nothing: the plan of the second time keeps every passage."""
    first, second = (
        passages_of_document(DOCUMENT, "clara", counter=COUNTER, cutting=Cutting(strategy, 30, 5)) for _ in range(2)
    )
    assert first == second
    assert len({passage.id for passage in first}) == len(first)
    changed = passages_of_document(
        replace(DOCUMENT, text=GUIDE + "\nNuevo."), "clara", counter=COUNTER, cutting=Cutting(strategy, 30, 5)
    )
    assert plan_changes(StoredDigests({}, {}), first).write == tuple(first)
    assert [passage.text for passage in changed][:-2] == [passage.text for passage in first][:-2] or strategy == "none"


def test_a_blank_document_has_no_passages() -> None:
    """Nothing to find is nothing to store."""
    assert passages_of_document(Document("a", "Título", " \n", "comun"), "clara", counter=COUNTER) == []
