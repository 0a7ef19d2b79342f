"""Tests of what the model of intents learns from."""

from dataclasses import replace
from typing import Any

from tests.languages import TAUGHT
from unit_builders import procedure_of

from clara.knowledge.catalogue import Catalogue, examples_of
from clara.knowledge.places import Places
from clara.knowledge.questions import TypicalQuestion, digest_of

QUESTION = TypicalQuestion("nie/plazos/es/01", "¿cuánto tarda?", "es", "nie", "plazos")
OTHER = TypicalQuestion("tie/plazos/es/01", "¿cuándo llega?", "es", "tie", "plazos")
NIE = procedure_of("nie", name={"es": "el NIE", "en": "the NIE"}, vocabulary={"es": ("número",), "fr": ("le NIE",)})


def test_examples() -> None:
    """The model learns from every question and, as the shortest of questions, from every name in a language of questions."""
    english = replace(QUESTION, id="nie/plazos/en/01", text="how long?", language="en")
    names = examples_of(Catalogue({"nie": NIE}, (QUESTION,), Places([])))[1:]
    assert {name.language for name in names} == {"es"}
    assert examples_of(Catalogue({"nie": NIE}, (QUESTION, english), Places([]))) == [
        QUESTION,
        english,
        TypicalQuestion("nie/name/es/0", "el NIE", "es", "nie", ""),
        TypicalQuestion("nie/name/es/1", "número", "es", "nie", ""),
        TypicalQuestion("nie/name/en/0", "the NIE", "en", "nie", ""),
    ]


def test_real_examples(real: Any) -> None:
    """The real examples have ids of their own and cover every procedure, and what lies outside, in each taught language."""
    examples = examples_of(real.catalogue)
    assert len({example.id for example in examples}) == len(examples)
    assert {(example.procedure, example.language) for example in examples} == {
        (procedure, language) for procedure in (*real.catalogue.procedures, "outside") for language in TAUGHT
    }


def test_digest_is_of_the_set() -> None:
    """The order of the examples, their ids and their languages make no difference: the model learns the same."""
    renamed = replace(QUESTION, id="nie/plazos/ca/09", language="ca")
    assert digest_of([QUESTION, OTHER]) == digest_of([OTHER, renamed])


def test_digest_tells_changes() -> None:
    """Another text, another procedure, another section, one more or one less example: each gives another digest."""
    changed = [
        [QUESTION, OTHER],
        [QUESTION],
        [],
        [QUESTION, QUESTION],
        [replace(QUESTION, text="¿cuánto tarda mi cita?"), OTHER],
        [replace(QUESTION, section="cuantias"), OTHER],
        [replace(QUESTION, section=""), OTHER],
        [replace(QUESTION, procedure="tie"), OTHER],
    ]
    assert len({digest_of(examples) for examples in changed}) == len(changed)
