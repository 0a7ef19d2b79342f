"""Tests of the proof of a reply: what passes, and what each kind of wrong statement is called."""

from collections.abc import Mapping
from pathlib import Path
from time import perf_counter
from typing import Any

import pytest
from unit_builders import passage_of

from clara.answering.verification.polarity import denials_in
from clara.answering.verification.prover import FaultKind, Prover
from clara.answering.verification.statements import Subjects, read_bodies
from clara.language.figures.lexicon import read_lexicons
from clara.language.figures.reader import Reader
from clara.language.tokens import cut
from clara.retrieval.passage import Passage


def fact(name: str, text: str, document: str = "imv", territory: str = "ES", **changes: Any) -> Passage:
    """A fact as the catalogue gives it."""
    heading = {"imv": "Ingreso mínimo vital (IMV)", "arraigo": "Arraigo", "nie": "NIE"}.get(document, document)
    told = {"sources": [], **changes}
    return passage_of(f"{document}-plazos-01", text, id=name, territory=territory, heading=(heading, "Plazos"), **told)


AMOUNT = fact("a", "La renta garantizada de una persona sola en 2026 es de 733,60 € al mes.")
PERIOD = fact("b", "Extranjería resuelve el arraigo en tres meses; si no contestan, se entiende denegado.", "arraigo")
DENIED = fact("c", "Los compañeros de piso sin parentesco no son unidad de convivencia.")
LIMITED = fact("d", "Puede cobrar el IMV una persona sola de 23 años o más.", conditions=["a"])
MADRID = fact("e", "En Madrid la ayuda se pide en el registro de la comunidad.", territory="ES-MD")
LINKED = fact(
    "f", "El IMV se pide en la sede electrónica.", sources=[{"url": "https://sede.seg-social.gob.es", "seen_on": "2026-08-07"}]
)
BOUND = fact("g", "La tasa es de 16,40 € como mínimo, en 30 días.")
CITED = {"C1": AMOUNT, "C2": PERIOD, "C3": DENIED, "C4": LIMITED, "C5": MADRID, "C6": LINKED, "C7": BOUND}


@pytest.fixture(scope="module")
def prover(data: Path, real: Any) -> Prover:
    """The real proof."""
    return Prover(Reader(read_lexicons(data)), Subjects(real.catalogue, read_bodies(data)))


@pytest.mark.parametrize(
    ("language", "text"),
    [
        pytest.param("es", "En 2026 una persona sola cobra 733,60 euros cada mes [C1].", id="other-words"),
        pytest.param("en", "A single person gets €733.60 a month in 2026. [C1]", id="english-format"),
        pytest.param("ar", "الدخل المضمون هو ٧٣٣٫٦٠ يورو شهريا [C1].", id="arabic-digits"),
        pytest.param("zh", "移民局在三个月内作出决定，没有答复就表示被拒绝[C2]。", id="chinese"),
        pytest.param(
            "ru", "Решение принимают в течение трёх месяцев. [C2] Если ответа нет, это отказ. [C2]", id="two-sentences"
        ),
        pytest.param(
            "es",
            "Sobre los plazos:\n1. Resuelven el arraigo en 3 meses [C2].\n2. Si no contestan, está denegado [C2].",
            id="list",
        ),
        pytest.param("fr", "Les colocataires sans lien de parenté ne forment pas une unité de vie [C3].", id="denied-both"),
        pytest.param(
            "es", "La persona sola de 23 años o más puede cobrarlo [C4]; son 733,60 € al mes [C1].", id="with-condition"
        ),
        pytest.param(
            "es", "Se pide en la sede electrónica, https://sede.seg-social.gob.es, comprobada el 07/08/2026 [C6].", id="source"
        ),
        pytest.param("es", "En Madrid la ayuda se pide en el registro [C5].", id="its-territory"),
    ],
)
def test_a_faithful_reply_is_proved(prover: Prover, language: str, text: str) -> None:
    """The same facts in other words, formats and languages have no fault."""
    assert prover.prove(text, CITED, language) == []


@pytest.mark.parametrize(
    ("language", "text", "kind"),
    [
        pytest.param("es", "Una persona sola cobra 733,60 € al mes.", FaultKind.UNMARKED, id="no-mark"),
        pytest.param("es", "Una persona sola cobra 733,60 € al mes [C9].", FaultKind.MARK, id="mark-of-nothing"),
        pytest.param("es", "Una persona sola cobra 736,30 € al mes [C1].", FaultKind.FIGURE, id="swapped-digits"),
        pytest.param("es", "Una persona sola cobra 733,60 € al año [C1].", FaultKind.FIGURE, id="another-rhythm"),
        pytest.param(
            "en", "They decide within three weeks; no answer means refusal [C2].", FaultKind.FIGURE, id="another-unit"
        ),
        pytest.param("zh", "移民局在四个月内作出决定，没有答复就表示被拒绝[C2]。", FaultKind.FIGURE, id="chinese-number"),
        pytest.param(
            "es",
            "La renta garantizada de una persona sola es de 733,60 € al mes [C1]\n7. y más [C1]",
            FaultKind.FIGURE,
            id="list-number",
        ),
        pytest.param("es", "Extranjería resuelve el arraigo en tres meses [C1].", FaultKind.FIGURE, id="mark-of-another-fact"),
        pytest.param(
            "es", "Los compañeros de piso sin parentesco son unidad de convivencia [C3].", FaultKind.NEGATION, id="no-lost"
        ),
        pytest.param("ru", "Соседи по квартире образуют семейную единицу [C3].", FaultKind.NEGATION, id="no-lost-in-russian"),
        pytest.param("en", "A single person does not get 733.60 euros a month [C1].", FaultKind.NEGATION, id="no-added"),
        pytest.param(
            "es", "Puede cobrar el IMV una persona sola de 23 años o más [C4].", FaultKind.CONDITION, id="condition-lost"
        ),
        pytest.param(
            "es", "En Cataluña la ayuda se pide en el registro de la comunidad [C5].", FaultKind.TERRITORY, id="elsewhere"
        ),
        pytest.param(
            "en", "For the NIE, a single person gets 733.60 euros a month [C1].", FaultKind.PROCEDURE, id="another-procedure"
        ),
        pytest.param("en", "The SEPE pays a single person 733.60 euros a month [C1].", FaultKind.NAME, id="another-office"),
        pytest.param(
            "es",
            "Para empadronarse basta llevar contrato, factura reciente y pasaporte vigente [C2].",
            FaultKind.SUPPORT,
            id="made-up",
        ),
    ],
)
def test_a_wrong_statement_is_found(prover: Prover, language: str, text: str, kind: FaultKind) -> None:
    """Whatever a statement says otherwise than the facts it cites is named by its kind."""
    assert kind in {fault.kind for fault in prover.prove(text, CITED, language)}


def test_the_persons_own_figures_may_be_repeated(prover: Prover) -> None:
    """A count or an age of the question passes in the clause that repeats it, and nowhere else."""
    said, question = (
        "{own}, y la renta garantizada de una persona sola es de 733,60 € al mes [C1].",
        "tengo 3 hijos, ¿cuánto es?",
    )
    assert prover.prove(said.format(own="Tienes 3 hijos"), CITED, "es", question) == []
    assert prover.prove(said.format(own="Tienes 4 hijos"), CITED, "es", question)
    assert prover.prove(said.format(own="Hay 3 plazos"), CITED, "es", question)


def test_a_local_fact_is_not_told_to_somebody_elsewhere(prover: Prover) -> None:
    """When the question names a place in which a fact does not hold, the fact is no answer."""
    text = "La ayuda se pide en el registro de la comunidad [C5]."
    assert [fault.kind for fault in prover.prove(text, CITED, "es", "vivo en Sevilla, ¿dónde se pide?")] == [
        FaultKind.TERRITORY
    ]


def test_conditions_out_of_force_need_not_be_told(data: Path, real: Any) -> None:
    """A limiting fact that may not be told today does not hold up the one it limits."""
    prover = Prover(Reader(read_lexicons(data)), Subjects(real.catalogue, read_bodies(data)), lambda _: False)
    assert prover.prove("Puede cobrar el IMV una persona sola de 23 años o más [C4].", CITED, "es") == []


def test_every_fact_proves_itself(prover: Prover, real: Any) -> None:
    """A fact of one sentence, quoted with its mark and its limits, has no fault: the reading of facts and replies is one."""
    passages: Mapping[str, Passage] = {passage.id: passage for passage in real.passages}
    wrong = {
        passage.id: faults
        for passage in list(passages.values())[::4]
        if (
            faults := [
                fault
                for fault in prover.prove(f"• {passage.text} [C1]", {"C1": passage}, "es")
                if fault.kind not in {FaultKind.CONDITION, FaultKind.UNMARKED}
            ]
        )
    }
    assert wrong == {}


def test_denials_of_a_long_clause_are_read_in_time(data: Path) -> None:
    """Twenty thousand words without a pause take a moment: the time goes with the length, not with its square."""
    tokens = cut("no puede volver a venir " * 4_000)
    lexicon = read_lexicons(data)["es"]
    started = perf_counter()
    read = denials_in(tokens, lexicon)
    assert perf_counter() - started < 2
    assert ("puede", "volve") in read.denied
