"""Putting provisions together from what is read of a norm, piece by piece: titles, openings, text. Keys are made unique."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Final

from clara.knowledge.law.labels import REPEALED, Label, folded
from clara.knowledge.law.norm import PREAMBLE, Provision

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


def is_signature(text: str) -> bool:
    """Whether a paragraph begins what stands under a norm: place, day and names."""
    return _SIGNED.match(text) is not None


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
        wording = self.wording
        return Provision(
            key=key, label=self.label.label, title=self.label.title, heading=self.heading, text=text,
            in_force_from=wording.in_force_from, in_force_to=wording.in_force_to, amended_by=wording.amended_by,
        )  # fmt: skip


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
        self._signed = self._signed or (self.begun and not self.in_annex and is_signature(text))
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
