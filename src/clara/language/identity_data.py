"""Identity data in ten languages: hiding what data/identity.json describes before a text leaves or is stored unkeyed."""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

from stdnum.iso7064 import mod_97_10

from clara.data_files import DataError, Fault, package_folder, read_data
from clara.language.fold import compatible, spaced

FILE: Final = "identity.json"
_NAME: Final = re.compile(r"\{([a-z_]+)\}")
_DIGIT: Final = re.compile(r"\d")


class _Rules:
    """What data/identity.json holds; its schema says what each part is."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        known: dict[str, str] = {}

        def compiled(patterns: Sequence[str]) -> re.Pattern[str]:
            named = (_NAME.sub(lambda name: known[name[1]], pattern) for pattern in patterns)
            return re.compile("|".join(named), re.IGNORECASE)

        for name, alternatives in document["words"].items():
            known[name] = compiled(alternatives).pattern
        self.offices = frozenset(document["offices"])
        self.of_bodies = tuple(document["of_bodies"])
        self.protected = compiled(document["protected"])
        self.kinds = {kind: compiled(patterns) for kind, patterns in document["kinds"].items()}
        self.said = compiled(document["said"])
        self.numbered = compiled(document["numbered"])


@cache
def identity_rules(folder: Path | None = None) -> _Rules:
    """Compile the patterns of `folder`, or those that the release carries. Raises DataError."""
    document = read_data(folder or package_folder() / "data", FILE, "identity")
    try:
        return _Rules(document)
    except KeyError as error:
        fault = Fault(FILE, f"$.words.{error.args[0]}", "is named by a pattern above it, or missing; put it above")
    except re.error as error:
        fault = Fault(FILE, str(error.pattern), f"is no pattern ({error.msg}); mend it")
    raise DataError([fault])


def may_identify(text: str) -> bool:
    """Whether a text may hold an address, a number, a date of birth or a name of a person, seen as cautiously as can be."""
    plain, _ = _plain(spaced(text))
    # Most questions have no digit, and the many patterns with one are then spared.
    return bool(identity_rules().said.search(plain) or (_DIGIT.search(plain) and identity_rules().numbered.search(plain)))


# Kinds that nobody needs to send; a name, an address or a date of birth is part of how people tell things.
NUMBERS: Final = frozenset({"DNI", "NIE", "PASAPORTE", "DOCUMENTO", "NAF", "IBAN", "TARJETA"})
# Signs that stand in the plain text for what is not to be looked at again: of any length, matched by no pattern.
_TAKEN, _KEPT = "\x00", "\x01"
_DASHES = frozenset("‐‑‒–—―−﹣－")
_COUNTRY = "34"
_NATIONAL = 9


def masked(text: str) -> str:
    """Give the text with identity data replaced by marks of their kinds; masking twice changes nothing more."""
    pieces: list[str] = []
    end = 0
    for start, stop, kind in _spans(text):
        pieces += [text[end:start], f"[{kind}]"]
        end = stop
    return "".join([*pieces, text[end:]])


def identity_in(text: str) -> frozenset[str]:
    """Give the kinds of identity data in a text, such as NIE, IBAN or NOMBRE; none for most texts."""
    return frozenset(kind for _, _, kind in _spans(text))


def holds_numbers(text: str) -> bool:
    """Whether a text holds numbers of documents, accounts or cards: who sends them should be told not to."""
    return bool(identity_in(text) & NUMBERS)


def _spans(text: str) -> list[tuple[int, int, str]]:
    """Give (start, end, kind) of each piece to hide, in the order of the text, without overlaps."""
    plain, places = _plain(text)
    for match in identity_rules().protected.finditer(plain):
        plain = _blanked(plain, *match.span(), _KEPT)
    found: list[tuple[int, int, str]] = []
    for kind, pattern in identity_rules().kinds.items():
        for start, end in _pieces(pattern, plain):
            piece = plain[start:end]
            if _harmless(kind, piece):
                plain = _blanked(plain, start, end, _KEPT) if kind == "TELEFONO" else plain
                continue
            plain = _blanked(plain, start, end, _TAKEN)
            found.append((places[start], places[end - 1] + 1, "IBAN" if kind == "CUENTA" else kind))
    return sorted(found)


def _pieces(pattern: re.Pattern[str], plain: str) -> Iterator[tuple[int, int]]:
    """Give where each match hides something: in its named group, or the whole; without blanks at its ends."""
    for match in pattern.finditer(plain):
        named = next((name for name, value in match.groupdict().items() if value is not None), None)
        start, end = match.span(named) if named else match.span()
        piece = match.string[start:end]
        yield start + len(piece) - len(piece.lstrip(" ,")), end - (len(piece) - len(piece.rstrip(" ,")))


def _harmless(kind: str, piece: str) -> bool:
    """Whether a piece that looks like identity data is none: an office's telephone, a word group that is no IBAN."""
    if kind == "CUENTA":
        account = re.sub(r"[ \-]", "", piece).upper()  # ISO 13616: the check digits hold, whatever the country's own rules
        return not mod_97_10.is_valid(account[4:] + account[:4])
    if kind not in {"TELEFONO", "NAF", "IBAN", "TARJETA"}:
        return False
    digits = "".join(filter(str.isdigit, piece))
    if len(digits) > _NATIONAL and digits.lstrip("0").startswith(_COUNTRY):
        digits = digits.lstrip("0").removeprefix(_COUNTRY)
    return digits in identity_rules().offices or (len(digits) == _NATIONAL and digits.startswith(identity_rules().of_bodies))


def _plain(text: str) -> tuple[str, list[int]]:
    """Give the text with plain digits, letters, spaces and dashes, and where each sign of it stands in the text.

    Invisible signs are left out: between digits they hide nothing.
    """
    seen = [(_plain_sign(sign), place) for place, sign in enumerate(text) if unicodedata.category(sign) != "Cf"]
    return "".join(sign for sign, _ in seen), [place for _, place in seen]


def _plain_sign(sign: str) -> str:
    """Give a sign as patterns know it; always one sign."""
    if unicodedata.category(sign) == "Nd":
        return str(unicodedata.digit(sign))
    if sign in _DASHES:
        return "-"
    if sign.isspace():
        return " "
    wide = compatible(sign) if unicodedata.east_asian_width(sign) == "F" else sign
    # The comma and the full stop of Chinese end a sentence; folded, they would seem to go on a number.
    return wide if len(wide) == 1 and (wide.isalnum() or wide in "@+()-/") else sign


def _blanked(plain: str, start: int, end: int, sign: str) -> str:
    return plain[:start] + sign * (end - start) + plain[end:]
