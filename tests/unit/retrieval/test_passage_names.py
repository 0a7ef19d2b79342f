"""Tests of names: how they are compared, and which ones a question could be saying."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clara.retrieval.names import LONGEST_NAME, MOST_CHARACTERS, MOST_WORDS, SHORTEST_NAME, normalised, says, spoken

anything = st.text(st.characters(codec=None))
words = st.text(st.characters(codec="utf-8", categories=["Lu", "Ll", "Nd"]), min_size=1, max_size=12)


@pytest.mark.parametrize(
    ("name", "folded"),
    [
        pytest.param("Los Ángeles", "los ángeles", id="accents-stay"),
        pytest.param("A\u0301lava", "álava", id="composed"),
        pytest.param("  New \t York\u00a0City\n", "new york city", id="blanks"),
        pytest.param("Straße", "strasse", id="sharp-s"),
        pytest.param("ＮＡＴＯ", "nato", id="full-width"),
        pytest.param("ﬁnance", "finance", id="ligature"),
        pytest.param("北京", "北京", id="no-case"),
        pytest.param(" \n", "", id="blank"),
    ],
)
def test_folding(name: str, folded: str) -> None:
    """Names are compared by their letters, not by how these are encoded, capitalised and spaced."""
    assert normalised(name) == folded


@pytest.mark.parametrize(
    ("written", "name", "said"),
    [
        pytest.param("Her", "Her", True, id="one-word"),
        pytest.param("her", "Her", False, id="one-word-in-small-letters"),
        pytest.param("HER", "Her", False, id="one-word-in-capitals"),
        pytest.param("Her", " Her ", True, id="blanks-around-are-no-word"),
        pytest.param("los ángeles", "Los Ángeles", True, id="several-words"),
        pytest.param("los ángeles", "Los\u00a0Ángeles", True, id="a-hard-blank-parts-words-too"),
        pytest.param("NATO", "ＮＡＴＯ", True, id="full-width"),
        pytest.param("Álava", "A\u0301lava", True, id="composed"),
        pytest.param("北京", "北京", True, id="no-case"),
    ],
)
def test_one_word_agrees_in_its_capitals(written: str, name: str, said: bool) -> None:
    """One word says a name only as the name is written; several words say it anyhow."""
    assert says(written, name) is said


@pytest.mark.parametrize(
    ("question", "said"),
    [
        pytest.param("Who directed Her?", "her", id="one-word-with-a-capital"),
        pytest.param("Was NATO founded then?", "nato", id="capitals"),
        pytest.param("was new york city founded then?", "new york city", id="several-words-need-no-capital"),
        pytest.param("What are Spielberg's films?", "spielberg", id="genitive"),
        pytest.param("What are Spielberg’s films?", "spielberg", id="typographic-genitive"),
        pytest.param("What are the Beatles' films?", "beatles", id="genitive-of-a-plural"),
        pytest.param("What is Steven Spielberg's first film?", "steven spielberg", id="genitive-of-two-words"),
        pytest.param("Who wrote «Don Quijote»?", "don quijote", id="quotation-marks"),
        pytest.param("¿Dónde está Álava?", "álava", id="accents"),
        pytest.param("Who wrote Who?", "who?", id="punctuation-may-belong-to-the-name"),
        pytest.param("In Yahoo! Answers?", "yahoo! answers", id="punctuation-inside"),
        pytest.param("wo ist die Große Straße?", "grosse strasse", id="letters-that-fold-to-two"),
        pytest.param("ما هي باريس؟", "باريس", id="arabic"),
        pytest.param("北京大学 在 哪里？", "北京大学", id="chinese-with-blanks"),
        pytest.param("一、北京大学。", "一、北京大学", id="chinese-full-stop"),
    ],
)
def test_what_a_question_says(question: str, said: str) -> None:
    """A name is found in a question whatever stands around it."""
    assert said in spoken(question)


@pytest.mark.parametrize(
    ("question", "unsaid"),
    [
        pytest.param("who saw her?", "her", id="one-word-in-small-letters"),
        pytest.param("what happened in 1984?", "1984", id="a-year"),
        pytest.param("was ist eine straße?", "strasse", id="folding-is-no-capital"),
        pytest.param("Is it UK law?", "uk", id="initials"),
        pytest.param("A (B) C?", "b", id="one-letter"),
        pytest.param("Newark", "new", id="part-of-a-word"),
    ],
)
def test_what_a_question_does_not_say(question: str, unsaid: str) -> None:
    """Common words, numbers and initials are no names."""
    assert unsaid not in spoken(question)


@pytest.mark.parametrize("question", ["", " \n", "a", "?!", "\ud800", "\x00"])
def test_nothing_said(question: str) -> None:
    """Where there are no words, there are no names."""
    assert spoken(question) == []


@given(st.lists(words, max_size=5), st.lists(words, min_size=2, max_size=LONGEST_NAME), st.lists(words, max_size=5))
def test_every_run_of_words_is_said(before: list[str], name: list[str], after: list[str]) -> None:
    """Any two to eight words in a row are found, wherever they stand."""
    question = " ".join([*before, *name, *after]) + "?"
    if len(normalised(" ".join(name))) >= SHORTEST_NAME:
        assert normalised(" ".join(name)) in spoken(question)


@given(anything | st.lists(anything, max_size=30).map(" ".join))
def test_any_question_is_heard(question: str) -> None:
    """Whatever is asked, the names are distinct, long enough, short enough and not too many."""
    said = spoken(question)
    assert len(set(said)) == len(said) <= MOST_WORDS * LONGEST_NAME * 3
    assert all(len(name) >= SHORTEST_NAME for name in said)
    assert all(len(name) <= 3 * MOST_CHARACTERS for name in said)  # one letter folds to three at most


@given(anything, anything)
def test_any_text_is_compared(written: str, name: str) -> None:
    """Folding and comparing fail on no text, and blanks around it do not matter."""
    assert normalised(f" {name}\n") == normalised(name)
    assert says(written, name) == says(written, f" {name}\n")


@pytest.mark.timeout(5)
@pytest.mark.parametrize(
    "question",
    [
        pytest.param("A" * 100_000, id="one-word"),
        pytest.param("Word " * 20_000, id="many-words"),
        pytest.param(" ".join(f"{number}{'A' * 1_500}" for number in range(64)), id="long-words"),
        pytest.param("ﷺ" * 100_000, id="letters-that-fold-to-eighteen"),
        pytest.param("'" * 100_000, id="punctuation"),
        pytest.param(" " * 100_000, id="blanks"),
    ],
)
def test_a_huge_question_is_bounded(question: str) -> None:
    """A question of 100,000 characters gives a list that is no burden to whoever looks it up."""
    assert sum(map(len, spoken(question))) <= MOST_WORDS * LONGEST_NAME * 3 * MOST_CHARACTERS
