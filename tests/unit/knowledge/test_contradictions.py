"""Facts that contradict each other: the same words of the same people and days, with other figures."""

from datetime import date

import pytest
from unit_builders import fact_of, procedure_of

from clara.data_files import package_folder
from clara.knowledge.catalogue import read_catalogue
from clara.knowledge.contradictions import contradicting, contradictions
from clara.knowledge.procedure import Fact
from clara.language.figures.reader import spanish
from clara.retrieval.validity import Validity

LONGER = "Para demandar por despido hay 20 días hábiles desde que se sale de la empresa."


def told(number: int, text: str, **changes: object) -> Fact:
    return fact_of(f"despido-plazos-{number:02}", text, values=spanish().values_in(text), **changes)


def found(*facts: Fact) -> list[tuple[str, str]]:
    return [(one.id, other.id) for one, other in contradicting(procedure_of("despido", *facts))]


@pytest.mark.parametrize(
    ("other", "contradicts"),
    [
        (told(2, "Para demandar por despido hay 15 días hábiles desde que se sale de la empresa."), True),
        (told(2, "Hay 15 días hábiles desde que se sale de la empresa para demandar por despido."), True),
        (told(2, LONGER), False),
        (told(2, "Para pedir el paro hay 15 días hábiles desde que se sale de la empresa."), False),
        (told(2, LONGER.replace("20", "15"), territory="ES-MD"), False),
        (told(2, LONGER.replace("20", "15"), validity=Validity(date(2027, 1, 1), None)), True),
    ],
)
def test_one_matter_has_one_figure(other: Fact, contradicts: bool) -> None:
    """Whatever the order of the words; of other matters, in another place, figures may differ."""
    assert found(told(1, LONGER), other) == ([("despido-plazos-01", "despido-plazos-02")] if contradicts else [])


def test_years_that_follow_each_other_do_not_contradict() -> None:
    """What ends before the other begins, and what speaks of another year or another number of people, is something else."""
    ended = told(1, LONGER, validity=Validity(None, date(2026, 12, 31)))
    assert found(ended, told(2, LONGER.replace("20", "15"), validity=Validity(date(2027, 1, 1), None))) == []
    family = "El límite de renta de la beca para una familia de 4 miembros es de 40.773 € al año."
    assert found(told(1, family), told(2, family.replace("4 miembros", "2 miembros").replace("40.773", "28.000"))) == []


def test_no_real_facts_contradict_each_other() -> None:
    """All of data/ is free of it."""
    assert list(contradictions(read_catalogue(package_folder() / "data"))) == []
