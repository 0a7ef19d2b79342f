"""A norm and its provisions, as typed values and as JSON, and how provisions are put together from what is read of it."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, field, replace
from datetime import date
from typing import Final

from clara.data_files import each, record
from clara.errors import Invalid
from clara.knowledge.law.labels import REPEALED, Label, folded

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
        return record(
            Norm,
            json.loads(text),
            provisions=each(lambda entry: record(Provision, entry, in_force_from=_day, in_force_to=_day)),
            **dict.fromkeys(("published", "updated", "in_force", "repealed"), _day),
        )
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise UnreadableNormError(f"the JSON of a norm cannot be read ({error}); ingest the norm again") from error


def _day(value: str | None) -> date | None:
    return date.fromisoformat(value) if value else None


_RANKS: Final = ("libro", "titulo", "capitulo", "seccion", "subseccion")
_STRUCTURE: Final = re.compile(r"(libro|t[ií]tulo|cap[ií]tulo|secci[oó]n|subsecci[oó]n)[ ]\S", re.IGNORECASE)
# What ends the articles of a norm: place and day, or the order to obey. Names and offices follow until an annex begins.
_SIGNED: Final = re.compile(
    r"(?:Dad[oa] en |Por tanto, ?(?:mando|ordeno)|[A-ZÁÉÍÓÚÑ][\w ]{2,40}, (?:a )?\d{1,2} de [a-z]{4,10} de \d{4}\.)",
    re.IGNORECASE,
)
# Provisions of the norm that approves another text, where that text has one of the same key.
_APPROVING: Final = "rd-"


def is_structure(text: str) -> bool:
    """Whether a heading is one of a book, title, chapter, section or subsection."""
    return _STRUCTURE.match(text) is not None


@dataclass(frozen=True, slots=True)
class Wording:
    """Since when, until when and by which norm a provision reads as it does."""

    in_force_from: date | None = None
    in_force_to: date | None = None
    amended_by: str | None = None


@dataclass(slots=True)
class _Draft:
    label: Label
    heading: tuple[str, ...]
    wording: Wording
    shared: bool = False  # the heading speaks for several articles
    lines: list[str] = field(default_factory=list)

    def written(self, key: str) -> Provision:
        text = "" if all(REPEALED.fullmatch(line) for line in self.lines) else "\n".join(self.lines)
        return Provision(key, self.label.label, self.label.title, self.heading, text, *astuple(self.wording))


class Assembly:
    """Collects the provisions of a norm in the order in which they stand. Before the first one opens, all is preamble."""

    def __init__(self) -> None:
        self._path: list[tuple[int, str]] = []
        self._drafts: list[_Draft] = [_Draft(Label(PREAMBLE, "Preámbulo"), (), Wording())]
        self._open = self._drafts
        self._signed = False

    @property
    def in_annex(self) -> bool:
        """Whether an annex is open: what looks like a title there is text of it."""
        return self._drafts[-1].label.key.startswith("anexo")

    @property
    def begun(self) -> bool:
        """Whether any provision has opened."""
        return len(self._drafts) > 1

    @property
    def under_title(self) -> bool:
        """Whether a title stands above, or articles: above both all is preamble."""
        return self.begun or bool(self._path)

    def enter(self, title: str) -> None:
        """Go under a title; a heading that is no book, title, chapter or section goes below all of them."""
        match = _STRUCTURE.match(title)
        rank = _RANKS.index(folded(match[1])) if match else len(_RANKS)
        self._path = [*((held, above) for held, above in self._path if held < rank), (rank, title)]

    def open(self, labels: Sequence[Label], wording: Wording = Wording()) -> None:
        """Begin a provision, or several that share their text."""
        if labels[0].key.startswith(("anexo", "d")):  # they stand behind the last title, not under it
            self._path = []
        heading = tuple(title for _, title in self._path)
        self._open = [_Draft(label, heading, wording, shared=len(labels) > 1) for label in labels]
        self._drafts.extend(self._open)
        self._signed = False

    def add(self, text: str) -> None:
        """Add a paragraph to what is open, unless the norm was signed above it."""
        self._signed = self._signed or (self.begun and not self.in_annex and _SIGNED.match(text) is not None)
        if text and not self._signed:
            for draft in self._open:
                draft.lines.append(text)

    def amended(self, norm: str) -> None:
        """Note by which norm the open provision was amended last; only the first note counts, the newest."""
        for draft in self._open:
            if draft.wording.amended_by is None:
                draft.wording = replace(draft.wording, amended_by=norm)

    def provisions(self) -> tuple[Provision, ...]:
        """Give all provisions under unique keys; the preamble only if there is one."""
        alone = {draft.label.key for draft in self._drafts if not draft.shared}
        drafts = [
            draft
            for draft in self._drafts
            if not (draft.shared and draft.label.key in alone) and (draft.lines or draft.label.key != PREAMBLE)
        ]
        return tuple(draft.written(key) for draft, key in zip(drafts, _unique(drafts), strict=True))


def _unique(drafts: Sequence[_Draft]) -> Iterable[str]:
    """Give a key for each: plain ones to the annexed text, which is what citations of the norm mean."""
    annexed = _annexed(drafts)
    own = {draft.label.key for draft in drafts[annexed:]}
    taken: set[str] = set()
    for place, draft in enumerate(drafts):
        key = draft.label.key
        if place < annexed and key in own and not key.startswith("anexo"):
            key = f"{_APPROVING}{key}"
        key = next(
            name for number in range(1, len(drafts) + 1) if (name := key if number == 1 else f"{key}-{number}") not in taken
        )
        taken.add(key)
        yield key


def _annexed(drafts: Sequence[_Draft]) -> int:
    """Tell where the text begins that the norm approves: at the article 1 that other articles stand before; 0 if nowhere."""
    articles = 0
    for place, draft in enumerate(drafts):
        if draft.label.key == "a1" and articles:
            return place
        articles += draft.label.key == "aunico" or draft.label.key[:2].lstrip("a").isdigit()
    return 0
