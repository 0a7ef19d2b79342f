"""Tests of the measures of answers, against cases that were computed by hand."""

import pytest

from clara_lab.bench.answers import (
    NO_ANSWER,
    NO_GOLD,
    accuracy,
    answer_measures,
    exact_match,
    normalised,
    primary,
    said_label,
    token_f1,
)
from clara_lab.bench.dataset import LABEL, BenchQuestion
from clara_lab.bench.record import Score


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("  The  Cat\nSat ", "cat sat"),
        ("MÜNCHEN Año café", "munchen ano cafe"),
        ("1969–1974", "1969 1974"),
        ("1969 - 1974", "1969 1974"),
        ("well-known and/or", "well known and or"),
        ('The U.S.A.\'s "finest"!', "usas finest"),
        ("an apple, a pear", "apple pear"),
        ("El padrón de la villa y los pueblos", "padron de villa y pueblos"),
        ("The The", "the the"),
        ("A", "a"),
        ("1,234,567 and 9,84 and 3.5 and 12.", "1234567 and 9.84 and 3.5 and 12"),
        ("9.84 €", "9.84"),
        ("1.047", "1047"),
        ("0.125", "0.125"),
        ("Straße", "strasse"),
        ("ﬁnal Ⅳ", "final iv"),
        ("?!", ""),
        ("", ""),
        ("北京", "北京"),
    ],
)
def test_normalising_keeps_the_words(text: str, words: str) -> None:
    """Case, accents, dashes, articles, punctuation and ways to write a number make no difference."""
    assert normalised(text) == words
    assert normalised(words) == words


@pytest.mark.parametrize(
    ("answer", "gold", "f1"),
    [
        ("New York", "New York", 1.0),
        ("new york", "The New York!", 1.0),
        ("Paris", "London", 0.0),
        ("New York City", "New York", 2 * 2 / 5),
        ("the big red dog", "red dog barks", 2 * 2 / 6),
        ("no no no", "no", 2 * 1 / 4),
        ("a b b c", "b b b", 2 * 2 / 6),
        ("1969–1974", "1969-1974", 1.0),
        ("Málaga", "Malaga", 1.0),
        ("", "Paris", 0.0),
        ("Paris", "", 0.0),
        ("", "", 0.0),
    ],
)
def test_f1_is_of_words_as_often_as_they_stand(answer: str, gold: str, f1: float) -> None:
    """Twice the common words over all words of both."""
    assert token_f1(answer, gold) == pytest.approx(f1)
    assert token_f1(gold, answer) == pytest.approx(f1)


@pytest.mark.parametrize(
    ("answer", "gold", "match"),
    [
        ("Paris", "Paris", 1.0),
        ("PARIS", "paris", 1.0),
        ('"Paris".', "Paris", 1.0),
        ("Málaga", "malaga", 1.0),
        ("1939–45", "1939-45", 1.0),
        ("the Beatles", "Beatles", 1.0),
        ("York New", "New York", 0.0),
        ("Paris, France", "Paris", 0.0),
        ("9.84", "984", 0.0),
        ("", "Paris", 0.0),
        ("?", "!", 0.0),
    ],
)
def test_exact_match_is_the_same_words_in_order(answer: str, gold: str, match: float) -> None:
    """Only what the normalisation takes away may differ; nothing never matches nothing."""
    assert exact_match(answer, gold) == match


@pytest.mark.parametrize(
    ("answer", "gold", "right"),
    [
        ("yes", "yes", 1.0),
        ("no", "yes", 0.0),
        ("YES.", "yes", 1.0),
        ("No, they were born in different cities.", "no", 1.0),
        ("Yes: there is no doubt about it.", "yes", 1.0),
        ("The answer is yes", "yes", 1.0),
        ("They are not both composers, so: no", "no", 1.0),
        ("yes and no", "yes", 0.0),
        ("Yes, no", "yes", 0.0),
        ("no or yes", "no", 0.0),
        ("It is neither a yes nor a no", "no", 0.0),
        ("yes yes", "yes", 1.0),
        ("Nothing is known", "no", 0.0),
        ("yesterday", "yes", 0.0),
        ("", "yes", 0.0),
    ],
)
def test_a_label_is_said_by_the_first_word_or_alone(answer: str, gold: str, right: float) -> None:
    """As a whole word, first or the only one; who says both says neither."""
    assert accuracy(answer, gold) == right


def test_labels_may_be_others_than_yes_and_no() -> None:
    """A label inside another one is not mistaken for it, and the right answer is always a label."""
    labels = ("supported", "not supported", "unknown")
    assert said_label("Not supported", labels) == "not supported"
    assert said_label("It is supported.", labels) == "supported"
    assert accuracy("Not supported", "supported", labels) == 0.0
    assert accuracy("maybe", "maybe") == 1.0


def test_the_answer_type_chooses_the_measure() -> None:
    """Labels are judged by accuracy, everything else by F1, and both by exact match too."""
    label, span = BenchQuestion("q", "?", "yes", LABEL), BenchQuestion("q", "?", "New York")
    assert (primary(label), primary(span)) == ("accuracy", "f1")
    assert answer_measures(label, "Yes, both are.") == {"accuracy": Score(1.0), "exact_match": Score(0.0)}
    assert answer_measures(span, "new york") == {"f1": Score(1.0), "exact_match": Score(1.0)}


@pytest.mark.parametrize("gold", ["", " ", "?"])
def test_a_question_without_a_right_answer_is_no_zero(gold: str) -> None:
    """What cannot be measured says so and enters no mean."""
    measures = answer_measures(BenchQuestion("q", "?", gold), "Paris")
    assert measures == {"f1": Score(None, NO_GOLD), "exact_match": Score(None, NO_GOLD)}


def test_an_answer_that_was_not_written_is_no_zero_and_an_empty_one_is() -> None:
    """A writer that failed is not a writer that was wrong."""
    question = BenchQuestion("q", "?", "Paris")
    assert answer_measures(question, None)["f1"] == Score(None, NO_ANSWER)
    assert answer_measures(question, "")["f1"] == Score(0.0)
