"""Tests of the words of a subject."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from term_overlap import VOCABULARIES, vocabulary_of

from clara.data_files import DataError, Schema
from clara.language.phrases import Phrases
from clara.language.tokens import length, words
from clara.retrieval.vocabulary import read_vocabulary

EMPTY: dict[str, Any] = {"courtesies": {}, "stop_words": [], "expansions": [], "kinds": {}, "specifics": [], "logic": []}
TRAMITES = vocabulary_of("tramites")
PHRASES = Phrases([("arraigo", "a"), ("arraigo social", "b"), ("social", "c"), ("¡Arraigo!", "d")])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data folder with the schema and no vocabulary."""
    for name in ("schema", "vocabulary"):
        (tmp_path / name).mkdir()
    schema = "schema/vocabulary.schema.json"
    (tmp_path / schema).write_bytes((VOCABULARIES.parent / schema).read_bytes())
    return tmp_path


def written(folder: Path, document: object) -> Path:
    """Write a vocabulary, and give the folder."""
    (folder / "vocabulary" / "subject.json").write_text(json.dumps(document), "utf-8")
    return folder


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("¿Cuánto TARDA?", ["cuanto", "tarda"], id="signs-accents-capitals"),
        pytest.param("validate_token()", ["validate", "token"], id="underscore"),
        pytest.param("申请NIE", ["申", "请", "nie"], id="ideographs"),
        pytest.param("مُحَمَّد", ["محمد"], id="arabic-marks"),
        pytest.param("👍 …", [], id="no-words"),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    """Words are compared without capitals, accents and signs; an ideograph is a word."""
    assert words(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", 0, id="empty"),
        pytest.param("find the class", 3, id="three"),
        pytest.param("申请", 1, id="two-ideographs"),
        pytest.param("我要申请", 2, id="four-ideographs"),
        pytest.param("申请费 NIE", 3, id="three-ideographs-and-a-word"),
    ],
)
def test_length(text: str, expected: int) -> None:
    """Two ideographs count as one word."""
    assert length(text) == expected


def test_longest_phrase_counts() -> None:
    """Phrases are found as whole words; where several begin, the longest counts, and a word belongs to one phrase only."""
    said = words("el arraigo social y el arraigo, sociales")
    assert PHRASES.spans(said) == [(1, 3), (5, 6)]
    assert PHRASES.meanings(said) == ["b", "a", "d"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("hola, ¿cómo pido el NIE?", ["pido", "NIE"], id="es"),
        pytest.param("y/o", [], id="stop-words-with-a-sign"),
        pytest.param("Ley 39/2015.", ["Ley", "39/2015"], id="number-of-a-law"),
        pytest.param("怎么申请居留？", ["怎么申请居留"], id="zh"),
        pytest.param("sin papeles", ["sin", "papeles"], id="what-excludes-stays"),
        pytest.param("", [], id="empty"),
    ],
)
def test_content(text: str, expected: list[str]) -> None:
    """What carries meaning stays as it was typed, acronyms included; greetings and stop words go."""
    assert TRAMITES.content(text) == expected


@given(st.text(st.characters(exclude_categories=()), max_size=80))
def test_any_text(text: str) -> None:
    """No text, broken Unicode included, is too much for a vocabulary, and spans never overlap."""
    TRAMITES.content(text)
    spans = TRAMITES.courtesies.spans(words(text))
    assert all(earlier[1] <= later[0] for earlier, later in pairwise(spans))
    assert length(text) <= len(words(text))


@pytest.mark.parametrize(
    ("change", "place"),
    [
        pytest.param({"logic": None}, "$.logic", id="array"),
        pytest.param({"kinds": []}, "$.kinds", id="object"),
        pytest.param({"courtesies": {"es": ["hola", "!!"]}}, "$.courtesies.es[1]", id="no-word"),
        pytest.param({"specifics": [3]}, "$.specifics[0]", id="number"),
        pytest.param({"kinds": {"class": "def"}}, "$.kinds.class", id="cues"),
        pytest.param({"expansions": [{"said": ["a"]}]}, "$.expansions[0]", id="means"),
        pytest.param({"expansions": [{"said": ["a"], "means": [" "]}]}, "$.expansions[0].means[0]", id="blank"),
        pytest.param({"expansions": ["a"]}, "$.expansions[0]", id="entry"),
        pytest.param({"words": []}, "$", id="unknown-field"),
    ],
)
def test_faulty_field(folder: Path, change: dict[str, Any], place: str) -> None:
    """A field that cannot be used is named with its file, its place and the remedy."""
    with pytest.raises(DataError) as caught:
        read_vocabulary(written(folder, EMPTY | change), "subject")
    (fault,) = caught.value.faults
    assert (fault.file, fault.place) == ("vocabulary/subject.json", place)
    assert fault.remedy.endswith(("; correct it", "; add it", "; remove or rename the field"))


@pytest.mark.parametrize("field", EMPTY)
def test_missing_field(folder: Path, field: str) -> None:
    """A missing field is named."""
    document = {name: value for name, value in EMPTY.items() if name != field}
    with pytest.raises(DataError, match=f'subject.json: .*"{field}" is a required property; add it'):
        read_vocabulary(written(folder, document), "subject")


def test_nothing_known(folder: Path) -> None:
    """A vocabulary may be empty: then every word carries meaning."""
    vocabulary = read_vocabulary(written(folder, EMPTY), "subject")
    assert vocabulary.content("how is it") == ["how", "is", "it"]
    assert (vocabulary.kinds, vocabulary.expansions.longest) == ((), 0)


@pytest.mark.parametrize("name", ["code", "tramites"])
def test_schema(name: str) -> None:
    """The vocabularies that are carried keep to their schema."""
    schema = json.loads((VOCABULARIES.parent / "schema" / "vocabulary.schema.json").read_text("utf-8"))
    document = json.loads((VOCABULARIES / f"{name}.json").read_text("utf-8"))
    assert Schema(schema).faults(document, "document") == []


def test_expansions_repeat_no_name() -> None:
    """What a procedure's own file calls it is not said again, and every phrase is listed once."""
    files = [json.loads(file.read_text("utf-8")) for file in sorted((VOCABULARIES.parent / "tramites").glob("*.json"))]
    names = {tuple(words(name)) for file in files for listed in file["vocabulary"].values() for name in listed}
    said = [
        tuple(words(phrase))
        for entry in json.loads((VOCABULARIES / "tramites.json").read_text("utf-8"))["expansions"]
        for phrase in entry["said"]
    ]
    assert names.intersection(said) == set()
    assert len(said) == len(set(said))


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        pytest.param("I'm back on the dole money", "prestación por desempleo", id="en"),
        pytest.param("me quieren echar de casa", "servicios sociales", id="es"),
        pytest.param("где взять справку о несудимости", "certificado de antecedentes penales", id="ru"),
        pytest.param("我失业了", "prestación por desempleo", id="zh"),
        pytest.param("فقدت عملي", "situación legal de desempleo", id="ar"),
    ],
)
def test_bridges(text: str, meaning: str) -> None:
    """What people say in their language leads to the official term."""
    assert meaning in TRAMITES.expansions.meanings(words(text))
