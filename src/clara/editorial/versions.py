"""Versions of the knowledge as they are kept: which one is served, those that were, and what each passage said then."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from clara.errors import NotFound, Refused
from clara.retrieval.passage import Passage


class ServedChangedError(Refused):
    """What is served was changed by somebody else meanwhile. Nothing was switched; run the command again."""


class NothingToUndoError(NotFound):
    """No earlier version is kept, so there is nothing to go back to; `clara publish --list` shows what there is."""


@dataclass(frozen=True, slots=True)
class ServedVersion:
    """What is served under a name: the corpus, its version, the publication that put it there and its revisions.

    Before the first publication the name stands for itself: `publication` is None.
    """

    name: str
    physical: str
    version: int | None = None
    publication: int | None = None
    revisions: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Publication:
    """One version. `passages` is None when its corpus was dropped."""

    id: int
    physical: str
    state: str
    revisions: tuple[int, ...]
    gate: Mapping[str, Any]
    created_at: datetime
    served_at: datetime | None
    ended_at: datetime | None
    passages: int | None


@dataclass(frozen=True, slots=True)
class KnownPassage:
    """A passage as it was served at a moment. `later`: it was not known yet, and this is how it was known first."""

    passage: Passage
    later: bool


@dataclass(frozen=True, slots=True)
class ShownPassage:
    """What was served of a passage at a moment, None where nothing was recorded, and whether the same is served now."""

    passage: Passage | None
    changed: bool = False


def target_of_undo(held: Iterable[Publication]) -> Publication:
    """Give the version that was served before. Raises NothingToUndoError."""
    past = [one for one in held if one.state == "past" and one.passages is not None and one.ended_at is not None]
    if not past:
        raise NothingToUndoError
    return max(past, key=lambda one: (one.ended_at, one.id))
