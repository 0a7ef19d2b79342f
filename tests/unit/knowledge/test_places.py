"""Tests of places apart from the real list: what is around one, which of several counts, and faults of the file."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from unit_builders import Document, edit, faults_of

from clara.knowledge.places import Elsewhere, Place, PlaceLevel, Places, read_places

SPAIN = Place("ES", PlaceLevel.STATE, "España", None)
RIOJA = Place("ES-RI", PlaceLevel.COMUNIDAD, "La Rioja", None, ("el País del Vino",))
PROVINCE = Place("ES-LO", PlaceLevel.PROVINCE, "La Rioja", "ES-RI")
TOWN = Place("ES-LO/26089", PlaceLevel.MUNICIPALITY, "Haro", "ES-LO")
WORD = Place("ES-LO/26036", PlaceLevel.MUNICIPALITY, "Sol", "ES-LO", ambiguous=True)
PLACES = Places([SPAIN, RIOJA, PROVINCE, TOWN, WORD], Elsewhere(names=("Haro Grande",), before=("calle",), behind=("Chile",)))


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        pytest.param("ES-LO/26089", ["ES-LO/26089", "ES-LO", "ES-RI", "ES"], id="municipality"),
        pytest.param("ES-LO", ["ES-LO", "ES-RI", "ES"], id="province"),
        pytest.param("ES-RI", ["ES-RI", "ES"], id="comunidad"),
        pytest.param("ES", ["ES"], id="state"),
        pytest.param("ES-XX", [], id="unknown"),
        pytest.param("", [], id="empty"),
    ],
)
def test_around(code: str, expected: list[str]) -> None:
    """Around a place are its province, its comunidad and the state, narrowest first; around an unknown one is nothing."""
    assert PLACES.around(code) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("la rioja", PROVINCE, id="narrowest-of-a-name"),
        pytest.param("el pais del vino", RIOJA, id="alias"),
        pytest.param("en Haro, La Rioja", TOWN, id="first"),
        pytest.param("haro", TOWN, id="no-capital"),
        pytest.param("harán", None, id="other-word"),
        pytest.param("Haro Grande", None, id="longer-name-elsewhere"),
        pytest.param("Haro Grande, no: Haro", TOWN, id="longer-name-elsewhere-hides-only-itself"),
        pytest.param("calle Haro", None, id="street"),
        pytest.param("calle de la Haro", None, id="street-of"),
        pytest.param("calle en Haro", TOWN, id="street-in"),
        pytest.param("Haro (Chile)", None, id="abroad"),
        pytest.param("Haro, en Chile", None, id="abroad-with-in"),
        pytest.param("Haro y Chile", TOWN, id="abroad-with-and"),
        pytest.param("Haro en", TOWN, id="ends-with-in"),
        pytest.param("sol", WORD, id="ambiguous-alone"),
        pytest.param("hace sol", None, id="ambiguous-word"),
        pytest.param("vivo en sol", WORD, id="ambiguous-after-in"),
        pytest.param("Hace Sol", WORD, id="ambiguous-with-capital"),
        pytest.param("Sol hace hoy", None, id="ambiguous-with-the-capital-of-a-sentence"),
        pytest.param("¿Sol hace hoy?", None, id="ambiguous-first-in-a-question"),
        pytest.param("hola… Sol: la cita", WORD, id="ambiguous-first-before-a-colon"),
        pytest.param("HACE SOL HOY", None, id="ambiguous-shouted"),
    ],
)
def test_territory_of(text: str, expected: Place | None) -> None:
    """The first name counts, of one name the narrowest place, and what is elsewhere or only a word does not."""
    assert PLACES.territory_of(text) == expected


@given(st.text(max_size=60))
def test_anything(text: str) -> None:
    """Whatever is written, the answer is a known place narrower than the state, or none."""
    found = PLACES.territory_of(text)
    assert found is None or found in (RIOJA, PROVINCE, TOWN, WORD)


@given(st.text("abcdeñ ,.¿?", max_size=30), st.text("abcdeñ ,.¿?", max_size=30))
def test_planted(before: str, after: str) -> None:
    """A name that stands between words which mean nothing is found."""
    assert PLACES.territory_of(f"{before} Haro {after}") == TOWN


def entry(document: Document, code: str) -> Document:
    """Give a place of the file."""
    found: Document = next(place for place in document["places"] if place["code"] == code)
    return found


@pytest.mark.parametrize(
    ("change", "place", "remedy"),
    [
        pytest.param(lambda document: document["places"].pop(0), "$.places", "the state is missing; add the place", id="state"),
        pytest.param(
            lambda document: document["places"].append({**entry(document, "ES-M"), "name": "Otra"}),
            ".code",
            "'ES-M' appears twice; merge the two",
            id="code-twice",
        ),
        pytest.param(
            lambda document: entry(document, "ES-M/28079").update(within="ES-XX"),
            ".within",
            "no place has the code 'ES-XX'; correct it",
            id="within-nothing",
        ),
        pytest.param(
            lambda document: entry(document, "ES-M").update(within="ES-B"),
            ".within",
            "'ES-B' is not wider than 'ES-M'; correct it",
            id="province-within-a-province",
        ),
        pytest.param(lambda document: document.pop("elsewhere"), "$", '"elsewhere" is a required', id="no-elsewhere"),
        pytest.param(lambda document: document.pop("places"), "$", '"places" is a required property; add it', id="no-places"),
        pytest.param(lambda document: document["places"].clear(), "$.places", "has less than 1", id="empty"),
        pytest.param(
            lambda document: entry(document, "ES-M").pop("within"),
            "$.places[",
            '"within" is a required property; add it',
            id="province-without-within",
        ),
        pytest.param(lambda document: entry(document, "ES-M").update(level="city"), ".level", "comunidad", id="unknown-level"),
        pytest.param(lambda document: entry(document, "ES-M").update(code="M"), ".code", "ISO 3166-2", id="code"),
        pytest.param(lambda document: entry(document, "ES-M").update(alias=[]), "", "'alias' was unexpected", id="field"),
        pytest.param(
            lambda document: document["elsewhere"]["before"].append("calle mayor"),
            "$.elsewhere.before",
            '"calle mayor" does not match',
            id="two-words-before",
        ),
    ],
)
def test_fault(folder: Path, change: Callable[[Document], object], place: str, remedy: str) -> None:
    """What is wrong in the file of places is named with its place and what to do."""
    edit(folder / "places.json", change)
    faults = faults_of(folder)
    assert {fault.file for fault in faults} == {"places.json"}
    assert any(place in fault.place and remedy in fault.remedy for fault in faults), faults


def test_read(tmp_path: Path, data: Path) -> None:
    """What stands in the file is what is read."""
    (tmp_path / "schema").symlink_to(data / "schema")
    spain = {"code": "ES", "level": "state", "name": "España", "aliases": []}
    rioja = {"code": "ES-RI", "level": "comunidad", "name": "La Rioja", "aliases": ["Rioja"], "ambiguous": True}
    elsewhere: Document = {"names": ["Rioja Alta"], "before": [], "behind": []}
    (tmp_path / "places.json").write_text(json.dumps({"elsewhere": elsewhere, "places": [spain, rioja]}), "utf-8")
    places = read_places(tmp_path)
    assert places.by_code["ES-RI"] == Place("ES-RI", PlaceLevel.COMUNIDAD, "La Rioja", None, ("Rioja",), ambiguous=True)
    assert places.territory_of("en Rioja Alta") is None


def test_no_two_places_of_one_level_share_a_name(places: Places) -> None:
    """In the real list a name means one municipality, one province and one comunidad at most."""
    owner: dict[tuple[str, str], str] = {}
    for place in places.by_code.values():
        for name in (place.name, *place.aliases):
            assert owner.setdefault((place.level, name.casefold()), place.code) == place.code, name
