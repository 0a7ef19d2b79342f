"""Tests of recognising, on the real list of places, where a person writes from."""

import pytest

from clara.knowledge.places import PlaceLevel, Places

MADRID, BARCELONA, SEVILLA = "ES-M/28079", "ES-B/08019", "ES-SE/41091"
VALENCIA, CORDOBA, GRANADA, LEON, TOLEDO = "ES-V/46250", "ES-CO/14021", "ES-GR/18087", "ES-LE/24089", "ES-TO/45168"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        pytest.param("vivo en Madrid?", MADRID, id="es"),
        pytest.param("bcn", BARCELONA, id="short"),
        pytest.param("en Sevilla,", SEVILLA, id="comma"),
        pytest.param("soy de CADIZ", "ES-CA/11012", id="capitals-without-accent"),
        pytest.param("vivo en barselona", BARCELONA, id="misspelt"),
        pytest.param("Ceuta", "ES-CE", id="autonomous-city"),
        pytest.param("vivo en Tenerife", "ES-TF", id="island"),
        pytest.param("en Ibiza", "ES-PM/07026", id="island-and-town"),
        pytest.param("l'Hospitalet", "ES-B/08101", id="article"),
        pytest.param("vivo en l'hospi", "ES-B/08101", id="nickname"),
        pytest.param("Madrid, España", MADRID, id="town-and-state"),
        pytest.param("de Barcelona a Madrid", BARCELONA, id="the-first-of-two"),
        pytest.param("i live in seville", SEVILLA, id="en"),
        pytest.param("j'habite à Saragosse", "ES-Z/50297", id="fr"),
        pytest.param("locuiesc în Castellón", "ES-CS/12040", id="ro"),
        pytest.param("moro em Sevilha", SEVILLA, id="pt"),
        pytest.param("visc a Lleida", "ES-L/25120", id="ca"),
        pytest.param("lerida", "ES-L/25120", id="former-name"),
        pytest.param("Donostia", "ES-SS/20069", id="eu"),
        pytest.param("A Coruña", "ES-C/15030", id="gl"),
        pytest.param("Comunitat Valenciana", "ES-VC", id="co-official-comunidad"),
        pytest.param("Euskadi", "ES-PV", id="co-official-comunidad-eu"),
        pytest.param("أعيش في مدريد", MADRID, id="ar"),
        pytest.param("بمدريد", MADRID, id="ar-in"),
        pytest.param("وببرشلونة", BARCELONA, id="ar-and-in"),
        pytest.param("في غرناطة", GRANADA, id="ar-preposition"),
        pytest.param("أسكن بلاس بالماس", "ES-GC/35016", id="ar-in-two-words"),
        pytest.param("живу в Мадриде", MADRID, id="ru-prepositional"),
        pytest.param("до Барселоны", BARCELONA, id="ru-genitive"),
        pytest.param("за Барселоной", BARCELONA, id="ru-instrumental"),
        pytest.param("в Валенсии", VALENCIA, id="ru-soft"),
        pytest.param("живу в Сан-Себастьяне", "ES-SS/20069", id="ru-two-words"),
        pytest.param("в Теруэле", "ES-TE/44216", id="ru-soft-sign"),
        pytest.param("у Барселоні", BARCELONA, id="uk-locative"),
        pytest.param("у Севільї", SEVILLA, id="uk-soft"),
        pytest.param("під Валенсією", VALENCIA, id="uk-instrumental"),
        pytest.param("我住在马德里", MADRID, id="zh"),
        pytest.param("巴塞罗那怎么申请失业金", BARCELONA, id="zh-first"),
        pytest.param("Castilla-La Mancha", "ES-CM", id="la-mancha"),
        pytest.param("castilla y leon", "ES-CL", id="castilla-y-leon"),
        pytest.param("Comunidad de Madrid", "ES-MD", id="comunidad"),
        pytest.param("马德里大区", "ES-MD", id="comunidad-zh"),
        pytest.param("provincia de Barcelona", "ES-B", id="province"),
        pytest.param("Madrid", MADRID, id="municipality"),
        pytest.param("Navarra", "ES-NA", id="province-that-is-a-comunidad"),
        pytest.param("ayuda alquiler valencia", VALENCIA, id="valencia-anywhere"),
        pytest.param("cita nie cordoba", CORDOBA, id="cordoba-anywhere"),
        pytest.param("extranjeria granada telefono", GRANADA, id="granada-anywhere"),
    ],
)
def test_named(places: Places, text: str, code: str) -> None:
    """Places are recognised in every served language, with its endings and prefixes; of one name the narrowest place."""
    assert places.territory_of(text).code == code


@pytest.mark.parametrize(
    ("text", "code"),
    [
        pytest.param("soy de leon y no tengo trabajo", LEON, id="after-de"),
        pytest.param("tengo un leon", None, id="lion"),
        pytest.param("TENGO UN LEON", None, id="shouted-lion"),
        pytest.param("SOY DE LEON", LEON, id="shouted-after-de"),
        pytest.param("leon", LEON, id="alone"),
        pytest.param("cita nie Toledo", TOLEDO, id="capital"),
        pytest.param("cita nie toledo", None, id="no-capital"),
        pytest.param("Toledo, ¿cómo pido el NIE?", TOLEDO, id="first-with-comma"),
        pytest.param("ayuntamiento toledo", TOLEDO, id="after-ayuntamiento"),
        pytest.param("Parla español mi hijo", None, id="first-word-parla"),
        pytest.param("Soy de Parla", "ES-M/28106", id="parla"),
        pytest.param("hola. Pinto casas y gano poco", None, id="first-word-of-a-sentence"),
        pytest.param("vivo en pinto", "ES-M/28113", id="pinto"),
        pytest.param("Dos hermanas mías viven conmigo", None, id="two-sisters"),
        pytest.param("Vivo en Dos Hermanas", "ES-SE/41038", id="dos-hermanas"),
        pytest.param("mi abuela paterna", None, id="grandmother"),
        pytest.param("hay una laguna", None, id="lake"),
        pytest.param("vivo en la laguna", "ES-TF/38023", id="la-laguna"),
        pytest.param("أسكن في طليطلة", TOLEDO, id="ar-after-in"),
        pytest.param("أسكن بطليطلة", TOLEDO, id="ar-in-as-a-letter"),
        pytest.param("قرأت كتب لوركا", None, id="ar-poet"),
        pytest.param("我住在莱昂", LEON, id="zh-after-in"),
        pytest.param("我在西班牙的莱昂市", LEON, id="zh-before-city"),
        pytest.param("我叫莱昂", None, id="zh-first-name"),
    ],
)
def test_ambiguous(places: Places, text: str, code: str | None) -> None:
    """A name that is also a word or a surname counts where a capital, a word before it or its being alone shows a place."""
    place = places.territory_of(text)
    assert (place.code if place else None) == code


@pytest.mark.parametrize(
    ("text", "code"),
    [
        pytest.param("vivo en España", None, id="state"),
        pytest.param("Spain", None, id="state-en"),
        pytest.param("我在西班牙", None, id="state-zh"),
        pytest.param("¿cuánto cuesta el NIE?", None, id="no-place"),
        pytest.param("", None, id="empty"),
        pytest.param("vengo de Nueva York", None, id="other-city"),
        pytest.param("voy al hospi", None, id="hospital"),
        pytest.param("hospital", None, id="hospital-in-full"),
        pytest.param("Cartagena de Indias", None, id="cartagena-de-indias"),
        pytest.param("soy de Nuevo León", None, id="nuevo-leon"),
        pytest.param("Santiago de Chile", None, id="santiago-de-chile"),
        pytest.param("Guadalajara, México", None, id="guadalajara-mexico"),
        pytest.param("Valencia Venezuela", None, id="valencia-venezuela"),
        pytest.param("cordoba argentina", None, id="cordoba-argentina"),
        pytest.param("из Гвадалахары, Мексика", None, id="ru-abroad"),
        pytest.param("墨西哥瓜达拉哈拉", None, id="zh-abroad"),
        pytest.param("nací en Valencia, en Venezuela, y vivo en Murcia", "ES-MU/30030", id="abroad-then-here"),
        pytest.param("soy de Colombia y vivo en Madrid", MADRID, id="country-first"),
        pytest.param("vivo en Madrid, soy de Colombia", MADRID, id="country-not-right-behind"),
        pytest.param("calle Toledo 3, Madrid", MADRID, id="street"),
        pytest.param("vivo en la calle de la Granada en Sevilla", SEVILLA, id="street-with-article"),
        pytest.param("carrer de València 20, Barcelona", BARCELONA, id="ca-street"),
        pytest.param("c/ Murcia 5", None, id="street-abbreviated"),
        pytest.param("tengo cuenta en el Santander", None, id="bank"),
        pytest.param("cuenta del Banco Sabadell, vivo en Vigo", "ES-PO/36057", id="bank-then-town"),
        pytest.param("vivo en Santander", "ES-S/39075", id="town-of-the-bank"),
        pytest.param("soy del Real Madrid", None, id="club"),
        pytest.param("soy nueva en Madrid", MADRID, id="new-in-town"),
    ],
)
def test_elsewhere(places: Places, text: str, code: str | None) -> None:
    """Spain as a whole, places abroad, streets, banks and clubs are no place a person writes from."""
    place = places.territory_of(text)
    assert (place.code if place else None) == code


def test_every_place_by_its_name(places: Places) -> None:
    """Whoever writes the name of a place after "vivo en" names that place, or a narrower one of the same name."""
    for place in places.by_code.values():
        found = places.territory_of(f"vivo en {place.name}")
        if place.level is PlaceLevel.STATE:
            assert found is None
        else:
            assert found is not None, place.name
            same = place.name in (found.name, *found.aliases)
            assert found is place or (same and place.code in places.around(found.code)), (place.name, found.name)


def test_every_alias(places: Places) -> None:
    """Whoever writes another name of a place names that place, one within it or one around it that shares the name."""
    for place in places.by_code.values():
        for alias in place.aliases if place.level is not PlaceLevel.STATE else ():
            found = places.territory_of(f"vivo en {alias}")
            assert found is not None, alias
            assert place.code in places.around(found.code) or found.code in places.around(place.code), (alias, found.code)


def test_every_place_is_within_spain(places: Places) -> None:
    """From every place one comes, wider each time, to the state."""
    for code in places.by_code:
        around = places.around(code)
        assert (around[0], around[-1]) == (code, "ES")
        assert len(around) <= 4
