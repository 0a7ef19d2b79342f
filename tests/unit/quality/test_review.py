"""Tests of what an editor is told about the catalogue."""

from datetime import date, timedelta

import pytest
from unit_builders import fact_of, procedure_of

from clara.knowledge.catalogue import Catalogue
from clara.knowledge.places import Places
from clara.knowledge.procedure import Certainty, Fact, LegalBasis, Procedure
from clara.knowledge.questions import TypicalQuestion
from clara.quality.knowledge_pages import ProcedureReview, review

TODAY = date(2026, 11, 21)
BASIS = (LegalBasis("BOE-A-2000-544"),)
SIX = tuple(
    fact_of(f"nie-{section}-01", legal_basis=BASIS)
    for section in ("identidad", "requisitos", "documentos", "como_solicitar", "plazos", "cuantias")
)
NAMES = {"name": {"es": "NIE", "en": "NIE"}, "vocabulary": {"es": ("NIE",), "en": ("NIE",)}}


def asked(section: str, language: str, number: int) -> list[TypicalQuestion]:
    """Make typical questions on a section of the NIE."""
    return [
        TypicalQuestion(f"nie/{section}/{language}/{place}", f"{section} {language} {place}", language, "nie", section)
        for place in range(number)
    ]


ENOUGH = [
    question
    for section in ("identidad", "requisitos", "documentos", "como_solicitar", "plazos", "cuantias")
    for question in (*asked(section, "es", 10), *asked(section, "en", 3))
]


def reviewed(procedure: Procedure, *questions: TypicalQuestion, today: date = TODAY) -> ProcedureReview:
    """Review one procedure, served in Spanish and English."""
    (found,) = review(Catalogue({procedure.id: procedure}, questions, Places([])), today, ("es", "en"))
    return found


def test_nothing_to_say() -> None:
    """A procedure with all that it needs has no remarks."""
    nie = procedure_of("nie", *SIX, **NAMES)
    assert reviewed(nie, *ENOUGH) == ProcedureReview(nie, {Certainty.OFFICIAL: 6}, (), (), (), (), (), (), (), ())


@pytest.mark.parametrize(
    ("days", "expiring", "expired"),
    [
        pytest.param(-1, False, True, id="yesterday"),
        pytest.param(0, True, False, id="today"),
        pytest.param(60, True, False, id="in-sixty-days"),
        pytest.param(61, False, False, id="in-sixty-one-days"),
        pytest.param(None, False, False, id="never"),
    ],
)
def test_ends(days: int | None, expiring: bool, expired: bool) -> None:
    """A fact that ends within sixty days, the last included, is about to expire; one that has ended has expired."""
    fact = fact_of("nie-plazos-02", valid_until=None if days is None else TODAY + timedelta(days))
    found = reviewed(procedure_of("nie", *SIX, fact, **NAMES))
    assert (fact in found.expiring, fact in found.expired) == (expiring, expired)
    assert len(found.expiring) + len(found.expired) == expiring + expired


def test_closed_procedure_may_expire() -> None:
    """The facts of a closed procedure end with it: they are nothing to be mended."""
    fact = fact_of("nie-plazos-02", valid_until=TODAY - timedelta(1))
    assert reviewed(procedure_of("nie", fact, closed_on=TODAY - timedelta(1))).expired == ()


@pytest.mark.parametrize(
    ("fact", "untold"),
    [
        pytest.param(fact_of("nie-recursos-01"), (), id="told"),
        pytest.param(fact_of("nie-recursos-01", certainty=Certainty.UNVERIFIED), ("recursos",), id="unverified"),
        pytest.param(fact_of("nie-recursos-01", valid_until=TODAY - timedelta(1)), ("recursos",), id="expired"),
        pytest.param(fact_of("nie-recursos-01", valid_from=TODAY + timedelta(1)), ("recursos",), id="not-yet"),
        pytest.param(fact_of("nie-recursos-01", valid_from=TODAY), (), id="from-today"),
    ],
)
def test_untold_sections(fact: Fact, untold: tuple[str, ...]) -> None:
    """A section none of whose facts may be told today is named."""
    assert reviewed(procedure_of("nie", *SIX, fact, **NAMES)).untold_sections == untold


def test_one_fact_is_enough() -> None:
    """A section with one fact to tell is not named for the others."""
    unverified = fact_of("nie-plazos-02", certainty=Certainty.UNVERIFIED)
    found = reviewed(procedure_of("nie", *SIX, unverified, **NAMES))
    assert found.untold_sections == ()
    assert found.certainty == {Certainty.OFFICIAL: 6, Certainty.UNVERIFIED: 1}


def test_missing_sections() -> None:
    """The sections that people look for in every procedure are named where there are none; others are not."""
    found = reviewed(procedure_of("nie", *SIX[:4], fact_of("nie-recursos-01"), **NAMES))
    assert found.missing_sections == ("plazos", "cuantias")


@pytest.mark.parametrize(
    ("certainty", "basis", "named"),
    [
        pytest.param(Certainty.OFFICIAL, (), True, id="official-without"),
        pytest.param(Certainty.OFFICIAL, BASIS, False, id="official-with"),
        pytest.param(Certainty.SECONDARY, (), False, id="secondary-without"),
    ],
)
def test_without_basis(certainty: Certainty, basis: tuple[LegalBasis, ...], named: bool) -> None:
    """An official fact that names no norm is shown to the editor."""
    fact = fact_of("nie-plazos-02", certainty=certainty, legal_basis=basis)
    assert (fact in reviewed(procedure_of("nie", *SIX, fact, **NAMES)).without_basis) is named


@pytest.mark.parametrize(
    ("changes", "untranslated"),
    [
        pytest.param({"name": {"es": "NIE"}}, ("en",), id="no-name"),
        pytest.param({"vocabulary": {"es": ("NIE",)}}, ("en",), id="no-words"),
        pytest.param({"vocabulary": {"es": (), "en": ("NIE",)}}, ("es",), id="empty-words"),
        pytest.param({}, (), id="both"),
    ],
)
def test_untranslated(changes: dict[str, object], untranslated: tuple[str, ...]) -> None:
    """A served language without a name or without words for the procedure is named."""
    assert reviewed(procedure_of("nie", *SIX, **{**NAMES, **changes})).untranslated == untranslated


@pytest.mark.parametrize(
    ("spanish", "english", "thin"),
    [
        pytest.param(10, 3, (), id="enough"),
        pytest.param(9, 3, ("plazos (es: 9)",), id="nine-in-spanish"),
        pytest.param(10, 2, ("plazos (en: 2)",), id="two-in-english"),
        pytest.param(0, 0, ("plazos (es: 0)", "plazos (en: 0)"), id="none"),
    ],
)
def test_thin_questions(spanish: int, english: int, thin: tuple[str, ...]) -> None:
    """A main section needs ten typical questions in Spanish and three in each other language; how many it has is said."""
    questions = [*asked("plazos", "es", spanish), *asked("plazos", "en", english)]
    assert reviewed(procedure_of("nie", fact_of("nie-plazos-01"), **NAMES), *questions).thin_questions == thin


def test_questions_of_others_do_not_count() -> None:
    """Only a procedure's own questions make it understood; and sections that few ask for need none."""
    other = [TypicalQuestion(f"tie/plazos/es/{place}", f"la tarjeta {place}", "es", "tie", "plazos") for place in range(10)]
    found = reviewed(procedure_of("nie", fact_of("nie-plazos-01"), fact_of("nie-recursos-01"), **NAMES), *other)
    assert found.thin_questions == ("plazos (es: 0)", "plazos (en: 0)")


def test_every_procedure_in_order() -> None:
    """Every procedure is reviewed, in the catalogue's order."""
    procedures = {name: procedure_of(name) for name in ("tie", "nie")}
    found = review(Catalogue(procedures, (), Places([])), TODAY, ("es",))
    assert [one.procedure.id for one in found] == ["tie", "nie"]
