"""Places of Spain: recognising where a person writes from, and which facts hold there."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from clara.data_files import DataError, Fault, read_data, record
from clara.language.phrases import Phrases
from clara.language.tokens import Token, located, words

STATE = "ES"


class PlaceLevel(StrEnum):
    """How wide a territory is."""

    STATE = "state"
    COMUNIDAD = "comunidad"
    PROVINCE = "province"
    MUNICIPALITY = "municipality"


_NARROWNESS = {level: place for place, level in enumerate(PlaceLevel)}


@dataclass(frozen=True, slots=True)
class Place:
    """A territory. `code` is ISO 3166-2, for a municipality that of its province, a slash and the INE code.

    `ambiguous` names are also ordinary words, surnames or places elsewhere: they count where something shows that a place is
    meant, which is a capital letter, a word like "en" or "desde" before it, or a message that says nothing else.
    """

    code: str
    level: PlaceLevel
    name: str
    within: str | None = None
    aliases: tuple[str, ...] = ()
    ambiguous: bool = False


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """What shows that the name of a place means none here, so that it is passed over.

    `names` are longer and hold one ("Cartagena de Indias"); `before` stands before one ("calle Toledo"), `behind` right
    behind one ("Valencia, Venezuela").
    """

    names: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    behind: tuple[str, ...] = ()


# Words after which even an ambiguous name is a place, by language.
_CUES = frozenset(
    words(
        "en de desde a hacia por vivo vive vivimos soy ciudad provincia ayuntamiento municipio extranjería "
        "in from near at to live living "
        "à depuis habite ville "
        "în din locuiesc "
        "em do da moro cidade "
        "visc ciutat "
        "в у из із з с до город городе місто місті "
        "في من إلى مدينة أسكن أعيش أقيم ساكن مقيم "
        "在 住 于 到 去 从 来 "
    )
)
_CUES_BEHIND = frozenset("市省")
# Between a street and its name, and between a place and its country.
_OF = frozenset(words("de del d la las los el the des du"))
_IN = frozenset(words("en in au em în в у في"))
# Arabic writes "in", "to", "and" as a letter of the word; Slavic names change their ending with the case.
_ARABIC_PREFIX = re.compile(r"^(?:و?[بل]|و)(?=\w{3})")
_CYRILLIC_ENDING = re.compile(r"(?<=\w{4})(?:ою|ею|єю|ои|еи|ом|ем|е|і|у|а|ы|и|ю)$")
_SENTENCE_BEGINS = re.compile(r"(?:^|[.!?…¿¡])\s*$")


class Places:
    """All known places: finding one in a text, and the wider territories around it."""

    def __init__(self, places: Iterable[Place], elsewhere: Elsewhere | None = None) -> None:
        other = elsewhere or Elsewhere()
        self.by_code: Mapping[str, Place] = {place.code: place for place in places}
        entries = {(name, place.code) for place in self.by_code.values() for name in (place.name, *place.aliases)}
        # A name that means a place elsewhere has no code: being longer, it hides the one that it holds.
        self._names = Phrases([*sorted(entries), *((name, "") for name in other.names)])
        self._before = frozenset(word for entry in other.before for word in words(entry))
        self._behind = Phrases((entry, True) for entry in other.behind)
        known = [name for name, _ in entries] + [*other.names, *other.behind]
        self._known = frozenset(word for name in known for word in words(name))

    def territory_of(self, text: str) -> Place | None:
        """Give the place that a text names first, the narrowest of that name; None when it names none but Spain."""
        found = self._named(text)
        if not found:
            return None
        return max(found[min(found)], key=lambda place: _NARROWNESS[place.level])

    def named_in(self, text: str) -> list[list[Place]]:
        """Give all places that a text names, in its order: for each name, every place that has it."""
        found = self._named(text)
        return [found[start] for start in sorted(found)]

    def _named(self, text: str) -> dict[int, list[Place]]:
        """Give the places named, by the word with which the name begins."""
        written = located(text)
        asked = [self._bare(word.text) for word in written]
        abroad = {start for start, _, _ in self._behind.longest_first(asked)}
        found: dict[int, list[Place]] = {}
        for start, end, code in self._names.longest_first(asked):
            place = self.by_code.get(code)
            if place is None or place.level is PlaceLevel.STATE or self._elsewhere(asked, start, end, abroad):
                continue
            if not place.ambiguous or _announced(text, asked, written, start, end):
                found.setdefault(start, []).append(place)
        return found

    def around(self, code: str) -> list[str]:
        """Give the codes of the territories that hold a place, narrowest first: itself, province, comunidad, state."""
        codes: list[str] = []
        place = self.by_code.get(code)
        while place is not None:
            codes.append(place.code)
            place = self.by_code.get(place.within or (STATE if place.code != STATE else ""))
        return codes

    def _elsewhere(self, asked: Sequence[str], start: int, end: int, abroad: Set[int]) -> bool:
        if end in abroad or (end + 1 in abroad and asked[end] in _IN):
            return True
        before = start - 1
        while before >= 0 and asked[before] in _OF:
            before -= 1
        return before >= 0 and asked[before] in self._before

    def _bare(self, word: str) -> str:
        if word in self._known:
            return word
        stem = _CYRILLIC_ENDING.sub("", word)
        bare = (_ARABIC_PREFIX.sub("", word), stem, f"{stem}а", f"{stem}я", f"{stem}ь")
        return next((form for form in bare if form in self._known), word)


def _announced(text: str, asked: Sequence[str], written: Sequence[Token], start: int, end: int) -> bool:
    """Whether something shows that a place is meant by the words from `start` to `end`."""
    if end - start == len(asked) or (start > 0 and asked[start - 1] in _CUES):
        return True
    if end < len(asked) and asked[end] in _CUES_BEHIND:
        return True
    prefixed = asked[start] != written[start].text and written[start].text[0] in "بل"
    return prefixed or _capitals(text, written[start], written[end - 1])


def _capitals(text: str, first: Token, last: Token) -> bool:
    """Whether a name has its capitals for being a name: not for beginning a sentence, nor in a shouted message."""
    if text.isupper() or not (text[first.start].isupper() and text[last.start].isupper()):
        return False
    return not _SENTENCE_BEGINS.search(text[: first.start]) or not text[last.end :].lstrip()[:1].isalnum()


def read_places(folder: Path) -> Places:
    """Read `folder`/places.json. Raises DataError naming every fault."""
    document = read_data(folder, "places.json", "places")
    places = [record(Place, entry, level=PlaceLevel) for entry in document["places"]]
    if faults := list(_faults(places)):
        raise DataError(faults)
    return Places(places, record(Elsewhere, document["elsewhere"]))


def _faults(places: Sequence[Place]) -> Iterator[Fault]:
    levels = {place.code: place.level for place in places}
    seen: set[str] = set()
    if STATE not in levels:
        yield Fault("places.json", "$.places", f"the state is missing; add the place with the code '{STATE}'")
    for number, place in enumerate(places):
        where = f"$.places[{number}]"
        if place.code in seen:
            yield Fault("places.json", f"{where}.code", f"'{place.code}' appears twice; merge the two")
        seen.add(place.code)
        if place.within is not None and place.within not in levels:
            yield Fault("places.json", f"{where}.within", f"no place has the code '{place.within}'; correct it")
        elif place.within is not None and _NARROWNESS[levels[place.within]] >= _NARROWNESS[levels[place.code]]:
            yield Fault("places.json", f"{where}.within", f"'{place.within}' is not wider than '{place.code}'; correct it")
