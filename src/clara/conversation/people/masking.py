"""Hiding what says who somebody is, before a text goes to any provider and before it is stored without need.

Each piece is replaced by a mark of its kind, such as [NIE] or [TELEFONO], so that the question keeps its sense. What people
need to ask stays: telephone numbers of offices, amounts, norms, forms, years and places.
"""

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

from clara.conversation.people.identifying import OF_BODIES, OFFICES, PATTERNS, PROTECTED

# Kinds that nobody needs to send; a name, an address or a date of birth is part of how people tell things.
NUMBERS: Final = frozenset({"DNI", "NIE", "PASAPORTE", "DOCUMENTO", "NAF", "IBAN", "TARJETA"})
# Signs that stand in the plain text for what is not to be looked at again: of any length, matched by no pattern.
_TAKEN, _KEPT = "\x00", "\x01"
_DASHES = frozenset("‐‑‒–—―−﹣－")
# IBANs have this remainder, ISO 13616.
_REMAINDER = 1
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
    for match in PROTECTED.finditer(plain):
        plain = _blanked(plain, *match.span(), _KEPT)
    found: list[tuple[int, int, str]] = []
    for kind, pattern in PATTERNS.items():
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
        return not _is_iban(piece)
    if kind not in {"TELEFONO", "NAF", "IBAN", "TARJETA"}:
        return False
    digits = "".join(filter(str.isdigit, piece))
    if len(digits) > _NATIONAL and digits.lstrip("0").startswith(_COUNTRY):
        digits = digits.lstrip("0").removeprefix(_COUNTRY)
    return digits in OFFICES or (len(digits) == _NATIONAL and digits.startswith(OF_BODIES))


def _is_iban(piece: str) -> bool:
    """Check the remainder of an account number that has letters in it."""
    joined = "".join(filter(str.isalnum, piece)).upper()
    if not joined.isascii() or not any(sign.isdigit() for sign in joined[4:]):
        return False
    moved = "".join(str(int(sign, 36)) for sign in joined[4:] + joined[:4])
    return int(moved) % 97 == _REMAINDER


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
    wide = unicodedata.normalize("NFKC", sign) if unicodedata.east_asian_width(sign) == "F" else sign
    # The comma and the full stop of Chinese end a sentence; folded, they would seem to go on a number.
    return wide if len(wide) == 1 and (wide.isalnum() or wide in "@+()-/") else sign


def _blanked(plain: str, start: int, end: int, sign: str) -> str:
    return plain[:start] + sign * (end - start) + plain[end:]
