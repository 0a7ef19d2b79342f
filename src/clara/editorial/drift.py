"""Drift: what a source says now against what answers rest on.

All of it is decided here without asking anybody: values go in, values come out.
"""

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final, Literal

from clara.knowledge.law.comparison import Weight, compare, compare_lines
from clara.knowledge.law.norm import Norm
from clara.language.figures.figure import Figure

# A block of a page that says when it was made, or how often it was read, says nothing that a fact could rest on.
_STAMP: Final = re.compile(
    r"(?:última (?:actualización|modificación|revisión)|actualizad[oa]|fecha de (?:actualización|publicación)|visitas|hoy es)"
    r"\b.{0,60}",
    re.IGNORECASE,
)
# Lines. Longer pages are compared as a whole between what both begin and end with: matching takes the square of the length.
_LONGEST_PAGE: Final = 4_000


@dataclass(frozen=True, slots=True)
class DriftFinding:
    """A difference between a source and what is served of it. `place` is the key of a provision, or a block of a page."""

    source_id: str
    kind: Literal["article", "page"]
    weight: Weight
    place: str
    title: str
    before: str | None
    after: str | None
    figures_gone: frozenset[Figure] = frozenset()
    figures_new: frozenset[Figure] = frozenset()

    @property
    def digest(self) -> str:
        """Name the difference: the same one has the same digest, whenever it is found."""
        parts = (self.source_id, self.place, self.before, self.after)
        return hashlib.sha256(
            "\0".join("\1" if part is None else part for part in parts).encode("utf-8", "replace")
        ).hexdigest()


def drift_of_norm(served: Norm, live: Norm) -> tuple[DriftFinding, ...]:
    """Compare two states of a norm, provision by provision."""
    return tuple(
        DriftFinding(
            served.id, "article", change.weight, change.key, change.label, change.before, change.after,
            change.figures_gone, change.figures_new,
        )
        for change in compare(served, live)
    )  # fmt: skip


def drift_of_page(source_id: str, before: str, after: str) -> tuple[DriftFinding, ...]:
    """Compare two texts of a page block by block, a block being lines that changed together."""
    old, new = before.split("\n"), after.split("\n")
    return tuple(finding for gone, came in _hunks(old, new) if (finding := _block(source_id, gone, came)))


def _hunks(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
    shortest = min(len(old), len(new))
    start = next((place for place in range(shortest) if old[place] != new[place]), shortest)
    rest = shortest - start
    end = next((place for place in range(rest) if old[-1 - place] != new[-1 - place]), rest)
    old, new = old[start : len(old) - end], new[start : len(new) - end]
    if max(len(old), len(new)) > _LONGEST_PAGE:
        yield old, new
        return
    for tag, old_from, old_to, new_from, new_to in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            yield old[old_from:old_to], new[new_from:new_to]


def _block(source_id: str, gone: Sequence[str], came: Sequence[str]) -> DriftFinding | None:
    weight, figures_gone, figures_new = compare_lines(gone, came)
    if weight is None:
        return None
    if all(_STAMP.fullmatch(line.strip()) for line in (*gone, *came)):
        weight = "cosmetic"
    title = next((line for line in (*gone, *came) if line), "")[:120]
    before, after = ("\n".join(lines) if lines else None for lines in (gone, came))
    return DriftFinding(source_id, "page", weight, title, title, before, after, figures_gone, figures_new)
