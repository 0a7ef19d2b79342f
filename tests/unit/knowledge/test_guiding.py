"""Tests of telling what a question is about before it is searched for."""

from math import exp
from typing import Any

import pytest
from unit_builders import procedure_of

from clara.knowledge.catalogue import Catalogue
from clara.knowledge.keyword_tier import NamedProcedures, understanding
from clara.knowledge.places import Places
from clara.knowledge.questions import OUTSIDE
from clara.retrieval.intent import Intent
from clara.retrieval.passage import Query
from clara.retrieval.ports import Vector

NAMED = NamedProcedures(
    Catalogue(
        {
            "nie": procedure_of("nie", vocabulary={"es": ("NIE",)}),
            "tie": procedure_of("tie", vocabulary={"es": ("TIE",)}),
        },
        (),
        Places([]),
    )
)


def understood(text: str, documents: dict[str, float], sections: dict[tuple[str, str], float] | None = None) -> Query:
    """Understand a question of which the model thinks this."""
    understand = understanding(lambda _text, _vector: Intent(documents, sections or {}), NAMED)
    return understand(Query(text, "clara", "fr", 7, territories=("ES",)), None)


def test_weights() -> None:
    """A document weighs 1.5 times its probability, a section a quarter of its own, and what lies outside is a probability."""
    query = understood(
        "¿cuánto tarda?", {"nie": 0.6, "tie": 0.3, OUTSIDE: 0.1}, {("nie", "plazos"): 0.8, ("tie", "plazos"): 0.4}
    )
    assert query.documents == pytest.approx({"nie": 0.9, "tie": 0.45})
    assert query.sections == pytest.approx({("nie", "plazos"): 0.2, ("tie", "plazos"): 0.1})
    assert query.outside == pytest.approx(0.1)


def test_the_rest_of_the_query_stays() -> None:
    """Understanding adds to a query and changes nothing that was in it."""
    query = understood("¿cuánto tarda?", {"nie": 1.0})
    assert (query.text, query.corpus, query.language, query.limit, query.territories) == (
        "¿cuánto tarda?", "clara", "fr", 7, ("ES",),
    )  # fmt: skip


def test_named() -> None:
    """The odds of a procedure that the question names grow e³ times, and all are shared out again."""
    query = understood("¿cuánto tarda el NIE?", {"nie": 0.2, "tie": 0.3, OUTSIDE: 0.5})
    total = 0.2 * exp(2) + 0.3 + 0.5
    assert query.documents == pytest.approx({"nie": 1.5 * 0.2 * exp(2) / total, "tie": 1.5 * 0.3 / total})
    assert query.outside == pytest.approx(0.5 / total)


def test_named_and_unknown_to_the_model() -> None:
    """A procedure that is named counts although the model was not trained on it: as if it had thought of it a little."""
    query = understood("la TIE", {"nie": 1.0})
    total = 1.0 + 0.02 * exp(2)
    assert query.documents == pytest.approx({"nie": 1.5 / total, "tie": 1.5 * 0.02 * exp(2) / total})


@pytest.mark.parametrize(
    ("chance", "kept"), [pytest.param(0.02, True, id="two-in-a-hundred"), pytest.param(0.0199, False, id="less")]
)
def test_least(chance: float, kept: bool) -> None:
    """What is less likely than two in a hundred is left out: documents with their sections, and sections."""
    query = understood(
        "¿cuánto tarda?",
        {"nie": 1 - chance, "tie": chance},
        {("nie", "plazos"): 1 - chance, ("nie", "cuantias"): chance, ("tie", "plazos"): 1.0},
    )
    assert ("tie" in query.documents) is kept
    assert (("tie", "plazos") in query.sections) is kept
    assert (("nie", "cuantias") in query.sections) is kept
    assert ("nie", "plazos") in query.sections


def test_nothing_known() -> None:
    """Where the model knows no document nothing is added, and nothing is outside."""
    query = understood("¿cuánto tarda?", {})
    assert (query.documents, query.sections, query.outside) == ({}, {}, 0.0)


def test_the_model_sees_text_and_vector() -> None:
    """The question and its vector reach the model as they are."""
    seen: list[tuple[str, Vector | None]] = []

    def recognise(text: str, vector: Vector | None) -> Intent:
        seen.append((text, vector))
        return Intent()

    understanding(recognise, NAMED)(Query("el NIE", "clara"), [0.6, 0.8])
    assert seen == [("el NIE", [0.6, 0.8])]


@pytest.mark.parametrize(
    ("text", "document", "section"),
    [
        pytest.param("¿cuánto cuesta el NIE?", "nie", "cuantias", id="es-fee"),
        pytest.param("quiero empadronarme y no tengo contrato", "empadronamiento", None, id="es-register"),
        pytest.param("me he quedado sin trabajo y quiero cobrar", "prestacion_desempleo", None, id="es-unemployed"),
        pytest.param("mi marido me pega", "violencia_genero_urgencias", None, id="es-violence"),
        pytest.param("how do I apply for asylum", "proteccion_internacional", "como_solicitar", id="en-asylum"),
        pytest.param("失业金怎么申请", "prestacion_desempleo", "como_solicitar", id="zh-benefit"),
        pytest.param("пособие по безработице", "prestacion_desempleo", None, id="ru-benefit"),
    ],
)
def test_really_understood(real: Any, text: str, document: str, section: str | None) -> None:
    """The real model, without an embedder, tells what people ask about in their own words and languages."""
    query = real.understand(Query(text, "clara"), None)
    assert max(query.documents, key=query.documents.get) == document
    assert query.outside < 0.5
    if section:
        own = {pair: weight for pair, weight in query.sections.items() if pair[0] == document}
        assert max(own, key=own.get) == (document, section)


@pytest.mark.parametrize("text", ["¿quién ganó la liga?", "qué tiempo hace mañana", "pedir hora con el dentista"])
def test_really_outside(real: Any, text: str) -> None:
    """What the catalogue does not hold is told to lie outside it."""
    assert real.understand(Query(text, "clara"), None).outside > 0.5
