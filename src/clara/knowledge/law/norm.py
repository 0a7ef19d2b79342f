"""A norm and its provisions, as typed values, and the same as JSON."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any, Final

from clara.errors import Invalid

PREAMBLE: Final = "preambulo"


class UnreadableNormError(Invalid):
    """A text is no norm that can be read. The message says where, and what is expected there."""


@dataclass(frozen=True, slots=True)
class Provision:
    """A part of a norm that can be cited alone: an article, a disposition, an annex.

    `key` is unique inside its norm ("a21", "a108quater", "aunico", "da90", "dt3", "dd1", "df2", "anexo-ii", "ap2"). Where a
    norm approves an annexed text, the plain key belongs to the annexed text, as in a citation; the same one of the approving
    norm begins with "rd-". `heading` is the path of titles above it, outermost first. A repealed provision has an empty `text`;
    so has an annex whose tables or pictures the source leaves out.
    `in_force_from` and `in_force_to` are the first and the last day of this wording, None where the source does not tell;
    `amended_by` is the norm that gave it, in the gazette's numbering.
    """

    key: str
    label: str
    title: str
    heading: tuple[str, ...]
    text: str
    in_force_from: date | None = None
    in_force_to: date | None = None
    amended_by: str | None = None

    @property
    def repealed(self) -> bool:
        """Whether nothing is left of it but its number."""
        return not self.text and not self.key.startswith("anexo")


@dataclass(frozen=True, slots=True)
class Norm:
    """A consolidated norm. `updated` is the day of this version, `repealed` the day from which it holds no more."""

    id: str
    title: str
    rank: str
    department: str
    territory: str
    eli: str
    url: str
    published: date | None
    updated: date | None
    in_force: date | None
    repealed: date | None
    provisions: tuple[Provision, ...]

    @property
    def by_key(self) -> Mapping[str, Provision]:
        """The provisions by their keys."""
        return {provision.key: provision for provision in self.provisions}


def territory_of(eli: str) -> str:
    """Tell where a norm holds by its European identifier: "/eli/es-ct/..." is of Catalonia."""
    place = eli.partition("/eli/")[2].partition("/")[0].upper()
    return place if place.startswith("ES-") else "ES"


def norm_as_json(norm: Norm) -> str:
    """Write a norm as JSON: the same norm, the same text."""
    return json.dumps(asdict(norm), ensure_ascii=False, default=date.isoformat, sort_keys=True)


def norm_from_json(text: str) -> Norm:
    """Read what `norm_as_json` wrote. Raises UnreadableNormError."""
    try:
        document = json.loads(text)
        provisions = tuple(_provision(entry) for entry in document.pop("provisions"))
        return Norm(provisions=provisions, **_dated(document, _NORM_DATES))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise UnreadableNormError(f"the JSON of a norm cannot be read ({error}); ingest the norm again") from error


def _provision(entry: dict[str, Any]) -> Provision:
    return Provision(**{**_dated(entry, _PROVISION_DATES), "heading": tuple(entry["heading"])})


def _dated(entry: Mapping[str, Any], names: frozenset[str]) -> dict[str, Any]:
    return {name: date.fromisoformat(value) if value and name in names else value for name, value in entry.items()}


_NORM_DATES: Final = frozenset({"published", "updated", "in_force", "repealed"})
_PROVISION_DATES: Final = frozenset({"in_force_from", "in_force_to"})
