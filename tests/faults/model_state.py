"""A small model of delivery: what it holds to, what may go wrong, and what a state of it is.

Time is reduced to one relation: a try to send is `young` until its bytes can no longer be on the way and the channel's list
shows what it took; then it is `settled`. A worker that stalls is one whose steps do not come; its lease may end meanwhile.
"""

from dataclasses import dataclass
from typing import NamedTuple

IDLE, PENDING, SENT, TODO, DOING, DONE = "idle", "pending", "sent", "todo", "doing", "done"
NOTHING, YOUNG, SETTLED = "", "young", "settled"
WORKERS = (0, 1)


@dataclass(frozen=True, slots=True)
class Rules:
    """What the protocol holds to. Each can be switched off, to see what it is there for."""

    fence: bool = True  # a reply and a claim are refused when another worker has begun the turn since
    first: bool = True  # a reply that was recorded stays
    attempts: bool = True  # a try is claimed and unclaimed only by whoever knows the number of the last one
    pending: bool = True  # what a report has settled meanwhile is not claimed
    reconcile: bool = True  # a try of unknown outcome is looked for at the channel before another one
    kept: bool = True  # the id of a part that was recorded is not written over
    unrecorded: bool = True  # an id that a reply is recorded under proves nothing about another reply
    unique_message: bool = True  # the channel's id of a message is stored once
    lease: bool = True  # a try must begin to write within its lease
    lock: bool = True  # a sender's turns are taken one after the other
    again: bool = True  # a turn that was superseded is put back, not ended
    list_in_time: bool = True  # a settled try is in the channel's list


@dataclass(frozen=True, slots=True)
class World:
    """What is sent and what may go wrong: `faults` may each happen once, at most `together` of them in one run.

    `alike`: all replies read the same, so that the list cannot tell them apart by text.
    """

    messages: int = 1
    parts: int = 1
    faults: tuple[str, ...] = ("crash", "stall", "store", "lost", "busy", "twice")
    together: int = 1
    alike: bool = True


class Part(NamedTuple):
    """A row of the outbox. `uncertain` is the age of the try whose outcome nobody recorded; `sid` 0 is none."""

    status: str = PENDING
    attempts: int = 0
    uncertain: str = NOTHING
    sid: int = 0


class Row(NamedTuple):
    """A row of the inbox with its job and its outbox. `replies` counts how often a reply was written."""

    message: int
    fence: int = 0
    job: str = TODO
    holder: int = -1
    replies: int = 0
    parts: tuple[Part, ...] = ()


class Seen(NamedTuple):
    """A part as the desk showed it to a worker."""

    part: int
    attempts: int
    uncertain: str


class Worker(NamedTuple):
    """A worker before its next `step`. `ahead` are the parts it still has to deliver, the current one first."""

    step: str = IDLE
    row: int = -1
    fence: int = 0
    ahead: tuple[Seen, ...] = ()
    attempt: int = 0
    in_time: bool = False
    sids: tuple[int, ...] = ()


class Take(NamedTuple):
    """A message that the channel took, so that the person gets it. Its sid is its place in the list, from 1."""

    row: int
    message: int
    part: int
    listed: bool
    report: bool


class Flight(NamedTuple):
    """A try whose bytes are on the way."""

    row: int
    part: int
    attempt: int


class State(NamedTuple):
    """Everything that outlives a step."""

    posted: int = 0
    spool: tuple[int, ...] = ()
    rows: tuple[Row, ...] = ()
    workers: tuple[Worker, ...] = (Worker(), Worker())
    takes: tuple[Take, ...] = ()
    flights: tuple[Flight, ...] = ()
    faults: tuple[str, ...] = ()


def with_worker(state: State, number: int, worker: Worker) -> State:
    """Put a worker into its place."""
    return state._replace(workers=(worker, state.workers[1]) if number == 0 else (state.workers[0], worker))


def with_row(state: State, index: int, row: Row) -> State:
    """Put a row into its place."""
    return state._replace(rows=(*state.rows[:index], row, *state.rows[index + 1 :]))


def with_part(state: State, index: int, place: int, part: Part) -> State:
    """Put a part into its place."""
    row = state.rows[index]
    return with_row(state, index, row._replace(parts=(*row.parts[:place], part, *row.parts[place + 1 :])))


def with_take(state: State, index: int, take: Take) -> State:
    """Put a take into its place."""
    return state._replace(takes=(*state.takes[:index], take, *state.takes[index + 1 :]))
