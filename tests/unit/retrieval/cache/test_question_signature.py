"""The same question is recognised in other clothes; another question never is."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clara.retrieval.cache.keys import Keys
from clara.retrieval.cache.semantic import neutral_words, same_question, signature_of

KEYS = Keys(b"a secret of thirty-two bytes, yes")
DATA = Path(__file__).parents[3] / "data"
# Real other wordings are among the pairs, and are not recognised: 89 of 122 are. A change may not lose any.
RECOGNISED = 89


def pairs(name):
    return [json.loads(line) for line in (DATA / name).read_text("utf-8").splitlines()]


def same(one, other, language="es"):
    left, right = (signature_of(text, language, KEYS) for text in (one, other))
    assert same_question(left, right) == same_question(right, left)
    return same_question(left, right)


def test_no_near_miss_is_the_same_question():
    """None of 262 pairs in ten languages, whatever the cosine."""
    missed = pairs("near_miss_pairs.jsonl")
    assert len(missed) >= 240
    assert {pair["language"] for pair in missed} == set(neutral_words())
    assert [pair for pair in missed if same(pair["a"], pair["b"], pair["language"])] == []


def test_the_same_question_is_recognised_as_often_as_it_was():
    """Accents, capitals, articles, courtesy, a phrase in front and an echo do not hide it; other words do."""
    alike = pairs("same_question_pairs.jsonl")
    assert len(alike) >= 120
    assert sum(same(pair["a"], pair["b"], pair["language"]) for pair in alike) == RECOGNISED


@pytest.mark.parametrize(
    ("one", "other", "language"),
    [
        ("vivo en A y trabajo en B", "en B vivo en A y trabajo", "es"),
        ("to define blocks python uses", "to define what python uses", "en"),
        ("Python use indentation to define 4", "Python use indentation to define what?", "en"),
        ("Python use indentation to define OOP", "Python use indentation to define what?", "en"),
        ("Python use indentation to define blocks?", "Python use indentation to define what?", "en"),
        ("How does indentation define blocks", "How does indentation define what?", "en"),
        ("it uses blocks", "it uses what", "en"),
        ("you may bring your cat without", "you may bring your cat what", "en"),
        ("1,5 horas", "1-5 horas", "es"),
        ("gano < 600", "gano > 600", "es"),
        ("hola", "buenas tardes", "es"),
        ("", "", "es"),
        ("¿?", "!", "es"),
    ],
    ids=lambda value: value[:24],
)
def test_what_stays_apart(one, other, language):
    """Places, amounts, acronyms, negations, questions about something else, and texts that ask nothing."""
    assert not same(one, other, language)


def test_a_question_word_may_stand_for_the_end_of_a_statement():
    """A statement answers the question that repeats it up to the last word."""
    assert same("Python use indentation to define blocks.", "Python use indentation to define what?", "en")


def test_in_an_unknown_language_every_word_counts():
    """No article of another language is taken for one."""
    assert not same("el nie", "nie", None)
    assert same("El NIE", "el nie!", None)


@given(st.text(st.characters(codec=None), max_size=40), st.sampled_from([*neutral_words(), None]))
def test_any_text_has_a_signature_without_text(text, language):
    """Nothing breaks it, the same text has the same one, and the words are digests of 32 bytes."""
    signature = signature_of(text, language, KEYS)
    assert signature == signature_of(text, language, KEYS)
    assert all(len(word.digest) == 32 for word in signature.words)


def test_another_secret_has_other_words():
    """Without the secret nobody can try words."""
    other = Keys(b"another secret of thirty-two bytes")
    assert signature_of("pasaporte", "es", KEYS) != signature_of("pasaporte", "es", other)
