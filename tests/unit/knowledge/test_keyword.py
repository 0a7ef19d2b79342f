"""Tests of the tier that needs neither database nor embedder."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from math import log
from typing import Any

import pytest
from unit_builders import passage_of

from clara.knowledge.keyword_tier import KEYWORD, keyword
from clara.retrieval.calibration import Calibration
from clara.retrieval.hybrid import Understand
from clara.retrieval.passage import Found, Hit, Query, Status
from clara.retrieval.ports import Vector

PASSAGES = [
    passage_of("nie-identidad-01", "Es un número personal."),
    passage_of("nie-plazos-01", "La cita dura diez minutos."),
    passage_of("nie-plazos-02", "El número llega en cinco días por correo certificado."),
    passage_of("tie-identidad-01", "Es una cartulina con foto."),
    passage_of("tie-plazos-01", "Se recoge a los treinta días."),
]
ON_NIE = {"nie": 1.0}


@dataclass
class Certain:
    """A judge that is always as certain, and notes what it was shown."""

    confidence: float = 1.0
    threshold: float = 0.5
    seen: list[tuple[Query, Sequence[Hit]]] = field(default_factory=list)

    def probability(self, query: Query, hits: Sequence[Hit]) -> float:
        """Give the confidence."""
        self.seen.append((query, hits))
        return self.confidence


def about(documents: Mapping[str, float], sections: Mapping[tuple[str, str], float] | None = None) -> Understand:
    """Understand every question as one about these documents and sections."""

    def understand(query: Query, vector: Vector | None) -> Query:
        assert vector is None
        return replace(query, documents=documents, sections=sections or {}, outside=0.25)

    return understand


def ask(text: str, understand: Understand, judge: Certain | None = None, **changes: object) -> Found:
    """Ask the tier on the five passages."""
    return keyword(PASSAGES, understand, judge or Certain())(Query(text, "clara", **changes))


@pytest.mark.parametrize(
    ("text", "understand", "expected"),
    [
        pytest.param(
            "NIE", about(ON_NIE), ["nie-identidad-01", "nie-plazos-01", "nie-plazos-02"], id="editors-order-without-more"
        ),
        pytest.param(
            "NIE",
            about(ON_NIE, {("nie", "plazos"): 0.5}),
            ["nie-plazos-01", "nie-plazos-02", "nie-identidad-01"],
            id="section-first",
        ),
        pytest.param(
            "NIE",
            about(ON_NIE, {("tie", "plazos"): 0.5}),
            ["nie-identidad-01", "nie-plazos-01", "nie-plazos-02"],
            id="section-of-another-document",
        ),
        pytest.param(
            "por correo certificado",
            about(ON_NIE),
            ["nie-plazos-02", "nie-identidad-01", "nie-plazos-01"],
            id="shared-words",
        ),
        pytest.param(
            "",
            about({"nie": 0.4, "tie": 0.9}),
            ["tie-identidad-01", "tie-plazos-01", "nie-identidad-01", "nie-plazos-01", "nie-plazos-02"],
            id="likelier-document-first",
        ),
        pytest.param(
            "cinco días", about({"nie": 0.4, "tie": 0.5}), ["nie-plazos-02", "tie-plazos-01", "tie-identidad-01",
            "nie-identidad-01", "nie-plazos-01"], id="words-overrule-a-small-difference"
        ),
    ],
)  # fmt: skip
def test_order(text: str, understand: Understand, expected: list[str]) -> None:
    """Passages come by the weights of document and section plus the rare words shared, then in the editor's order."""
    found = ask(text, understand)
    assert (found.status, found.tier) == (Status.FOUND, KEYWORD)
    assert [hit.passage.id for hit in found.hits] == expected


def test_scores() -> None:
    """A score is the document's weight, the section's, and the share of the question's rarity that the passage holds."""
    found = ask("foto plazos jirafa", about({"tie": 1.5}, {("tie", "plazos"): 0.5}))
    foto, plazos = log(1 + 5 / 1), log(1 + 5 / 3)  # in one passage and in the headings of three; the giraffe in none
    assert {hit.passage.id: hit.score for hit in found.hits} == pytest.approx(
        {"tie-plazos-01": 1.5 + 0.5 + plazos / (foto + plazos), "tie-identidad-01": 1.5 + foto / (foto + plazos)}
    )


def test_limit() -> None:
    """No more passages come than were asked for, and no more are judged."""
    judge = Certain()
    assert len(ask("el NIE", about(ON_NIE), judge, limit=2).hits) == 2
    assert len(judge.seen[0][1]) == 2


@pytest.mark.parametrize(
    ("territories", "expected"),
    [
        pytest.param((), ["nie-plazos-01", "nie-plazos-02", "nie-plazos-03"], id="anywhere"),
        pytest.param(("ES-M", "ES-MD", "ES"), ["nie-plazos-01", "nie-plazos-02"], id="madrid"),
        pytest.param(("ES-RI", "ES"), ["nie-plazos-01"], id="la-rioja"),
    ],
)
def test_territories(territories: tuple[str, ...], expected: list[str]) -> None:
    """Where a place is named, only passages that hold in it or around it are found."""
    passages = [
        passage_of("nie-plazos-01"),
        passage_of("nie-plazos-02", territory="ES-MD"),
        passage_of("nie-plazos-03", territory="ES-CT"),
    ]
    found = keyword(passages, about(ON_NIE), Certain())(Query("el NIE", "clara", territories=territories))
    assert [hit.passage.id for hit in found.hits] == expected


@pytest.mark.parametrize(
    ("confidence", "status", "hits"),
    [
        pytest.param(0.51, Status.FOUND, 3, id="above"),
        pytest.param(0.5, Status.FOUND, 3, id="at-the-threshold"),
        pytest.param(0.49, Status.NOT_FOUND, 0, id="below"),
    ],
)
def test_judged(confidence: float, status: Status, hits: int) -> None:
    """Hits are shown from the judge's threshold on; below it there is a miss without hits, as certain as it is."""
    found = ask("el NIE", about(ON_NIE), Certain(confidence))
    assert (found.status, len(found.hits), found.confidence) == (status, hits, confidence)


def test_what_the_judge_sees() -> None:
    """The judge sees the question as it was understood and the hits as they are given."""
    judge = Certain()
    found = ask("el NIE", about(ON_NIE), judge)
    ((query, hits),) = judge.seen
    assert (query.documents, query.outside, hits) == (ON_NIE, 0.25, found.hits)


@pytest.mark.parametrize(
    "documents", [pytest.param({}, id="no-document"), pytest.param({"imv": 1.5}, id="document-without-passages")]
)
def test_nothing_there(documents: dict[str, float]) -> None:
    """Without a passage of a likely document there is a miss, however certain the judge is."""
    found = ask("cinco días por correo", about(documents), Certain(1.0))
    assert (found.status, found.hits) == (Status.NOT_FOUND, ())


def test_no_passages() -> None:
    """A tier without any passage misses."""
    found = keyword([], about(ON_NIE), Calibration({}, 9.0, 0.5))(Query("el NIE", "clara"))
    assert (found.status, found.hits, found.confidence) == (Status.NOT_FOUND, (), 0.0)


@pytest.mark.parametrize(
    ("text", "document", "section"),
    [
        pytest.param("¿cuánto cuesta el NIE?", "nie", "cuantias", id="es-fee"),
        pytest.param("qué documentos piden para el empadronamiento", "empadronamiento", "documentos", id="es-documents"),
        pytest.param("cuánto se cobra de IMV una persona sola", "imv", "cuantias", id="es-amount"),
        pytest.param("失业金怎么申请", "prestacion_desempleo", "como_solicitar", id="zh-apply"),
    ],
)
def test_real_tier(real: Any, text: str, document: str, section: str) -> None:
    """On the real data a question finds passages of its procedure, those of its section first."""
    found = real.keyword()(Query(text, "clara"))
    assert found.status is Status.FOUND
    assert (found.hits[0].passage.document_id, found.hits[0].passage.section) == (document, section)


@pytest.mark.parametrize("text", ["¿quién ganó la liga?", "receta de paella", "pedir hora con el dentista"])
def test_real_miss(real: Any, text: str) -> None:
    """On the real data a question about something else finds nothing."""
    assert real.keyword()(Query(text, "clara")).status is Status.NOT_FOUND


def test_real_chain_hides_what_ended(real: Any) -> None:
    """The chain that needs no database tells nothing that is not true on its day."""
    found = real.chain()(Query("cuánto se cobra de IMV", "clara", limit=100))
    assert found.hits
    assert all(hit.passage.holds(date(2026, 11, 21)) for hit in found.hits)
