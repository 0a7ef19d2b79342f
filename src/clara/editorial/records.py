"""What the steps leave behind: findings with what a person decided about each fact, and the versions of the knowledge."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from clara.editorial.drift import DriftFinding, Touched
from clara.editorial.sources import CheckOutcome
from clara.errors import Invalid, NotFound, Refused
from clara.knowledge.revisions import Revision
from clara.knowledge.sources import RegisteredSource
from clara.retrieval.passage import Passage


class BusyPublishingError(Refused):
    """Somebody else publishes or goes back at this moment. Wait for it; `clara publish --list` shows how it ended."""


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


# What a source differs in, each difference with the facts that it touches.
Differences = Sequence[tuple[DriftFinding, Sequence[Touched]]]


class UntouchedFactError(Invalid):
    """The finding does not touch that fact. `clara review show N` names those that it touches."""

    def __init__(self, number: int, fact_id: str) -> None:
        super().__init__(f"finding {number} does not touch {fact_id}; `clara review show {number}` names those that it does")


class UnknownFindingError(NotFound):
    """There is no finding of that number. `clara review list` names those that wait."""

    def __init__(self, number: int) -> None:
        super().__init__(f"there is no finding {number}; `clara review list` names those that wait")


class DecidedFindingError(Refused):
    """The finding was decided already. `clara review list` names those that wait."""

    def __init__(self, finding: "KeptFinding") -> None:
        undecided = f"; nobody has decided about {', '.join(finding.undecided)}" if finding.undecided else ""
        super().__init__(
            f"finding {finding.id} is {finding.state} already{undecided}; `clara review list` names those that wait"
        )


@dataclass(frozen=True, slots=True)
class Corrected:
    """A fact that says something else from now on: `fields` as they stand in data/; None, what is proposed for it."""

    fact_id: str
    fields: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Holds:
    """A fact that is true as it stands, whatever has changed, and why."""

    fact_id: str
    reason: str


Decision = Corrected | Holds
# A decision as it is kept: a correction is a draft, unpublished and without a number.
Decided = Sequence[Revision | Holds]


@dataclass(frozen=True, slots=True)
class KeptTouch:
    """A fact that a finding touches: by what of it, the fields that are proposed for it, and what a person decided about it.

    `doubtful`: answers warn of it; `drafted`: a correction of it waits to be published.
    """

    fact_id: str
    relation: str
    proposal: Mapping[str, Any] | None = None
    decision: str | None = None
    reason: str | None = None
    decided_at: datetime | None = None
    doubtful: bool = False
    drafted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingRecord:
    """What is stored of any finding. `figures` has those that went and came, as in data/, under "gone" and "new"."""

    id: int
    kind: str
    weight: str
    place: str
    title: str
    before: str | None
    after: str | None
    figures: Mapping[str, Any]
    found_at: datetime
    state: str
    decided_at: datetime | None = None
    decided_by: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptFinding(FindingRecord):
    """A finding as the journey works with it."""

    source_id: str
    snapshot_id: int | None
    touched: tuple[KeptTouch, ...] = ()

    @property
    def undecided(self) -> tuple[str, ...]:
        """Give the facts in doubt that no person has decided about."""
        return tuple(one.fact_id for one in self.touched if one.doubtful and not one.drafted)


@dataclass(frozen=True, slots=True)
class Settled:
    """What a decision did: the state of the snapshot afterwards (None: there is none), and the drafts by number."""

    finding: KeptFinding
    snapshot: str | None
    drafts: tuple[int, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Looked:
    """What a look at one source gave. `open` has the numbers of the findings that wait for a person, by digest."""

    source: RegisteredSource
    outcome: CheckOutcome
    detail: str = ""
    found: Differences = ()
    open: Mapping[str, int] = field(default_factory=dict)
    absent: tuple[Mapping[str, Any], ...] = ()
