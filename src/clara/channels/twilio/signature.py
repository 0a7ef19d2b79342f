"""Telling genuine webhooks of Twilio from forged ones: its signature, and which fields were signed."""

import json
import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Final

import structlog
from twilio.request_validator import RequestValidator
from werkzeug.datastructures import MultiDict

# Without these a form is no message; a way that leaves out one that the form has is another form's.
NEEDED: Final = ("From", "MessageSid")
# A field that Twilio adds one day: as it writes names. Longer ones are none.
UNKNOWN: Final = re.compile(r"[A-Z][A-Za-z0-9]{1,63}")
NUMBERED: Final = re.compile(r"\d{1,2}$")
# Twilio sends some fields a second time inside a JSON document (ChannelMetadata), as keys. A person's text may begin like that.
KEY: Final = re.compile(r'\\*":')
TYPED: Final = "Body"


@dataclass(frozen=True, slots=True)
class FieldPlace:
    """A known name in the signed characters: where it begins and ends."""

    name: str
    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class SignedFields:
    """What was signed: values by known names, and how many fields have names that are not known."""

    values: Mapping[str, str]
    unknown: int = 0


class Cutter:
    """Cuts signed characters into fields. Names map to kinds; kinds to the shapes of values, none for any text."""

    def __init__(self, names: Mapping[str, str], kinds: Mapping[str, Sequence[str]]) -> None:
        shapes = {kind: tuple(re.compile(shape) for shape in written) for kind, written in kinds.items()}
        self._shapes = {name.rstrip("#"): shapes[kind] for name, kind in names.items()}
        self._numbered = {name.rstrip("#") for name in names if name.endswith("#")}
        # Where one name begins with another the longer one is tried first.
        written = (re.escape(name).replace(r"\#", r"\d{1,2}") for name in sorted(names, key=len, reverse=True))
        self._names = re.compile("|".join(written))
        self._beginnings = {name: [name, *(one for one in names if one != name and name.startswith(one))] for name in names}
        self._folded = {name.casefold() for name in names}

    def cut(self, fields: Sequence[tuple[str, str]]) -> SignedFields | None:
        """Give what the fields say; None when their characters can be read otherwise, or they are not Twilio's."""
        fields = sorted(fields)
        names = [name for name, _ in fields]
        known = {name for name in names if self._is_known(name)}
        if len(set(names)) < len(names) or not all(name in known or self._may_be_added(name) for name in names):
            return None
        joined = "".join(name + value for name, value in fields)
        own = list(_places(fields, known))
        if not self._is_only_cut(joined, own, [name for name in NEEDED if name in known]):
            return None
        values = {}
        for place, following in zip(own, _ends(own, joined), strict=True):
            values[place.name] = joined[place.end : place.end + self._length(place.name, joined[place.end : following])]
        # A text has all characters up to the next known name: a field with another name may have been a part of it.
        exact = all(values[name] == value for name, value in fields if name in known and self._shapes_of(name))
        return SignedFields(values, len(names) - len(known)) if exact else None

    def _may_be_added(self, name: str) -> bool:
        return UNKNOWN.fullmatch(name) is not None and name.casefold() not in self._folded

    def _is_known(self, name: str) -> bool:
        if name in self._shapes and name not in self._numbered:
            return True
        plain = NUMBERED.sub("", name)
        return plain in self._shapes and (plain in self._numbered) is (plain != name)

    def _shapes_of(self, name: str) -> tuple[re.Pattern[str], ...]:
        return self._shapes[name] if name in self._shapes else self._shapes[NUMBERED.sub("", name)]

    def _length(self, name: str, value: str) -> int:
        """Give how much of these characters is the name's value; -1 when they do not fit. What follows it is unknown."""
        shapes = self._shapes_of(name)
        for shape in shapes:
            found = shape.match(value)
            if found and (found.end() == len(value) or value[found.end()].isupper()):
                return found.end()
        return -1 if shapes else len(value)

    def _is_only_cut(self, joined: str, own: Sequence[FieldPlace], needed: Sequence[str]) -> bool:
        """Whether these places are a way, and no other place lies on any."""
        places = self._found(joined)
        begins = {place.begin for place in places}
        if not all(self._fits(place, joined, end, begins) for place, end in zip(own, _ends(own, joined), strict=True)):
            return False
        return places == own or set(self._on_a_way(joined, places, begins, needed)) == set(own)

    def _found(self, joined: str) -> list[FieldPlace]:
        """Find known names before characters that fit them. What is a part of a longer name's letters is none."""
        found: list[FieldPlace] = []
        for match in self._names.finditer(joined):
            begin = match.start()
            for name in self._beginnings.get(match[0], (match[0],)):
                end, shapes = begin + len(name), self._shapes_of(name)
                is_key = name != TYPED and KEY.match(joined, end)
                if not is_key and (not shapes or any(shape.match(joined, end) for shape in shapes)):
                    found.append(FieldPlace(name, begin, end))
                    break
        return found

    def _on_a_way(
        self, joined: str, places: Sequence[FieldPlace], begins: set[int], needed: Sequence[str]
    ) -> Iterator[FieldPlace]:
        """Give the places that lie on a way from the first to the last character."""
        follows: list[list[int]] = [[] for _ in places]
        last = []
        for one, place in enumerate(places):
            later = range(bisect_left(places, place.end, key=lambda other: other.begin), len(places))
            follows[one] = [
                other
                for other in later
                if place.name < places[other].name
                and not _left_out(place.name, places[other].name, needed)
                and self._fits(place, joined, places[other].begin, begins)
            ]
            if not _left_out(place.name, None, needed) and self._fits(place, joined, len(joined), begins):
                last.append(one)
        first = [one for one, place in enumerate(places) if self._may_be_first(place, joined, begins, needed)]
        precedes: list[list[int]] = [[] for _ in places]
        for one, others in enumerate(follows):
            for other in others:
                precedes[other].append(one)
        for one in _reached(first, follows) & _reached(last, precedes):
            yield places[one]

    def _fits(self, place: FieldPlace, joined: str, following: int, begins: set[int]) -> bool:
        """Whether all up to the next name may be this one's value, with unknown fields behind it; a known one is always cut."""
        length = self._length(place.name, joined[place.end : following])
        return length >= 0 and (place.end + length == following or place.end + length not in begins)

    def _may_be_first(self, place: FieldPlace, joined: str, begins: set[int], needed: Sequence[str]) -> bool:
        begun = place.begin == 0 or (0 not in begins and UNKNOWN.match(joined) is not None)
        return begun and not _left_out("", place.name, needed)


def _places(fields: Sequence[tuple[str, str]], known: set[str]) -> Iterator[FieldPlace]:
    begin = 0
    for name, value in fields:
        if name in known:
            yield FieldPlace(name, begin, begin + len(name))
        begin += len(name) + len(value)


def _ends(places: Sequence[FieldPlace], joined: str) -> list[int]:
    """Give where the characters after each name end: at the next one."""
    return [place.begin for place in places[1:]] + [len(joined)] * bool(places)


def _left_out(name: str, following: str | None, needed: Sequence[str]) -> bool:
    """Whether a needed name has its place between two names; None: there is no other behind."""
    return any(name < one and (following is None or one < following) for one in needed)


def _reached(begun: Sequence[int], onwards: Sequence[Sequence[int]]) -> set[int]:
    reached, waiting = set(begun), list(begun)
    while waiting:
        more = set(onwards[waiting.pop()]) - reached
        reached |= more
        waiting += more
    return reached


def load_cutter() -> Cutter:
    """Read the names that Twilio documents."""
    document = json.loads((files("clara.channels.twilio") / "fields.json").read_text("utf-8"))
    return Cutter(document["names"], document["kinds"])


# What Python's URL parser, which Twilio's validator uses, drops in silence: another address must not pass for the signed one.
DROPPED: Final = re.compile(r"[\t\r\n]|#$|^[^?#]*\?(?:#|$)")
log = structlog.get_logger()


class TwilioSignature:
    """Checks X-Twilio-Signature with the account's auth token.

    The signed address is built from configuration, never from request headers: behind a proxy those name another host,
    and a forger may set them.
    """

    def __init__(self, auth_token: str) -> None:
        self._validator = RequestValidator(auth_token)
        self._cutter = load_cutter()

    def signed_fields(self, url: str, fields: Sequence[tuple[str, str]], signature: str) -> Mapping[str, str] | None:
        """Give what the form says if it is genuine and its characters can be cut in no other way; None otherwise.

        Only names that Twilio documents are in it.
        """
        if not self.genuine_form(url, fields, signature) or (signed := self._cutter.cut(fields)) is None:
            return None
        if signed.unknown:
            log.info("webhook has unknown fields", count=signed.unknown)
        return signed.values

    def genuine_form(self, url: str, fields: Sequence[tuple[str, str]], signature: str) -> bool:
        """Whether this form, posted to this address, carries the right signature."""
        if DROPPED.search(url):
            return False
        try:
            return bool(self._validator.validate(url, MultiDict(fields), signature))
        except UnicodeEncodeError:  # a lone surrogate cannot have been signed
            return False
