"""What operators do: decide findings, and note what they have looked at. Every act is recorded, with what came of it."""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

import structlog
from flask import Blueprint, Response, g, jsonify, request

from clara.delivery.ports import StoreUnavailableError
from clara.web.admin_desk import AdminDesk, BadDecisionsError, DecidedFindingError, Reviewing, UnknownFindingError
from clara.web.asking import BadRequestError, asked, shown
from clara.web.bearer import Role

LONGEST_REASON: Final = 1_000
LARGEST: Final = 2**63 - 1  # number that a row can have
# Of an item of the gazette: BOE-A-2026-1. Whatever else is asked for is unknown, and in no log.
ITEM: Final = re.compile(r"BOE-[A-Z]-[0-9]{4}-[0-9]{1,6}")
NOBODY_DECIDES = "Findings cannot be decided here. Use `clara review accept` or `clara review reject`."
UNKNOWN_ITEM = "There is no such item. GET /admin/boe lists them."
log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Decision:
    """What the body of a decision says: why, and what is decided about facts, as JSON."""

    reason: str
    facts: Sequence[object] = ()


def acting_routes(routes: Blueprint, desk: AdminDesk) -> None:
    """Add the addresses that change something; the caller lets only operators through."""

    @routes.post("/review/<int:number>/accept")
    def accept(number: int) -> tuple[Response, int]:
        return _decide(desk, number, "accept")

    @routes.post("/review/<int:number>/reject")
    def reject(number: int) -> tuple[Response, int]:
        return _decide(desk, number, "reject")

    @routes.post("/boe/<item>/seen")
    def seen(item: str) -> tuple[Response, int]:
        asked()
        if not ITEM.fullmatch(item):
            return jsonify(error=UNKNOWN_ITEM), 404
        record(desk, "asked")
        when = desk.gazette_seen(item)
        record(desk, "failed" if when is None else "done")
        if when is None:
            return jsonify(error=UNKNOWN_ITEM), 404
        return jsonify(id=item, seen_at=when.isoformat()), 200


def _decide(desk: AdminDesk, number: int, act: str) -> tuple[Response, int]:
    """Accept or reject a finding. What cannot be recorded is not done; what came of it is recorded after it."""
    asked()
    decision = decision_of(request.get_json(silent=True), act)
    if desk.reviewing is None:
        return jsonify(error=NOBODY_DECIDES), 501
    if number > LARGEST:
        return jsonify(error=UnknownFindingError.__doc__), 404
    record(desk, "asked")
    outcome = "failed"
    try:
        done = _decided(desk.reviewing, number, act, decision)
        outcome = "done"
    except UnknownFindingError:
        return jsonify(error=UnknownFindingError.__doc__), 404
    except DecidedFindingError:
        return jsonify(error=DecidedFindingError.__doc__), 409
    except BadDecisionsError as error:
        return jsonify(error=str(error)), 400
    finally:
        with suppress(StoreUnavailableError):  # that it was asked for stands there
            record(desk, outcome)
    return jsonify(id=number, act=act, done=shown(done)), 200


def _decided(reviewing: Reviewing, number: int, act: str, decision: Decision) -> Mapping[str, Any]:
    if act == "accept":
        return reviewing.accept(number, decision.reason, str(g.role), decision.facts)
    return reviewing.reject(number, decision.reason, str(g.role))


def decision_of(body: object, act: str) -> Decision:
    """Read a body. Every decision needs a reason; only an acceptance can decide about facts. Raises BadRequestError."""
    like = f'the body must be JSON like {{"reason": "why"}}, with 1 to {LONGEST_REASON} characters'
    names = {"reason", "decisions"} if act == "accept" else {"reason"}
    if not isinstance(body, dict) or not body.keys() <= names:
        raise BadRequestError(f"{like}; it may hold: {', '.join(sorted(names))}")
    reason, facts = body.get("reason"), body.get("decisions", [])
    if not isinstance(reason, str) or not reason.strip() or len(reason) > LONGEST_REASON:
        raise BadRequestError(like)
    if any(not (character.isprintable() or character in "\n\t") for character in reason):
        raise BadRequestError("reason: holds characters that cannot be shown; write it as plain text")
    if not isinstance(facts, list):
        raise BadRequestError("decisions: must be a list; /admin/openapi.json describes it")
    return Decision(reason.strip(), facts)


def record(desk: AdminDesk, outcome: str, role: Role | None = None) -> None:
    """Add what is asked for to the audit log, by its route and the numbers in its address: no word of the request."""
    named: Mapping[str, object] = request.view_args or {}
    act = (request.endpoint or "").rpartition(".")[2]
    subject = " ".join(str(value) for value in named.values() if isinstance(value, int) or ITEM.fullmatch(str(value)))
    desk.record(str(role or g.role), f"{request.method} {act}", subject, outcome)
