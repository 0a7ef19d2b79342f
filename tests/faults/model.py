"""The steps of delivery: from a state of the model to every state that may follow.

They say in values what clara.delivery.turn_processor, the desk, the job engine and recovery do, one atomic effect a step.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from tests.faults.model_state import (
    DOING,
    DONE,
    IDLE,
    NOTHING,
    PENDING,
    SENT,
    SETTLED,
    TODO,
    WORKERS,
    YOUNG,
    Flight,
    Part,
    Row,
    Rules,
    Seen,
    State,
    Take,
    Worker,
    World,
    with_part,
    with_row,
    with_take,
    with_worker,
)  # fmt: skip

# A worker whose turn was recovered may be late again and again; more often shows nothing new and would never end.
MOST_LAPSES: Final = 2

Step = tuple[str, State]


@dataclass(frozen=True, slots=True)
class Model:
    """The steps that are possible in a state."""

    rules: Rules = field(default_factory=Rules)
    world: World = field(default_factory=World)

    def steps(self, state: State) -> Iterator[Step]:
        """Give every step with its name. A name with `!` is a fault."""
        yield from self._web(state)
        for number in WORKERS:
            yield from self._worker(state, number)
        yield from self._recovery(state)
        yield from self._channel(state)
        yield from self._time(state)

    # -- taking messages in -------------------------------------------------------------------------------------------

    def _web(self, state: State) -> Iterator[Step]:
        if state.posted < self.world.messages:
            yield from self._post("accept", state._replace(posted=state.posted + 1), state.posted)
        if state.posted and (faulty := self._fault(state, "twice")):
            for message in range(state.posted):
                yield from self._post("twice! accept", faulty, message)
        if state.spool:
            yield "drain", self._stored(state._replace(spool=state.spool[1:]), state.spool[0])

    def _post(self, name: str, state: State, message: int) -> Iterator[Step]:
        spooled = state._replace(spool=(*state.spool, message))
        if state.spool:
            yield f"{name} {message} into the spool", spooled
            return
        yield f"{name} {message}", self._stored(state, message)
        if faulty := self._fault(spooled, "store"):
            yield f"store! {name} {message} into the spool", faulty
            yield f"store! {name} {message} and into the spool", self._stored(faulty, message)

    def _stored(self, state: State, message: int) -> State:
        if self.rules.unique_message and any(row.message == message for row in state.rows):
            return state
        return state._replace(rows=(*state.rows, Row(message)))

    # -- the job engine -----------------------------------------------------------------------------------------------

    def _worker(self, state: State, number: int) -> Iterator[Step]:
        worker = state.workers[number]
        if worker.step == IDLE:
            for index, row in enumerate(state.rows):
                if row.job == TODO and not self._locked(state, index):
                    taken = with_row(state, index, row._replace(job=DOING, holder=number))
                    yield f"{number} fetch {index}", with_worker(taken, number, Worker("begin", index))
            return
        if faulty := self._fault(state, "crash"):
            yield f"crash! {number} before {worker.step}", with_worker(faulty, number, Worker())
        if worker.step in {"end", "back"}:
            yield from self._end(state, number, worker)
        elif worker.step == "send":
            yield from self._send(state, number, worker)
        elif worker.step != "answer":
            yield from self._call(state, number, worker)

    def _locked(self, state: State, index: int) -> bool:
        return self.rules.lock and any(
            row.job == DOING or (row.job == TODO and other < index) for other, row in enumerate(state.rows) if other != index
        )

    def _end(self, state: State, number: int, worker: Worker) -> Iterator[Step]:
        row, idle = state.rows[worker.row], with_worker(state, number, Worker())
        # As the library does it: whoever ends a job or puts it back, not only the worker that holds it.
        moved = row.job in {TODO, DOING} if worker.step == "end" else row.job == DOING
        job = DONE if worker.step == "end" else TODO
        yield f"{number} {worker.step}", with_row(idle, worker.row, row._replace(job=job, holder=-1)) if moved else idle
        if moved and (faulty := self._fault(idle, "store")):
            yield f"store! {number} {worker.step}", faulty

    def _recovery(self, state: State) -> Iterator[Step]:
        for index, row in enumerate(state.rows):
            if row.job != DOING:
                continue
            holder = state.workers[row.holder]
            stalled = holder.step != IDLE and holder.row == index
            free = self._fault(state, "stall") if stalled else state
            if free:
                yield f"{'stall! ' if stalled else ''}recover {index}", with_row(free, index, row._replace(job=TODO, holder=-1))

    # -- a turn: what clara.delivery.turn_processor does -----------------------------------------------------------------------

    def _call(self, state: State, number: int, worker: Worker) -> Iterator[Step]:
        done = getattr(self, f"_{worker.step}")(state, number, worker)
        label = f"{number} {worker.step}" + (f" {worker.ahead[0].part}" if worker.ahead else "")
        yield label, done
        if faulty := self._fault(state, "busy" if worker.step == "taken" else "store"):
            yield f"fault! {label}, no effect", with_worker(faulty, number, worker._replace(step="back"))
            lost = with_worker(done, number, worker._replace(step="back"))
            if worker.step not in {"waiting", "taken", "unrecorded"} and lost != with_worker(
                state, number, lost.workers[number]
            ):
                yield f"store! {label}, answer lost", lost._replace(faults=faulty.faults)

    def _begin(self, state: State, number: int, worker: Worker) -> State:
        row = state.rows[worker.row]
        begun = row._replace(fence=row.fence + 1)
        following = worker._replace(step="waiting" if row.replies else "reply", fence=begun.fence)
        return with_worker(with_row(state, worker.row, begun), number, following)

    def _reply(self, state: State, number: int, worker: Worker) -> State:
        row = state.rows[worker.row]
        if self.rules.fence and row.fence != worker.fence:
            return self._superseded(state, number, worker)
        if self.rules.first and row.replies:
            return with_worker(state, number, worker._replace(step="waiting"))
        written = row._replace(replies=row.replies + 1, parts=(Part(),) * self.world.parts)
        if self.world.parts > 1:
            return with_worker(with_row(state, worker.row, written), number, worker._replace(step="waiting"))
        claimed = written._replace(parts=(Part(attempts=1, uncertain=YOUNG),))  # the only part is claimed with it
        ready = worker._replace(step="send", ahead=(Seen(0, 0, NOTHING),), attempt=1, in_time=True)
        return with_worker(with_row(state, worker.row, claimed), number, ready)

    def _waiting(self, state: State, number: int, worker: Worker) -> State:
        parts = state.rows[worker.row].parts
        ahead = tuple(Seen(n, part.attempts, part.uncertain) for n, part in enumerate(parts) if part.status == PENDING)
        return self._next(state, number, worker._replace(ahead=ahead))

    def _next(self, state: State, number: int, worker: Worker) -> State:
        """Go to the first part ahead: the head of `_deliver`."""
        worker = worker._replace(attempt=0, in_time=False, sids=())
        step = "claim"
        if not worker.ahead:
            step = "end"
        elif self.rules.reconcile and worker.ahead[0].uncertain:
            step = "taken" if worker.ahead[0].uncertain == SETTLED else "back"
        return with_worker(state, number, worker._replace(step=step))

    def _taken(self, state: State, number: int, worker: Worker) -> State:
        here = (state.rows[worker.row].message, worker.ahead[0].part)
        sids = tuple(
            sid
            for sid, take in enumerate(state.takes, 1)
            if take.listed and (self.world.alike or (take.message, take.part) == here)
        )
        return with_worker(state, number, worker._replace(step="unrecorded", sids=sids))

    def _unrecorded(self, state: State, number: int, worker: Worker) -> State:
        known = {part.sid for row in state.rows for part in row.parts} if self.rules.unrecorded else set()
        ours = tuple(sid for sid in worker.sids if sid not in known)[:1]
        return with_worker(state, number, worker._replace(step="sent" if ours else "claim", sids=ours))

    def _claim(self, state: State, number: int, worker: Worker) -> State:
        row, seen = state.rows[worker.row], worker.ahead[0]
        part = row.parts[seen.part]
        moved = self.rules.attempts and part.attempts != seen.attempts
        settled = self.rules.pending and part.status != PENDING
        if moved or settled or (self.rules.fence and row.fence != worker.fence):
            return self._superseded(state, number, worker)
        claimed = part._replace(attempts=part.attempts + 1, uncertain=YOUNG)
        ready = worker._replace(step="send", attempt=claimed.attempts, in_time=True, sids=())
        return with_worker(with_part(state, worker.row, seen.part, claimed), number, ready)

    def _send(self, state: State, number: int, worker: Worker) -> Iterator[Step]:
        part = worker.ahead[0].part
        if self.rules.lease and not worker.in_time:
            yield f"{number} send {part} is too late", with_worker(state, number, worker._replace(step="unclaim"))
            return
        flight = Flight(worker.row, part, worker.attempt)
        flown = state._replace(flights=tuple(sorted((*state.flights, flight))))
        yield f"{number} send {part}", with_worker(flown, number, worker._replace(step="answer"))

    def _sent(self, state: State, number: int, worker: Worker) -> State:
        place = worker.ahead[0].part
        part = state.rows[worker.row].parts[place]
        if not (self.rules.kept and part.sid):
            part = part._replace(status=SENT, uncertain=NOTHING, sid=worker.sids[0])
        return self._next(with_part(state, worker.row, place, part), number, worker._replace(ahead=worker.ahead[1:]))

    def _unclaim(self, state: State, number: int, worker: Worker) -> State:
        place = worker.ahead[0].part
        part = state.rows[worker.row].parts[place]
        if not self.rules.attempts or part.attempts == worker.attempt:
            state = with_part(state, worker.row, place, part._replace(uncertain=NOTHING))
        return with_worker(state, number, worker._replace(step="back"))

    def _superseded(self, state: State, number: int, worker: Worker) -> State:
        return with_worker(state, number, worker._replace(step="back" if self.rules.again else "end", ahead=()))

    # -- the channel, and time ----------------------------------------------------------------------------------------

    def _channel(self, state: State) -> Iterator[Step]:
        for flight in state.flights:
            yield from self._fly(
                state._replace(flights=tuple(other for other in state.flights if other != flight)), state, flight
            )
        for index, take in enumerate(state.takes):
            if not take.listed:
                yield f"list {index + 1}", with_take(state, index, take._replace(listed=True))
            if take.report:
                told = with_take(state, index, take._replace(report=False))
                yield f"no report {index + 1}", told
                yield f"report {index + 1}", self._reported(told, take, index + 1)

    def _fly(self, landed: State, flying: State, flight: Flight) -> Iterator[Step]:
        name = f"{flight.row}.{flight.part}"
        message = landed.rows[flight.row].message
        take = Take(flight.row, message, flight.part, listed=self.rules.list_in_time, report=True)
        taken = landed._replace(takes=(*landed.takes, take))
        waiting = [n for n in WORKERS if _waits(landed.workers[n], flight)]
        if not waiting:
            yield f"take {name}", taken
            yield f"drop {name}", landed
            return
        number, worker = waiting[0], landed.workers[waiting[0]]
        yield f"take {name}", with_worker(taken, number, worker._replace(step="sent", sids=(len(taken.takes),)))
        if faulty := self._fault(landed, "busy"):
            yield f"busy! {name}", with_worker(faulty, number, worker._replace(step="unclaim"))
        if faulty := self._fault(flying, "lost"):
            yield f"lost! answer about {name}", with_worker(faulty, number, worker._replace(step="back"))

    def _reported(self, state: State, take: Take, sid: int) -> State:
        part = state.rows[take.row].parts[take.part]
        if part.sid not in {0, sid}:
            return state
        return with_part(state, take.row, take.part, part._replace(status=SENT, uncertain=NOTHING, sid=sid))

    def _time(self, state: State) -> Iterator[Step]:
        for number, worker in enumerate(state.workers):
            if worker.step == "send" and worker.in_time and self.rules.lease and worker.attempt <= MOST_LAPSES:
                free = state if state.rows[worker.row].holder != number else self._fault(state, "stall")
                if free:
                    yield f"{number} is past its lease", with_worker(free, number, worker._replace(in_time=False))
        for index, row in enumerate(state.rows):
            for place, part in enumerate(row.parts):
                if part.uncertain == YOUNG and not self._on_the_way(state, index, place):
                    yield f"settle {index}.{place}", with_part(state, index, place, part._replace(uncertain=SETTLED))

    def _on_the_way(self, state: State, index: int, place: int) -> bool:
        """Whether a try may still begin, or has begun and may still arrive: what lease and settling time shut out."""
        beginning = self.rules.lease and any(
            worker.step == "send" and worker.in_time and worker.row == index and worker.ahead[0].part == place
            for worker in state.workers
        )
        return beginning or any(flight.row == index and flight.part == place for flight in state.flights)

    def _fault(self, state: State, fault: str) -> State | None:
        """Spend a fault; None when it may not happen any more."""
        if fault not in self.world.faults or fault in state.faults or len(state.faults) >= self.world.together:
            return None
        return state._replace(faults=tuple(sorted((*state.faults, fault))))


def _waits(worker: Worker, flight: Flight) -> bool:
    return worker.step == "answer" and (worker.row, worker.ahead[0].part, worker.attempt) == flight
