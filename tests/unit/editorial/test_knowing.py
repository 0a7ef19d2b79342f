"""Tests of what an editor reads about the knowledge."""

from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from unit_builders import fact_of, procedure_of

from clara.data_files import partial_date
from clara.knowledge.catalogue import Catalogue, examples_of
from clara.knowledge.keyword_tier import NamedProcedures
from clara.knowledge.knowledge_base import Knowledge
from clara.knowledge.places import Place, PlaceLevel, Places
from clara.knowledge.procedure import Certainty, LegalBasis, Procedure, Source
from clara.knowledge.questions import digest_of
from clara.knowledge.sources import read_sources
from clara.plain_text import WIDTH
from clara.quality.knowledge_pages import STALE, UnknownProcedureError, check, page_of, report, show

TODAY = date(2026, 11, 21)
PLACES = Places(
    [Place("ES", PlaceLevel.STATE, "España", None), Place("ES-MD", PlaceLevel.COMUNIDAD, "Comunidad de Madrid", None)]
)
BASIS = (LegalBasis("BOE-A-2000-544", "art. 4"),)
FACTS = (
    fact_of("nie-plazos-01", legal_basis=BASIS),
    fact_of("nie-plazos-02", valid_until=date(2026, 12, 31)),
    fact_of("nie-plazos-03", certainty=Certainty.UNVERIFIED, sources=()),
)


@dataclass(frozen=True)
class Trained:
    """A model of which only is known what it was trained on."""

    about: dict[str, str]


def reported(*procedures: Procedure, trained_on: str | None = None) -> tuple[bool, list[str]]:
    """Report on some procedures; by default the model was trained on them."""
    catalogue = Catalogue({procedure.id: procedure for procedure in procedures}, (), PLACES)
    model = Trained({"trained_on": trained_on or digest_of(examples_of(catalogue))})
    said: list[str] = []
    clean = report(Knowledge(Path("data"), catalogue, (), NamedProcedures(catalogue), model), TODAY, said.append)
    return clean, "\n".join(said).splitlines()


def test_clean() -> None:
    """A procedure is told with what an editor should weigh; none of that must be mended."""
    clean, lines = reported(procedure_of("nie", *FACTS, vocabulary={}))
    assert clean
    assert lines == [
        "nie: 3 facts (2 official, 1 unverified)",
        "  about to expire, last day 2026-12-31: nie-plazos-02",
        "  main sections that it does not have: identidad, requisitos, documentos, como_solicitar, cuantias",
        "  official facts without legal basis: nie-plazos-02",
        "  languages without name or vocabulary: es, en, fr, ar, ro, pt, ca, zh, uk, ru, gl",
        "  too few typical questions: plazos (es: 0), plazos (en: 0), plazos (fr: 0), plazos (ar: 0), plazos (ro: 0),",
        "    plazos (pt: 0), plazos (ca: 0), plazos (zh: 0), plazos (uk: 0), plazos (ru: 0), plazos (gl: 0)",
        "",
        "1 procedures, 3 facts, 0 typical questions, 2 places. Every figure of every text is among its values.",
        "2 facts may be told; 0 of them were found right beside the article by somebody else than their writer.",
        "Nothing has to be mended.",
    ]


def test_expired() -> None:
    """A fact that has ended is told under its procedure and, with what to do, at the end."""
    clean, lines = reported(procedure_of("nie", fact_of("nie-plazos-01", valid_until=date(2025, 12, 31))))
    assert not clean
    assert "  EXPIRED, not told any more: nie-plazos-01" in lines
    assert "  sections without a fact to tell: plazos" in lines
    assert lines[-2:] == [
        "To be mended:",
        "  nie-plazos-01 ended on 2025-12-31: give it the new figures and days, or remove it",
    ]


def test_ends_by_day() -> None:
    """Facts that are about to end come by their last day, the next first."""
    facts = [
        fact_of(f"nie-plazos-{place:02}", valid_until=date(2026, 12, day)) for place, day in enumerate((31, 1, 31), start=1)
    ]
    _, lines = reported(procedure_of("nie", *facts))
    assert [line for line in lines if "about to expire" in line] == [
        "  about to expire, last day 2026-12-01: nie-plazos-02",
        "  about to expire, last day 2026-12-31: nie-plazos-01, nie-plazos-03",
    ]


def test_stale_model() -> None:
    """A model that was trained on other questions is told, with the command to run."""
    clean, lines = reported(procedure_of("nie", *FACTS), trained_on="0" * 64)
    assert not clean
    assert lines[-2:] == ["To be mended:", f"  {STALE}"]


def test_page() -> None:
    """A procedure reads as a page: under each fact what it is said with, how sure it is, where it holds, where to read it."""
    limited = fact_of(
        "nie-plazos-01",
        "Hay que recogerlo.",
        conditions=("nie-plazos-02",),
        legal_basis=(*BASIS, LegalBasis("BOE-A-2015-10565")),
        territory="ES-MD",
        valid_from=date(2026, 1, 1),
        valid_until=date(2026, 12, 31),
    )
    other = fact_of(
        "nie-plazos-02",
        "Nadie puede recogerlo por otro.",
        certainty=Certainty.TWO_SOURCES,
        sources=(
            Source("https://uno.example", partial_date("2026-07")),
            Source("https://dos.example", partial_date("2026-07-08")),
        ),
    )
    procedure = procedure_of("nie", limited, other, name={"es": "NIE"}, closed_on=date(2026, 6, 30))
    assert list(page_of(procedure, PLACES, TODAY)) == [
        "NIE",
        "===",
        "Quién decide: Policía Nacional",
        "Cerrado desde el 30/06/2026.",
        "",
        "Plazos",
        "------",
        "• Hay que recogerlo.",
        "    Se dice siempre con nie-plazos-02: Nadie puede recogerlo por otro.",
        "    nie-plazos-01 · oficial · solo en Comunidad de Madrid (ES-MD) · desde el 01/01/2026 · hasta el 31/12/2026",
        "    Norma: BOE-A-2000-544 art. 4; BOE-A-2015-10565",
        "    https://sede.example/nie (comprobado: 08/07/2026)",
        "• Nadie puede recogerlo por otro.",
        "    nie-plazos-02 · dos fuentes",
        "    https://uno.example (comprobado: 07/2026)",
        "    https://dos.example (comprobado: 08/07/2026)",
    ]


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        pytest.param({}, "nie-plazos-01 · oficial", id="always"),
        pytest.param({"certainty": Certainty.SECONDARY}, "nie-plazos-01 · una fuente no oficial", id="secondary"),
        pytest.param({"certainty": Certainty.UNVERIFIED}, "nie-plazos-01 · sin fuente: no se publica", id="unverified"),
        pytest.param(
            {"valid_until": date(2026, 11, 20)},
            "nie-plazos-01 · oficial · hasta el 20/11/2026 · CADUCADO: ya no se dice",
            id="expired",
        ),
        pytest.param({"valid_until": TODAY}, "nie-plazos-01 · oficial · hasta el 21/11/2026", id="last-day"),
        pytest.param(
            {"valid_from": date(2026, 11, 22)},
            "nie-plazos-01 · oficial · desde el 22/11/2026 · todavía no se dice",
            id="not-yet",
        ),
        pytest.param({"valid_from": TODAY}, "nie-plazos-01 · oficial · desde el 21/11/2026", id="first-day"),
    ],
)
def test_evidence(changes: dict[str, object], line: str) -> None:
    """Under a fact stand its id, how sure it is and its days, and whether it is told today."""
    page = list(page_of(procedure_of("nie", fact_of(**changes)), PLACES, TODAY))
    assert f"    {line}" in page


def test_long_text_is_wrapped() -> None:
    """A long text is wrapped under its mark, and no word of it is lost."""
    text = "Un texto largo " * 20 + "https://sede.example/una-direccion-que-no-se-corta-nunca"
    page = list(page_of(procedure_of("nie", fact_of(text=text)), PLACES, TODAY))
    (shown,) = [entry for entry in page if entry.startswith("•")]
    first, *rest = shown.split("\n")
    assert rest
    assert all(len(line) <= WIDTH for line in (first, *rest))
    assert all(line.startswith("  ") for line in rest)
    assert " ".join(shown.split()) == f"• {text}"


def test_real_pages(real: Any) -> None:
    """Every real procedure has its page, with each of its facts once as a line of evidence."""
    for procedure in real.catalogue.procedures.values():
        lines = "\n".join(page_of(procedure, real.catalogue.places, TODAY)).splitlines()
        for fact in procedure.facts:
            assert sum(line.startswith(f"    {fact.id} · ") for line in lines) == 1, fact.id


def test_show(real: Any) -> None:
    """A procedure is shown by its id."""
    said: list[str] = []
    show("imv", said.append)
    assert said[0].startswith("Ingreso mínimo vital (IMV)\n====")
    assert len(said) == 1


def test_show_unknown() -> None:
    """A procedure that does not exist is named, with all that do."""
    with pytest.raises(
        UnknownProcedureError,
        match=r"there is no procedure 'imvv'; the procedures are: antecedentes_penales, arraigo, autonomos",
    ):
        show("imvv", lambda _said: None)


def test_check(real: Any) -> None:
    """The real knowledge is told procedure by procedure, and then as a whole."""
    said: list[str] = []
    check(said.append)
    assert [entry.split(":")[0] for entry in said[:-6]] == list(real.catalogue.procedures)
    assert said[-6].startswith("\n55 procedures, ")
    assert f"{len(real.catalogue.places.by_code)} places" in said[-6]
    assert said[-3].startswith(f"{len(read_sources(real.data))} sources; ")
