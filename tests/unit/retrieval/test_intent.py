"""Tests of telling what a question is about."""

from collections.abc import Mapping
from math import log, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clara.retrieval.arrays import write_trained
from clara.retrieval.intent import BUCKETS, Intent, IntentModel, grams, read_intent
from clara.settings import resources

PAIRS = [["nie", "plazos"], ["nie", "cuantias"], ["tie", "plazos"]]
FACTS = [["nie", "nie-1"], ["nie", "nie-2"], ["nie", "nie-3"], ["tie", "tie-1"]]
ABOUT = {
    "classes": {"documents": ["nie", "outside", "tie"], "sections": ["cuantias", "plazos"], "within": PAIRS, "passages": FACTS},
    "section_of": {"nie-1": "plazos", "nie-2": "cuantias", "nie-3": "cuantias", "tie-1": "plazos"},
}
EAST, NORTH = [1.0, 0.0], [0.0, 1.0]


def tiny_arrays() -> dict[str, Any]:
    """Make a model of three documents and two sections whose probabilities can be computed by hand.

    A text " nie " has ten n-grams of equal weight 2/sqrt(10): its score for "nie" is log(9), and half of that beside a vector.
    A vector to the east scores log(5) for "tie", log(3)/2 for nie's section "cuantias" and log(2) for nie's third fact. Any
    text scores log(9) for "plazos".
    """
    by_document, nothing = np.zeros((BUCKETS, 3)), np.zeros((BUCKETS, 2))
    by_document[list(grams("nie")), 0] = log(9) / (2 * sqrt(10))
    return {
        "rarity": np.ones(BUCKETS),
        "mean": np.zeros(2),
        "documents_grams_bias": np.zeros(3),
        "documents_grams_buckets": by_document,
        "documents_full_bias": np.zeros(3),
        "documents_full_buckets": np.zeros((BUCKETS, 3)),
        "documents_full_embedding": np.array([[0, 0, log(5) / 4], [0, 0, 0]]),
        "sections_grams_bias": np.array([0, log(9)]),
        "sections_grams_buckets": nothing,
        "sections_full_bias": np.zeros(2),
        "sections_full_buckets": nothing,
        "sections_full_embedding": np.zeros((2, 2)),
        "within_bias": np.zeros(3),
        "within_embedding": np.array([[0, log(3) / 8, 0], [0, 0, 0]]),
        "passages_bias": np.zeros(4),
        "passages_embedding": np.array([[0, 0, log(2) / 4, 0], [0, 0, 0, 0]]),
    }


def written(folder: Path, **changes: Any) -> Path:
    """Write the tiny model, some of its arrays changed."""
    file = folder / "intent.npz"
    write_trained(file, {**tiny_arrays(), **changes}, {**ABOUT, "embedder": "tiny"})
    return file


@pytest.fixture
def tiny(tmp_path: Path) -> IntentModel:
    """The tiny model, written and read."""
    return read_intent(written(tmp_path))


@pytest.fixture(scope="module")
def model() -> IntentModel:
    """The real model."""
    return read_intent(resources() / "data" / "intent.npz")


@pytest.mark.parametrize(
    ("text", "vector", "nie", "outside", "tie"),
    [
        pytest.param("nie", None, 9 / 11, 1 / 11, 1 / 11, id="words-9-1-1"),
        pytest.param("xyz", None, 1 / 3, 1 / 3, 1 / 3, id="unknown-words"),
        pytest.param("xyz", EAST, 1 / 7, 1 / 7, 5 / 7, id="meaning-1-1-5"),
        pytest.param("xyz", NORTH, 1 / 3, 1 / 3, 1 / 3, id="another-meaning"),
        pytest.param("nie", EAST, 3 / 9, 1 / 9, 5 / 9, id="both-3-1-5"),
    ],
)
def test_documents(tiny: IntentModel, text: str, vector: list[float] | None, nie: float, outside: float, tie: float) -> None:
    """Words and meaning are weighed as written: the products of their odds, words by their root, shared out to a sum of one."""
    expected = {"nie": nie, "outside": outside, "tie": tie}
    assert tiny.intent(text, vector).documents == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize(
    ("vector", "plazos", "cuantias"),
    [
        pytest.param(None, 9 / 10, 1 / 10, id="words-9-1"),
        pytest.param(NORTH, 3 / 4, 1 / 4, id="another-meaning"),
        pytest.param(EAST, 1 / 2, 1 / 2, id="meaning-counts-twice:3-1*3"),
    ],
)
def test_sections(tiny: IntentModel, vector: list[float] | None, plazos: float, cuantias: float) -> None:
    """Each document shares its certainty among its own sections only; a single one has it all."""
    expected = {("nie", "plazos"): plazos, ("nie", "cuantias"): cuantias, ("tie", "plazos"): 1.0}
    assert tiny.intent("xyz", vector).sections == pytest.approx(expected, abs=1e-3)


def test_passages(tiny: IntentModel) -> None:
    """A passage is as likely as its own questions and its section say, among those of its document; only by the meaning."""
    # Both sections are equally likely to the east, where the third fact has two to one.
    expected = {("nie", "nie-1"): 1 / 4, ("nie", "nie-2"): 1 / 4, ("nie", "nie-3"): 1 / 2, ("tie", "tie-1"): 1.0}
    assert tiny.intent("xyz", EAST).passages == pytest.approx(expected, abs=1e-3)
    expected = {("nie", "nie-1"): 3 / 5, ("nie", "nie-2"): 1 / 5, ("nie", "nie-3"): 1 / 5, ("tie", "tie-1"): 1.0}
    assert tiny.intent("xyz", NORTH).passages == pytest.approx(expected, abs=1e-3)
    assert tiny.intent("xyz", None).passages == {}


def test_about(tiny: IntentModel) -> None:
    """What is to be known about a model is read back with it, the name of its embedder included."""
    assert tiny.about == {**ABOUT, "embedder": "tiny"}
    assert tiny.embedder == "tiny"


def test_only_words_without_a_vector(tiny: IntentModel, tmp_path: Path) -> None:
    """Without a vector, whatever was learnt of meanings changes nothing; with one it does."""
    learnt = {"documents_full_embedding": np.full((2, 3), [1.0, 2, 3]), "within_embedding": np.full((2, 3), [1.0, 2, 3])}
    other = read_intent(written(tmp_path, **learnt, documents_full_bias=np.array([4.0, 0, 0])))
    assert other.intent("el nie", None) == tiny.intent("el nie", None)
    assert other.intent("el nie", EAST) != tiny.intent("el nie", EAST)


def test_opinions_that_exclude_each_other(tmp_path: Path) -> None:
    """Two models certain of different documents still give probabilities."""
    certain = {"documents_grams_bias": np.array([300.0, 0, 0]), "documents_full_bias": np.array([0, 0, 300.0])}
    intent = read_intent(written(tmp_path, **certain)).intent("xyz", EAST)
    assert sum(intent.documents.values()) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("text", "same"),
    [
        pytest.param("¿Cuánto TARDA el Número?", "cuanto tarda el numero", id="es"),
        pytest.param("ÉTÉ à Ça", "ete a ca", id="fr"),
        pytest.param("Țară și Împrumut", "tara si imprumut", id="ro"),
        pytest.param("ＮＩＥ", "nie", id="full-width"),
        pytest.param("cua\u0301nto", "cuánto", id="separate-accent"),
        pytest.param("СКОЛЬКО Ещё", "сколько еще", id="ru"),
        pytest.param("مُحَمَّد", "محمد", id="ar"),
        pytest.param("  el,  NIE...\n", "el nie", id="signs-and-blanks"),
    ],
)
def test_accents_and_capitals(model: IntentModel, text: str, same: str) -> None:
    """Accents, capitals and signs make no difference."""
    assert grams(text) == grams(same)
    assert model.intent(text, None) == model.intent(same, None)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        pytest.param("nie", 4 + 3 + 2 + 1, id="2-to-5-letters-of-_nie_"),
        pytest.param("", 1, id="two-blanks"),
        pytest.param("空", 3 + 2 + 1, id="1-to-3-ideographs-of-_空_"),
    ],
)
def test_grams(text: str, count: int) -> None:
    """The pieces are counted with the blanks around the words, each in a bucket."""
    counted = grams(text)
    assert counted.total() == count
    assert all(0 <= bucket < BUCKETS for bucket in counted)


def test_marked_grams() -> None:
    """Marks count besides where they are asked for: the 8 pieces of "_año_" that hold an ñ, and none without a mark."""
    assert grams("año", marked=True).total() == grams("ano").total() + 8
    assert grams("ano", marked=True) == grams("ano")
    assert grams("an\u0303o", 1 << 15, marked=True) == grams("AÑO", 1 << 15, marked=True)


def test_more_buckets() -> None:
    """The number of buckets changes where a piece is counted, not what is."""
    assert grams("nie", 1 << 15).total() == grams("nie").total()
    assert all(0 <= bucket < 4 for bucket in grams("nie", 4))


def total_by_document(intent: Intent) -> dict[str, float]:
    """Add up the probabilities of each document's sections."""
    totals: dict[str, float] = {}
    for (document, _), share in intent.sections.items():
        totals[document] = totals.get(document, 0.0) + share
    return totals


def assert_probabilities(intent: Intent) -> None:
    """Check that everything shared out sums to one."""
    for chances in (intent.documents, intent.sections):
        assert all(0 <= chance <= 1 for chance in chances.values())
    assert sum(intent.documents.values()) == pytest.approx(1.0)
    totals: Mapping[str, float] = total_by_document(intent)
    assert totals == pytest.approx(dict.fromkeys(totals, 1.0))
    assert totals.keys() < intent.documents.keys()


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param(" \t\n", id="blank"),
        pytest.param("\x00", id="nul"),
        pytest.param("\ud800 NIE \udfff", id="lone-surrogates"),
        pytest.param("\ufdfa" * 200, id="200-ligatures"),
        pytest.param("a\u0301" * 5_000, id="5000-accents"),
        pytest.param("\u202e\u200b\ufeff", id="invisible"),
        pytest.param("1" * 10_000, id="10000-digits"),
        pytest.param("空" * 2_000, id="2000-ideographs"),
        pytest.param("😀👍🏽", id="emoji"),
        pytest.param("%s {0} '; drop table", id="placeholders"),
    ],
)
def test_hostile(model: IntentModel, text: str) -> None:
    """A hostile text gets probabilities like any other, with a vector and without."""
    for vector in (None, [0.0] * 384, [1.0] + [0.0] * 383):
        assert_probabilities(model.intent(text, vector))


@given(st.text(st.characters(exclude_categories=[]), max_size=200))
def test_anything(model: IntentModel, text: str) -> None:
    """Any text at all gets probabilities that sum to one."""
    assert_probabilities(model.intent(text, None))


@pytest.mark.parametrize(
    ("text", "document"),
    [
        pytest.param("¿cuánto cuesta el NIE?", "nie", id="es"),
        pytest.param("qiero enpadronarme", "empadronamiento", id="misspelt"),
        pytest.param("how do I get my health card", "tarjeta_sanitaria", id="en"),
        pytest.param("残疾证怎么申请", "certificado_discapacidad", id="zh"),
        pytest.param("¿quién ganó la liga de fútbol?", "outside", id="outside"),
    ],
)
def test_real_model_by_words(model: IntentModel, text: str, document: str) -> None:
    """The real model knows plain questions by their words alone."""
    documents = model.intent(text, None).documents
    assert max(documents, key=lambda name: documents[name]) == document


@pytest.mark.parametrize("name", ["about", "mean", "rarity", "documents_full_bias", "sections_grams_buckets", "within_bias"])
def test_incomplete(tmp_path: Path, name: str) -> None:
    """A model that lacks a part is refused, and the part is named."""
    file = written(tmp_path)
    with np.load(file) as stored:
        np.savez(file, **{key: stored[key] for key in stored.files if key != name})
    with pytest.raises(ValueError, match=rf"intent\.npz is no such model: KeyError\('{name}'\)"):
        read_intent(file)


def test_damaged(tmp_path: Path) -> None:
    """A file that is no archive of arrays at all is refused by its name."""
    file = tmp_path / "intent.npz"
    file.write_bytes(b"hello")
    with pytest.raises(ValueError, match=r"intent\.npz is damaged"):
        read_intent(file)
