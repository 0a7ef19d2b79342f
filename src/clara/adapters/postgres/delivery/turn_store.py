"""Each message's turn: the case as it was stored, the parts waiting to go out, and what became of them."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Final

import structlog
from sqlalchemy import Engine

from clara.adapters.postgres.corpus.index import storable
from clara.adapters.postgres.statements import AtOnce, Row
from clara.answering.journey import MAX_QUESTION
from clara.answering.message import Act, Past, Reply, ReplyStatus
from clara.delivery.message import Case, Incoming, Limit, Outgoing, StoredTurn
from clara.delivery.ports import Sealer, StoreUnavailableError, SupersededError, UnsealableError
from clara.delivery.records import open_address

# A message that broke its worker so often is answered the safe way, and a person should look at it.
SET_ASIDE_AFTER: Final = 2
# A reply that its channel refused for its rate is sent again after so long; twice and four times as long the next times.
RESEND_AFTER_SECONDS: Final = 15.0
ERASED: Final = "erased"
# For so long a key that was lost may come back. Then the part goes to nobody, and ends.
UNSEALABLE_SECONDS: Final = 24 * 3600.0
# A follow-up hangs on what was said a moment ago; later it is a new question. Four turns are more than any step looks back.
REMEMBERED_SECONDS: Final = 1800
REMEMBERED_TURNS: Final = 4
# What a rating may be about: replies that tried to answer something.
RATEABLE: Final = tuple(
    status.value
    for status in (
        ReplyStatus.ANSWERED,
        ReplyStatus.NOT_FOUND,
        ReplyStatus.OUT_OF_SCOPE,
        ReplyStatus.CLARIFIED,
        ReplyStatus.URGENT,
        ReplyStatus.OUTAGE,
    )
)
RATINGS: Final = frozenset({Act.HELPFUL, Act.UNHELPFUL, Act.WRONG})
MEMORY: Final = {Act.REMEMBER: True, Act.DO_NOT_REMEMBER: False}
# The counts that are kept under a person's name (accept_message.sql, refuse_message.sql, spend_answer.sql).
SCOPES: Final = ("sender_minute", "sender_day", "model", *(f"refused_{limit.value}" for limit in Limit))
# Another release may write others, and its turns must not stop this one's.
STATUSES: Final = frozenset(ReplyStatus)
BEGINNING: Final = {
    "often": SET_ASIDE_AFTER,
    "remembered_seconds": REMEMBERED_SECONDS,
    "remembered_turns": REMEMBERED_TURNS,
    "longest": MAX_QUESTION,
}
log = structlog.get_logger()


def lock_of(inbox_id: int, pseudonym: str) -> str:
    """Give what a message's job is locked by: its sender; the receipt of an erasure, which has none, waits for nobody."""
    return pseudonym or f"{ERASED}:{inbox_id}"


class PostgresDesk:
    """Implements delivery's Desk. Every method is one statement, and commits with it: one trip instead of three."""

    def __init__(self, engine: Engine, sealer: Sealer) -> None:
        self._at_once = AtOnce(engine, StoreUnavailableError)
        self._sealer = sealer

    def begin(self, inbox_id: int) -> Case | None:
        """Begin the turn under a new fence; None when the message was erased."""
        row = self._at_once.row("begin_turn", id=inbox_id, **BEGINNING)
        if row is None:
            return None
        # Without its ends: they are opened only to send.
        kinds, recordings = tuple(row.media_types), tuple(row.recordings)
        incoming = Incoming(row.message_sid, row.channel, "", "", row.body, kinds, row.received_at, recordings)
        return Case(
            inbox_id=inbox_id,
            fence=row.fence,
            incoming=incoming,
            pseudonym=row.pseudonym,
            first_contact=row.earlier is None,
            previous_language=row.earlier,
            tries=row.tries if row.answered else row.tries - 1,
            answered=row.answered,
            limit=Limit(row.over_limit) if row.over_limit else None,
            age=row.age,
            past=tuple(_past(said) for said in row.past if said["status"] in STATUSES),
        )

    def reply(self, case: Case, reply: Reply, parts: Sequence[str]) -> Outgoing | None:
        """Record the turn and its parts together, and do what the reply decides; an earlier reply stays.

        Gives the only part of a reply, claimed. Raises SupersededError when the turn was begun again.
        """
        claimed = len(parts) == 1 and reply.act is not Act.ERASE and case.timely
        told: dict[str, Any] = {
            "id": case.inbox_id,
            "fence": case.fence,
            "bodies": [storable(body) for body in parts],
            "language": reply.language,
            "status": reply.status.value,
            "timings_ms": json.dumps(dict(reply.timings_ms)),
            "total_ms": reply.timings_ms.get("total", 0.0),
        }
        name = "record_erasure" if reply.act is Act.ERASE else "record_reply"
        told |= {"scopes": list(SCOPES)} if reply.act is Act.ERASE else _found(reply) | _decided(reply) | {"claimed": claimed}
        row = self._at_once.row(name, **told)
        if row is None:
            raise SupersededError
        return self._claimed(row, told["bodies"][0]) if claimed and row.id is not None else None

    def _claimed(self, row: Row, body: str) -> Outgoing:
        try:
            person, ours = self._ends(row)
        except UnsealableError:  # the right key may come back
            self.unclaim(Outgoing(row.id, ERASED, ERASED, body))
            raise
        return Outgoing(row.id, ours, person, body)

    def turn(self, inbox_id: int) -> StoredTurn | None:
        """Give a recorded turn with the message that it answered; None when there is none."""
        return next(iter(self._at_once.read(StoredTurn, "turn.recorded", id=inbox_id)), None)

    def waiting(self, case: Case) -> Sequence[Outgoing]:
        """Give the parts that still have to be sent, in order. Raises UnsealableError when the address cannot be read."""
        return [self._outgoing(row, case) for row in self._at_once.rows("waiting_parts", id=case.inbox_id)]

    def _outgoing(self, row: Row, case: Case) -> Outgoing:
        try:
            person, ours = self._ends(row)
        except UnsealableError:
            if case.age <= UNSEALABLE_SECONDS:  # the right key may come back; its sender's later messages wait as well
                raise
            return Outgoing(row.id, ERASED, ERASED, row.body, row.part, row.attempts)
        hold = RESEND_AFTER_SECONDS * 2 ** (row.resends - 1) - row.settled_for if row.resends else 0.0
        return Outgoing(row.id, ours, person, row.body, row.part, row.attempts, row.uncertain_for, max(hold, 0.0))

    def _ends(self, row: Row) -> tuple[str, str]:
        if row.address is not None:
            return open_address(bytes(row.address), row.message_sid, self._sealer)
        return row.sender or ERASED, row.recipient or ERASED  # the previous release wrote it, and no worker has sealed it yet

    def claim(self, case: Case, outgoing: Outgoing) -> None:
        """Record that a try to send begins now. Raises SupersededError when somebody else did that, or settled the part."""
        if not self._write("claim_part", outgoing, fence=case.fence, attempts=outgoing.attempts):
            raise SupersededError

    def unclaim(self, outgoing: Outgoing) -> None:
        """Record that the try that was claimed did not reach the channel."""
        self._write("unclaim_part", outgoing, attempts=outgoing.attempts)

    def sent(self, outgoing: Outgoing, provider_sid: str | None) -> None:
        """Record that the channel took the part; a report that was faster keeps its status."""
        if not self._write("sent_part", outgoing, sid=provider_sid):
            log.warning("send not recorded", reason="the part is recorded under another id, or was erased")

    def refused(self, outgoing: Outgoing, code: str) -> None:
        """Record that the channel will never take the part."""
        self._write("refused_part", outgoing, code=code, attempts=outgoing.attempts)

    def unrecorded(self, outgoing: Outgoing, sids: Sequence[str]) -> Sequence[str]:
        """Give those of the channel's ids that no reply is recorded under, in the same order."""
        if not sids:
            return ()
        return [row.sid for row in self._at_once.rows("unrecorded_sids", sids=list(sids), part=outgoing.id)]

    def _write(self, name: str, outgoing: Outgoing, **told: str | int | None) -> bool:
        """Run a named statement on one part; give whether it changed it."""
        return bool(self._at_once.changed(name, part=outgoing.id, **told))


def _past(said: dict[str, Any]) -> Past:
    passages = tuple(citation["passage_id"] for citation in said["citations"])
    document = said["citations"][0]["document_id"] if passages else None
    return Past(
        said["question"],
        ReplyStatus(said["status"]),
        said["language"],
        document,
        passages,
        tuple(said["options"] or ()),
        said["age"],
        tuple(said["danger"] or ()),
    )


def _found(reply: Reply) -> dict[str, Any]:
    """Give what a turn keeps of the evidence, and what a number in the next message chooses."""
    trace = {**reply.trace, "options": list(reply.options)} if reply.options else dict(reply.trace)
    citations = [asdict(citation) for citation in reply.citations]
    return {"tier": reply.tier, "citations": json.dumps(citations), "trace": json.dumps(trace)}


def _decided(reply: Reply) -> dict[str, Any]:
    """Give what the person decided with the message, None where nothing."""
    rating = reply.act.value if reply.act in RATINGS else None
    return {"memory": MEMORY.get(reply.act) if reply.act else None, "rating": rating, "rateable": list(RATEABLE)}
