"""Tests of telling which procedures a text names."""

from typing import Any

import pytest
from tests.languages import LANGUAGES
from unit_builders import procedure_of

from clara.knowledge.catalogue import Catalogue
from clara.knowledge.keyword_tier import NamedProcedures
from clara.knowledge.places import Places

NIE = procedure_of(
    "nie",
    vocabulary={"es": ("NIE", "número de extranjero", "EX-15"), "fr": ("NIE",)},
    lookalikes={"es": ("tarjeta NIE", "papel", "de extranjero", "EX-15 €")},
)
TIE = procedure_of("tie", vocabulary={"es": ("TIE", "la tarjeta", "renovar la tarjeta", "papel")})
NAMED = NamedProcedures(Catalogue({"nie": NIE, "tie": TIE}, (), Places([])))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("¿Qué es el NIE?", {"nie": 1}, id="one-word-of-two-languages"),
        pytest.param("mi número de extranjero", {"nie": 3}, id="three-words"),
        pytest.param("NIE y TIE", {"nie": 1, "tie": 1}, id="two-procedures"),
        pytest.param("trámite nie", {"nie": 2}, id="by-its-name"),
        pytest.param("NIE, o sea el nie", {"nie": 2}, id="said-twice"),
        pytest.param("renovar la tarjeta", {"tie": 3}, id="longest-phrase"),
        pytest.param("tarjeta NIE", {}, id="lookalike-hides-what-it-contains"),
        pytest.param("tarjeta NIE, o sea el NIE", {"nie": 1}, id="lookalike-hides-only-what-it-touches"),
        pytest.param("la tarjeta NIE", {"tie": 2}, id="lookalike-hides-no-other-procedure"),
        pytest.param("un número de extranjero", {"nie": 3}, id="lookalike-inside-a-name-hides-nothing"),
        pytest.param("el EX-15", {"nie": 2}, id="lookalike-that-is-a-name-hides-nothing"),
        pytest.param("mi papel", {"tie": 1}, id="lookalike-of-one-is-the-name-of-another"),
        pytest.param("mi nieto y el tiempo", {}, id="whole-words"),
        pytest.param("", {}, id="empty"),
    ],
)
def test_named(text: str, expected: dict[str, int]) -> None:
    """Procedures are named by whole phrases, each with the number of its words; lookalikes hide their own procedure's."""
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
        pytest.param("legal aid for a divorce", {"justicia_gratuita", "divorcio_custodia"}, id="en-legal-aid"),
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
        pytest.param("arraigo social", {"arraigo"}, id="es-roots"),
        pytest.param("la beca MEC", {"becas_educacion"}, id="es-grant"),
        pytest.param("el bono social de la luz", {"bono_social_electrico"}, id="es-electricity"),
        pytest.param("la ley de dependencia", {"dependencia"}, id="es-care"),
        pytest.param("homologar mi título", {"homologacion_titulos"}, id="es-degree"),
        pytest.param("la nacionalidad española", {"nacionalidad_residencia"}, id="es-nationality"),
        pytest.param("رقم الضمان الاجتماعي", {"numero_seguridad_social"}, id="ar-social-security"),
        pytest.param("pensión no contributiva", {"pension_no_contributiva"}, id="es-pension"),
        pytest.param("permiso de paternidad", {"prestacion_nacimiento"}, id="es-paternity"),
        pytest.param("притулок", {"proteccion_internacional"}, id="uk-asylum"),
        pytest.param("regroupement familial", {"reagrupacion_familiar"}, id="fr-family"),
        pytest.param("la regularización extraordinaria", {"regularizacion_extraordinaria_2026"}, id="es-regularisation"),
        pytest.param("subsidio para mayores de 52 años", {"subsidio_desempleo"}, id="es-older-unemployed"),
        pytest.param("llamar al 016", {"violencia_genero_urgencias"}, id="es-phone"),
    ],
)  # fmt: skip
def test_really_named(real: Any, text: str, expected: set[str]) -> None:
    """People name the procedures in ten languages, with and without accents and capitals."""
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


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_name_names_itself(real: Any, language: str) -> None:
    """Whoever copies a procedure's name from the menu names that procedure."""
    for procedure in real.catalogue.procedures.values():
        assert procedure.id in real.named.find(procedure.name[language]), procedure.name[language]


@pytest.mark.parametrize("text", ["112", "¿llamo al 112?", "llamar al 016", "el 016"])
def test_emergency_numbers(real: Any, text: str) -> None:
    """Whoever writes an emergency number means the help in emergencies."""
    assert set(real.named.find(text)) == {"violencia_genero_urgencias"}


@pytest.mark.parametrize("text", ["gano 112 euros", "me pega el sol"])
def test_no_emergency(real: Any, text: str) -> None:
    """An amount and the heat of the sun are no emergency."""
    assert real.named.find(text) == {}
