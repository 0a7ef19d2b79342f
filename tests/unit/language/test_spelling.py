"""Tests of mending spelling: words written as they sound, typing errors, short forms, and what is never touched."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clara.answering.tool_factory import build_spelling
from clara.knowledge.knowledge_base import Knowledge
from clara.language.packs import read_languages
from clara.language.spelling import Sounds, Spelling, SpellingLexicon, hashed, read_sounds

SOUNDS = Sounds(((re.compile("v"), "b"), (re.compile("h"), "")), {"xq": "porque"})
WANTED = {"hablar": 5.0, "padron": 4.5, "beca": 4.0, "tarjeta": 5.0, "la": 7.0}
LISTED = {"vaca": 4.2, "metro": 4.8, "la": 7.4, "por": 7.2}


def lexicon(_language: str) -> SpellingLexicon:
    """A small language: five words of the subject, and how frequent some others are."""
    lines = (f"{word}\t{SOUNDS.key(word)}\t{frequency}" for word, frequency in WANTED.items())
    known = sorted((hashed(word), round(10 * frequency)) for word, frequency in LISTED.items())
    arrays: dict[str, Any] = {
        "xx_words": np.array("\n".join(lines)),
        "xx_hashes": np.array([name for name, _ in known], dtype=np.uint32),
        "xx_zipf": np.array([frequency for _, frequency in known], dtype=np.uint8),
    }
    return SpellingLexicon.of(arrays, "xx")


SMALL = Spelling(lexicon, {"xx": SOUNDS}, {"xx": frozenset({"nie", "babel"})})


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        pytest.param("ablar", "hablar", id="silent-letter"),
        pytest.param("una veca", "una beca", id="other-letter"),
        pytest.param("el padorn", "el padron", id="exchanged"),
        pytest.param("el padorn!", "el padron!", id="signs-stay"),
        pytest.param("xq tardan", "porque tardan", id="short-form"),
        pytest.param("latarjeta", "la tarjeta", id="two-words-as-one"),
        pytest.param("tar jeta", "tarjeta", id="one-word-as-two"),
        pytest.param("vaca", "vaca", id="a-word-of-its-own"),
        pytest.param("NIE", "NIE", id="acronym"),
        pytest.param("Señor Padorn", "Señor Padorn", id="name"),
        pytest.param("12345", "12345", id="number"),
        pytest.param("l'ablar", "l'ablar", id="elided"),
        pytest.param("babel", "babel", id="place"),
        pytest.param("", "", id="nothing"),
    ],
)
def test_mended(written: str, meant: str) -> None:
    """A misspelt word becomes the frequent one that sounds like it or is one error away; all else stays as it was."""
    assert SMALL.mended(written, "xx").text == meant


def test_the_changes_are_told() -> None:
    """What was written and what is read are kept side by side."""
    assert SMALL.mended("ablar del padorn", "xx").changes == (("ablar", "hablar"), ("padorn", "padron"))


def test_a_language_without_words() -> None:
    """Where nothing is known of a language its text stays."""
    assert Spelling(lambda _language: None, {}).mended("ablar", "zz").text == "ablar"


@pytest.fixture(scope="module")
def spelling(real: Any) -> Spelling:
    """What mends spelling, on the real data."""
    knowledge = Knowledge(real.data, real.catalogue, real.passages, real.named, real.intent)
    return build_spelling(knowledge)


@pytest.mark.parametrize(
    ("language", "written", "part"),
    [
        ("es", "nesesito sita pa estrangeria", "necesito cita para extranjeria"),
        ("es", "kuanto tarda la targeta", "tarjeta"),
        ("fr", "konbien coute la karte", "combien"),
        ("pt", "sertificado de deficiensia", "certificado de deficiencia"),
        ("uk", "захіст в іспанії", "захист"),
        ("en", "how to get minmum vital incom", "minimum vital income"),
    ],
)
def test_real_words(spelling: Spelling, language: str, written: str, part: str) -> None:
    """Words written by ear or in haste are read as the words of the catalogue and of typical questions."""
    assert part in spelling.mended(written, language).text


@pytest.mark.parametrize(
    ("language", "written"),
    [
        ("es", "mi marido me volvió a pegar anoche, no sé qué hacer"),
        ("es", "Me llamo Yesenia y vivo en Alcobendas"),
        ("fr", "Est-ce que je peux m'inscrire à la mairie ?"),
        ("en", "because we are black"),
        ("ca", "els meus fills estudien a l'institut"),
        ("es", "EL SEPE NO ME COGE EL TELEFONO"),
    ],
)
def test_right_words_stay(spelling: Spelling, language: str, written: str) -> None:
    """What is written right is left alone."""
    assert spelling.mended(written, language).changes == ()


@given(st.text(max_size=300), st.sampled_from(["es", "fr", "ar", "zh", "uk", "zz"]))
def test_any_text(spelling: Spelling, text: str, language: str) -> None:
    """Any text is taken: emoji, mixed scripts, digits; digits stay as they are, and what is mended stays mended."""
    mended = spelling.mended(text, language).text
    assert [sign for sign in mended if sign.isdecimal()] == [sign for sign in text if sign.isdecimal()]


def test_every_language_says_how_it_is_heard(data: Path) -> None:
    """Each served language has its file, and no short form stands for itself."""
    sounds = read_sounds(data)
    assert sounds.keys() == read_languages(data).keys()
    assert [(language, said) for language, one in sounds.items() for said, meant in one.short.items() if said == meant] == []


def test_the_words_fit_the_sounds(data: Path, spelling: Spelling) -> None:
    """The stored words are kept under the sounds of today: else `python -m clara_lab.training.spelling` is due."""
    sounds = read_sounds(data)
    with np.load(data / "spelling.npz", allow_pickle=False) as stored:
        for language, one in sounds.items():
            lines = [line.split("\t") for line in str(stored[f"{language}_words"]).splitlines()]
            assert [word for word, key, _ in lines if one.key(word) != key] == []
