"""Visiting every state of the model, and what must hold in each."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.faults.model import Model
from tests.faults.model_state import DONE, IDLE, SENT, WORKERS, Row, State

# The worlds below have at most a third of this; more means that a counter of the model grows without end.
MOST_STATES = 1_000_000


@dataclass(frozen=True, slots=True)
class Explored:
    """What the visit found. `broken` names the first thing that does not hold, `trace` the shortest way to it."""

    states: int
    edges: int
    broken: str | None = None
    trace: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Say it for people."""
        counted = f"{self.states:,} states, {self.edges:,} steps"
        return "\n".join((f"{counted}: {self.broken or 'everything holds'}", *(f"  {step}" for step in self.trace)))


def explore(model: Model) -> Explored:
    """Visit every reachable state, nearest first; stop at the first that breaks an invariant."""
    start = State()
    numbers, order, before, names = {start: 0}, [start], [0], [""]
    sources: list[int] = []
    targets: list[int] = []
    for number, state in enumerate(order):  # grows while it is walked through
        for name, following in model.steps(state):
            broken = None
            reached = canonical(following)
            target = numbers.setdefault(reached, len(order))
            if target == len(order):
                order.append(reached)
                before.append(number)
                names.append(name)
                broken = fault_in(reached)
            if broken:
                return Explored(len(order), len(sources), broken, (*_trace(number, before, names), name))
            sources.append(number)
            targets.append(target)
        if len(order) > MOST_STATES:
            return Explored(len(order), len(sources), "the model does not end")
    lost = _stranded(order, sources, targets, lambda state: is_good(state, model.world.messages))
    if lost is None:
        return Explored(len(order), len(sources))
    return Explored(len(order), len(sources), "what was acknowledged cannot be sent any more", _trace(lost, before, names))


def fault_in(state: State) -> str | None:
    """Say which invariant does not hold."""
    received = [(take.message, take.part) for take in state.takes]
    sids = [part.sid for row in state.rows for part in row.parts if part.sid]
    fences = [(worker.row, worker.fence) for worker in state.workers if worker.fence]
    checks = (
        (len(set(received)) < len(received), "the person got a part twice"),
        (received != sorted(received), "the person got the parts out of order"),
        (any(row.replies > 1 for row in state.rows), "a recorded reply was written over"),
        (len(set(sids)) < len(sids), "two parts are recorded under one id"),
        (len(set(fences)) < len(fences), "two workers hold one fence"),
        (any(fence > state.rows[row].fence for row, fence in fences), "the fence went back"),
        (any(_early(state, row) for row in state.rows), "a job ended before its reply was out"),
    )
    return next((name for broken, name in checks if broken), None)


def _early(state: State, row: Row) -> bool:
    """Whether nobody will take the turn again although a part is not out."""
    return row.job == DONE and not (row.replies and all(part.status == SENT for part in row.parts))


def is_good(state: State, messages: int) -> bool:
    """Whether every message was taken in and answered, every row is final and nobody has anything left to do."""
    return (
        state.posted == messages
        and not state.spool
        and len(state.rows) == messages
        and all(row.job == DONE and row.replies and all(part.status == SENT for part in row.parts) for row in state.rows)
        and len(state.takes) == sum(len(row.parts) for row in state.rows)
        and all(worker.step == IDLE for worker in state.workers)
    )


def canonical(state: State) -> State:
    """Give one state for all that differ only in the height of a fence or in which worker is which."""
    if any(row.fence > 1 for row in state.rows):
        state = _lowered(state)
    one, two = state.workers
    rows = state.rows
    if (two, any(row.holder == 1 for row in rows)) > (one, any(row.holder == 0 for row in rows)):
        swapped = tuple(row._replace(holder=1 - row.holder) if row.holder in WORKERS else row for row in rows)
        return state._replace(rows=swapped, workers=(two, one))
    return state


def _lowered(state: State) -> State:
    """Number the fences of each row anew without gaps: only which is higher counts."""
    ranks = [
        sorted({0, row.fence, *(w.fence for w in state.workers if w.row == index)}) for index, row in enumerate(state.rows)
    ]
    rows = tuple(row._replace(fence=rank.index(row.fence)) for row, rank in zip(state.rows, ranks, strict=True))
    workers = [w._replace(fence=ranks[w.row].index(w.fence)) if w.fence else w for w in state.workers]
    return state._replace(rows=rows, workers=(workers[0], workers[1]))


def _trace(number: int, before: Sequence[int], names: Sequence[str]) -> tuple[str, ...]:
    steps = []
    while number:
        steps.append(names[number])
        number = before[number]
    return tuple(reversed(steps))


def _stranded(order: Sequence[State], sources: list[int], targets: list[int], good: Callable[[State], bool]) -> int | None:
    """Give the nearest state from which no good one can be reached; None when there is none."""
    backwards: list[list[int]] = [[] for _ in order]
    for source, target in zip(sources, targets, strict=True):
        backwards[target].append(source)
    waiting = [number for number, state in enumerate(order) if good(state)]
    safe = set(waiting)
    while waiting:
        for source in backwards[waiting.pop()]:
            if source not in safe:
                safe.add(source)
                waiting.append(source)
    return next((number for number in range(len(order)) if number not in safe), None)


def program(model: Model, fault: str = "", then: str = "take") -> list[str]:
    """Give the calls of the last turn when nothing goes wrong but `fault`, after which comes the step `then`."""
    state, calls, left = State(), list[str](), fault
    while not is_good(state, model.world.messages):
        steps = dict(model.steps(state))
        name = left if left in steps else _likeliest(list(steps), then)
        left = "" if name == left else left
        state = steps[name]
        calls = [] if name.startswith("0 fetch") else calls + [name[2:]] * name.startswith("0 ")
    return calls[: calls.index("end")]


def _likeliest(names: Sequence[str], then: str) -> str:
    """What the channel and time do comes first, so that a single worker never has to wait."""
    return min(
        (name for name in names if "!" not in name), key=lambda name: (not name.startswith((then, "settle")), name[0] == "1")
    )
