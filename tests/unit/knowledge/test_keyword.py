"""Tests of naming procedures and of the tier that needs neither database nor model."""

from typing import Any

import pytest
from unit_builders import passage_of

from clara.knowledge.catalogue import Catalogue
from clara.knowledge.keyword import TIER, NamedProcedures, SectionCues, keyword
from clara.knowledge.procedure import Procedure
from clara.retrieval.passage import Query, Retrieve, Status


def procedure_of(name: str, *phrases: str, lookalikes: tuple[str, ...] = ()) -> Procedure:
    """Make a procedure that is only named."""
    return Procedure(name, {"es": f"trámite {name}"}, "nadie", (), {"es": phrases}, {"es": lookalikes})


NAMED = NamedProcedures(
    Catalogue(
        {
            "nie": procedure_of("nie", "NIE", "número de extranjero", "la tarjeta", lookalikes=("tarjeta NIE",)),
            "tie": procedure_of("tie", "TIE", "la tarjeta", "renovar la tarjeta"),
        }
    )
)
CUES = SectionCues({"plazos": {"es": ["cuánto tarda", "plazo"], "en": ["how long"]}, "cuantias": {"es": ["cuánto cuesta"]}})
PASSAGES = [
    passage_of("nie-identidad-01", "Es un número personal."),
    passage_of("nie-plazos-01", "La cita dura diez minutos."),
    passage_of("nie-plazos-02", "El número llega en cinco días por correo certificado."),
    passage_of("tie-identidad-01", "Es una cartulina con foto."),
    passage_of("tie-plazos-01", "Se recoge a los treinta días."),
]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("¿Qué es el NIE?", {"nie": 1}, id="one-word"),
        pytest.param("mi número de extranjero", {"nie": 3}, id="three-words"),
        pytest.param("NIE y TIE", {"nie": 1, "tie": 1}, id="two-procedures"),
        pytest.param("trámite nie", {"nie": 2}, id="by-its-name"),
        pytest.param("perdí la tarjeta", {"nie": 2, "tie": 2}, id="phrase-of-two-procedures"),
        pytest.param("renovar la tarjeta", {"tie": 3}, id="longest-phrase"),
        pytest.param("tarjeta NIE", {}, id="lookalike-hides-what-it-contains"),
        pytest.param("tarjeta NIE, o sea el NIE", {"nie": 1}, id="lookalike-hides-only-itself"),
        pytest.param("mi nieto y el tiempo", {}, id="whole-words"),
        pytest.param("", {}, id="empty"),
    ],
)
def test_named(text: str, expected: dict[str, int]) -> None:
    """Procedures are named by whole phrases, each with the number of its words."""
    assert NAMED.find(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("¿Cómo pido el empadronamiento?", {"empadronamiento"}, id="es-register"),
        pytest.param("quiero cobrar el paro", {"prestacion_desempleo"}, id="es-unemployment"),
        pytest.param("necesito un abogado de oficio", {"justicia_gratuita"}, id="es-lawyer"),
        pytest.param("que es el ingreso minimo vital", {"imv"}, id="es-no-accents"),
        pytest.param("BONO ALQUILER JOVEN", {"ayuda_alquiler"}, id="es-capitals"),
        pytest.param("el certificado de discapacidad y la tarjeta sanitaria", {"certificado_discapacidad", "tarjeta_sanitaria"},
                     id="es-two"),
        pytest.param("where do I register at the town hall", {"empadronamiento"}, id="en-register"),
        pytest.param("I need a TIE card appointment", {"tie"}, id="en-card"),
        pytest.param("help with rent", {"ayuda_alquiler"}, id="en-rent"),
        pytest.param("legal aid for a divorce", {"justicia_gratuita"}, id="en-legal-aid"),
        pytest.param("je veux demander le revenu minimum vital", {"imv"}, id="fr-income"),
        pytest.param("comment obtenir la carte sanitaire", {"tarjeta_sanitaria"}, id="fr-health"),
        pytest.param("renouveler ma carte de séjour", {"tie"}, id="fr-card"),
        pytest.param("كيف أحصل على NIE", {"nie"}, id="ar-latin-acronym"),
        pytest.param("ما هو الحد الأدنى للدخل الحيوي", {"imv"}, id="ar-income"),
        pytest.param("أريد البطاقة الصحية", {"tarjeta_sanitaria"}, id="ar-health"),
        pytest.param("شهادة الإعاقة", {"certificado_discapacidad"}, id="ar-disability"),
        pytest.param("vreau certificat de handicap", {"certificado_discapacidad"}, id="ro-disability"),
        pytest.param("ajutor de șomaj", {"prestacion_desempleo"}, id="ro-unemployment"),
        pytest.param("ajutor de somaj", {"prestacion_desempleo"}, id="ro-without-comma-below"),
        pytest.param("como peço o cartão de saúde", {"tarjeta_sanitaria"}, id="pt-health"),
        pytest.param("seguro-desemprego", {"prestacion_desempleo"}, id="pt-unemployment"),
        pytest.param("vull empadronar-me", {"empadronamiento"}, id="ca-register"),
        pytest.param("targeta sanitària", {"tarjeta_sanitaria"}, id="ca-health"),
        pytest.param("失业金怎么申请", {"prestacion_desempleo"}, id="zh-unemployment"),
        pytest.param("我想申请NIE", {"nie"}, id="zh-latin-acronym"),
        pytest.param("残疾证", {"certificado_discapacidad"}, id="zh-disability"),
        pytest.param("прописка для дитини", {"empadronamiento"}, id="uk-register"),
        pytest.param("допомога на оренду", {"ayuda_alquiler"}, id="uk-rent"),
        pytest.param("безкоштовний адвокат", {"justicia_gratuita"}, id="uk-lawyer"),
        pytest.param("пособие по безработице", {"prestacion_desempleo"}, id="ru-unemployment"),
        pytest.param("нужен бесплатный адвокат", {"justicia_gratuita"}, id="ru-lawyer"),
        pytest.param("номер НИЕ", {"nie"}, id="ru-transcribed"),
    ],
)  # fmt: skip
def test_really_named(real: Any, text: str, expected: set[str]) -> None:
    """People name the nine procedures in ten languages, with and without accents and capitals."""
    assert set(real.named.find(text)) == expected


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("no paro de toser", id="i-do-not-stop-coughing"),
        pytest.param("sufrió un paro cardiaco", id="cardiac-arrest"),
        pytest.param("PARO CARDÍACO", id="cardiac-arrest-in-capitals"),
        pytest.param("hay paro de metro", id="strike"),
        pytest.param("eu não paro de trabalhar", id="pt-i-do-not-stop"),
        pytest.param("pimientos de Padrón", id="peppers"),
        pytest.param("padrón electoral", id="electoral-roll"),
        pytest.param("tarjeta sanitaria europea", id="european-card"),
        pytest.param("tie dye", id="en-tie-dye"),
        pytest.param("how to tie the knot", id="en-tie-the-knot"),
        pytest.param("dau ție cartea", id="ro-to-you"),
        pytest.param("taxa de desemprego", id="pt-unemployment-rate"),
        pytest.param("уровень безработицы", id="ru-unemployment-rate"),
        pytest.param("chômage partiel", id="fr-short-time-work"),
        pytest.param("DNI o NIE", id="either-document"),
        pytest.param("mi nieto tiene fiebre", id="grandson"),
        pytest.param("qué tiempo hace", id="weather"),
        pytest.param("¿quién ganó la liga?", id="football"),
    ],
)
def test_lookalikes(real: Any, text: str) -> None:
    """What only looks like a procedure's name names none."""
    assert real.named.find(text) == {}


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("el paro cardiaco", id="cardiac-arrest"),
        pytest.param("cobrar el paro agrario", id="agrarian-benefit"),
        pytest.param("alta en el padrón canino", id="register-of-dogs"),
        pytest.param("ayuda alquiler social", id="social-housing"),
    ],
)
def test_overlapping_lookalikes(real: Any, text: str) -> None:
    """A lookalike that shares words with a procedure's phrase names nothing."""
    assert real.named.find(text) == {}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("cobrar el paro de larga duración", {}, id="longer-lookalike"),
        pytest.param("cobrar el paro", {"prestacion_desempleo": 3}, id="without-the-lookalike"),
        pytest.param("el padrón canino", {}, id="lookalike-around-a-name"),
        pytest.param("¿Cuánto se cobra con el IMV?", {"imv": 1}, id="one-word-shared-by-languages"),
        pytest.param("el IMV, o sea el imv", {"imv": 2}, id="said-twice"),
        pytest.param("𝐍𝐈𝐄", {"nie": 1}, id="bold-letters"),
    ],
)
def test_words_counted(real: Any, text: str, expected: dict[str, int]) -> None:
    """Each phrase counts its words once, however many languages share it."""
    assert real.named.find(text) == expected


@pytest.mark.parametrize("language", ["es", "en", "fr", "ar", "ro", "pt", "ca", "zh", "uk", "ru"])
def test_every_name_names_itself(real: Any, language: str) -> None:
    """Whoever copies a procedure's name from the menu names that procedure."""
    for procedure in real.catalogue.procedures.values():
        assert procedure.id in real.named.find(procedure.name[language]), procedure.name[language]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("¿CUÁNTO tarda?", {"plazos"}, id="es"),
        pytest.param("how long does it take", {"plazos"}, id="en"),
        pytest.param("cuánto cuesta y qué plazo hay", {"plazos", "cuantias"}, id="two"),
        pytest.param("cuánto", set(), id="half-a-cue"),
    ],
)
def test_cues(text: str, expected: set[str]) -> None:
    """Cue words of any language tell the sections asked for."""
    assert CUES.find(text) == expected


@pytest.mark.parametrize(
    ("text", "section"),
    [
        pytest.param("¿cuánto dinero me dan?", "cuantias", id="es-amount"),
        pytest.param("how much is the fee", "cuantias", id="en-amount"),
        pytest.param("combien", "cuantias", id="fr-amount"),
        pytest.param("失业金怎么申请", "como_solicitar", id="zh-apply"),
        pytest.param("كيف أحصل على NIE", "como_solicitar", id="ar-apply"),
    ],
)
def test_real_cues(real: Any, text: str, section: str) -> None:
    """The real cues tell the section in several languages."""
    assert section in real.cues.find(text)


@pytest.fixture
def search() -> Retrieve:
    """The tier on five passages."""
    return keyword(PASSAGES, NAMED, CUES)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("NIE", ["nie-identidad-01", "nie-plazos-01", "nie-plazos-02"], id="editors-order-without-more"),
        pytest.param("NIE cuánto tarda", ["nie-plazos-01", "nie-plazos-02", "nie-identidad-01"], id="section-first"),
        pytest.param("NIE por correo certificado", ["nie-plazos-02", "nie-identidad-01", "nie-plazos-01"], id="shared-words"),
        pytest.param("la TIE con foto", ["tie-identidad-01", "tie-plazos-01"], id="other-procedure"),
    ],
)
def test_order(search: Retrieve, text: str, expected: list[str]) -> None:
    """The passages of the named procedure come by section asked for, then by rare words shared, then in the editor's order."""
    found = search(Query(text, "clara"))
    assert (found.status, found.tier) == (Status.FOUND, TIER)
    assert [hit.passage.id for hit in found.hits] == expected


def test_scores(search: Retrieve) -> None:
    """The best hit scores 1, no hit scores more than the one before it, and none is negative."""
    scores = [hit.score for hit in search(Query("NIE cuánto tarda", "clara")).hits]
    assert scores[0] == pytest.approx(1.0)
    assert scores == sorted(scores, reverse=True)
    assert min(scores) > 0


def test_limit(search: Retrieve) -> None:
    """No more passages come than were asked for."""
    assert len(search(Query("el NIE", "clara", limit=2)).hits) == 2


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("cuánto tarda", id="cue-alone"),
        pytest.param("cinco días por correo", id="words-of-a-passage-alone"),
        pytest.param("", id="empty"),
    ],
)
def test_nothing_named(search: Retrieve, text: str) -> None:
    """A question that names no procedure is a miss without hits."""
    found = search(Query(text, "clara"))
    assert (found.status, found.hits) == (Status.NOT_FOUND, ())


def test_named_without_passages() -> None:
    """A procedure that is named and has nothing to tell today is a miss."""
    found = keyword(PASSAGES[:3], NAMED, CUES)(Query("la TIE", "clara"))
    assert (found.status, found.hits) == (Status.NOT_FOUND, ())


def test_real_tier(real: Any) -> None:
    """On the real data a question about the fee of the NIE finds passages of the NIE, those on amounts first."""
    found = keyword(real.passages, real.named, real.cues)(Query("¿cuánto cuesta el NIE?", "clara"))
    assert {hit.passage.document_id for hit in found.hits} == {"nie"}
    assert found.hits[0].passage.section == "cuantias"
