"""Tests of words and phrases as people write them."""

import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clara.language.phrases import Phrases, every
from clara.language.tokens import words

# Letters of the served languages that have a capital and a small form.
LETTERS = "abcçdeéèfgğhiíjklmnñoöpqrsștțuüvwxyzабвгґдеєёжзиіїйклмнопрстуфхцчшщъыьэюя"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("¿Cuánto TARDA?", ["cuanto", "tarda"], id="accents-and-capitals"),
        pytest.param("el niño pingüino", ["el", "nino", "pinguino"], id="tilde-and-dots"),
        pytest.param("l'ajuntament d’Olot", ["l", "ajuntament", "d", "olot"], id="apostrophes"),
        pytest.param("EX-15, EX15", ["ex", "15", "ex15"], id="hyphen-cuts-digits-stay"),
        pytest.param("N.I.E.", ["n", "i", "e"], id="dots-cut"),
        pytest.param("un_guion", ["un", "guion"], id="underscore-cuts"),
        pytest.param("ȘOMAJ și ție", ["somaj", "si", "tie"], id="romanian"),
        pytest.param("Straße STRASSE", ["strasse", "strasse"], id="sharp-s"),
        pytest.param("Привіт, ЯК справи", ["привіт", "як", "справи"], id="cyrillic-capitals"),
        pytest.param("الإعاقة", ["الاعاقة"], id="arabic-hamza"),
        pytest.param("كِتَابٌ", ["كتاب"], id="arabic-vowel-marks"),
        pytest.param("我想申请NIE卡", ["我", "想", "申", "请", "nie", "卡"], id="chinese-run-with-latin"),
        pytest.param("ＮＩＥ", ["nie"], id="full-width"),
        pytest.param("ﬁanza", ["fianza"], id="ligature"),
        pytest.param("𝐍𝐈𝐄", ["nie"], id="bold-capitals"),
        pytest.param("𝓝𝓘𝓔 𝕹𝕴𝕰", ["nie", "nie"], id="script-and-fraktur-capitals"),
        pytest.param("ⓃⒾⒺ", ["nie"], id="circled-capitals"),
        pytest.param("ℕ ℝ", ["n", "r"], id="double-struck-capitals"),
        pytest.param("Ⅷ", ["viii"], id="roman-number"),
        pytest.param("İMV", ["imv"], id="dotted-capital-i"),
        pytest.param("e\u0301l", ["el"], id="separate-accent"),
        pytest.param("👍 …!", [], id="no-words"),
        pytest.param("", [], id="empty"),
        pytest.param("a\x00b\ud800c", ["a", "b", "c"], id="nul-and-lone-surrogate"),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    """Words come without capitals, accents and signs, and each ideograph is a word."""
    assert words(text) == expected


@given(st.text())
def test_words_of_anything(text: str) -> None:
    """Any text is cut into words that hold letters and digits only: no blanks, no signs, no accents."""
    for word in words(text):
        assert word
        assert not any(unicodedata.category(character) == "Mn" or character.isspace() for character in word)
        assert len(words(word)) == 1


@given(st.text())
def test_composed_or_not(text: str) -> None:
    """It makes no difference whether accents are part of their letter or follow it."""
    assert words(unicodedata.normalize("NFC", text)) == words(unicodedata.normalize("NFD", text))


@given(st.text(LETTERS + " "))
def test_capitals_make_no_difference(text: str) -> None:
    """A text shouted in capitals has the same words."""
    assert words(text.upper()) == words(text)


@given(st.text(), st.text())
def test_blank_separates(first: str, second: str) -> None:
    """The words of two texts with a blank between them are the words of the one and then of the other."""
    assert words(f"{first} {second}") == [*words(first), *words(second)]


PHRASES = [
    ("TIE", "tie"),
    ("NIE", "nie"),
    ("tarjeta sanitaria", "card"),
    ("tarjeta sanitaria europea", "european"),
    ("cobrar el paro", "benefit"),
    ("失业金", "benefit"),
    ("الإعاقة", "disability"),
]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("la TIE", ["tie"], id="whole-word"),
        pytest.param("cuánto tiempo", [], id="tie-is-not-in-tiempo"),
        pytest.param("mi nieto", [], id="nie-is-not-in-nieto"),
        pytest.param("nie", ["nie"], id="no-capitals"),
        pytest.param("TÎÉ", ["tie"], id="accents-ignored"),
        pytest.param("mi tarjeta sanitaria caducó", ["card"], id="two-words"),
        pytest.param("tarjeta sanitaria europea", ["european"], id="longest-wins"),
        pytest.param("tarjeta, sanitaria", ["card"], id="signs-between-words"),
        pytest.param("tarjeta muy sanitaria", [], id="word-between-words"),
        pytest.param("tarjeta", [], id="half-a-phrase"),
        pytest.param("sanitaria tarjeta", [], id="wrong-order"),
        pytest.param("NIE y TIE y NIE", ["nie", "tie", "nie"], id="left-to-right-with-repetition"),
        pytest.param("我要申请失业金怎么办", ["benefit"], id="chinese-run-inside-a-run"),
        pytest.param("失业的金", [], id="chinese-run-interrupted"),
        pytest.param("شهادة الاعاقة", ["disability"], id="arabic-without-hamza"),
        pytest.param("الإعاقات", [], id="arabic-other-word"),
        pytest.param("", [], id="empty"),
    ],
)
def test_phrases(text: str, expected: list[str]) -> None:
    """Phrases are found as whole words, in order, and the longest counts."""
    assert [label for _, _, label in Phrases(PHRASES).longest_first(words(text))] == expected


OVERLAPPING = Phrases([("a b", "ab"), ("b c d", "bcd"), ("d e", "de"), ("c d", "cd"), ("e", "e"), ("f g h i", "fghi")])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("a b", [(0, 2, "ab")], id="alone"),
        pytest.param("a b c d", [(1, 4, "bcd")], id="longer-wins-though-it-starts-later"),
        pytest.param("b c d e", [(0, 3, "bcd"), (3, 4, "e")], id="what-the-longest-leaves-counts"),
        pytest.param("a b c d e", [(1, 4, "bcd"), (4, 5, "e")], id="longest-in-the-middle"),
        pytest.param("c d e", [(0, 2, "cd"), (2, 3, "e")], id="same-length-earlier-start"),
        pytest.param("a b x b c d", [(0, 2, "ab"), (3, 6, "bcd")], id="apart-both-count"),
        pytest.param("a b a b c d", [(0, 2, "ab"), (3, 6, "bcd")], id="repeated-once-overlapped"),
        pytest.param("f g h", [], id="unfinished"),
        pytest.param("d e f g h i", [(0, 2, "de"), (2, 6, "fghi")], id="side-by-side"),
    ],
)
def test_overlaps(text: str, expected: list[tuple[int, int, str]]) -> None:
    """Where phrases overlap the longest counts, wherever it starts, and what it does not touch counts too."""
    assert OVERLAPPING.longest_first(words(text)) == expected


@given(
    st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=4), max_size=8),
    st.lists(st.sampled_from("abcd"), max_size=20),
)
def test_longest_wins(phrases: list[list[str]], said: list[str]) -> None:
    """Every phrase in a text is found, or overlaps one found that is at least as long; none found overlaps another."""
    keys = {tuple(phrase) for phrase in phrases}
    found = Phrases([(" ".join(key), key) for key in keys]).longest_first(said)
    spans = [(start, end) for start, end, _ in found]
    assert all(before[1] <= after[0] for before, after in pairwise(spans))
    for start in range(len(said)):
        for key in keys:
            end = start + len(key)
            if tuple(said[start:end]) == key and (start, end) not in spans:
                assert any(stop - begin >= len(key) and begin < end and start < stop for begin, stop in spans)


def test_places() -> None:
    """Each phrase comes with the places of its first word and of the word after its last."""
    assert Phrases(PHRASES).longest_first(words("mi tarjeta sanitaria y mi NIE")) == [(1, 3, "card"), (5, 6, "nie")]


def test_one_phrase_two_labels() -> None:
    """A phrase that means two things is found with both."""
    both = Phrases([("la tarjeta", "nie"), ("la tarjeta", "tie"), ("la", "article")])
    assert both.longest_first(["la", "tarjeta"]) == [(0, 2, "nie"), (0, 2, "tie")]


def test_phrase_without_words() -> None:
    """A phrase of signs alone is never found."""
    assert Phrases([("¡!", "signs")]).longest_first(words("¡! hola")) == []


@given(st.lists(st.sampled_from("abc")), st.lists(st.sampled_from("xyz"), min_size=1), st.lists(st.sampled_from("abc")))
def test_planted_phrase(before: list[str], phrase: list[str], after: list[str]) -> None:
    """A phrase is found wherever it stands between other words."""
    found = Phrases([(" ".join(phrase), "it")]).longest_first([*before, *phrase, *after])
    assert found == [(len(before), len(before) + len(phrase), "it")]


@given(st.lists(st.text("ab ", min_size=1, max_size=5)), st.text("ab ", max_size=30))
def test_found_phrases_never_overlap(phrases: list[str], text: str) -> None:
    """What is found stands in the text where it says, from left to right, one phrase after the other."""
    said, end = words(text), 0
    for start, stop, phrase in Phrases([(phrase, phrase) for phrase in dict.fromkeys(phrases)]).longest_first(said):
        assert said[start:stop] == words(phrase)
        assert start >= end or said[start:stop] == said[end - (stop - start) : end]
        end = stop


def test_every() -> None:
    """The phrases of all languages come in one list."""
    assert every({"es": ["a", "b"], "en": [], "fr": ["c"]}) == ["a", "b", "c"]
