"""What may be asked for in an address: a page of a list, and what of it. Whatever else stands there is refused, not ignored."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, is_dataclass
from datetime import date
from typing import Any, Final

from flask import Response, jsonify, request

from clara.errors import Invalid

DEFAULT_LIMIT: Final = 50
MOST: Final = 500
# A number of a row has at most these digits; what is longer is none.
NUMBER: Final = re.compile(r"[0-9]{1,18}")
WORD: Final = re.compile(r"[A-Za-z0-9_.:-]{1,100}")
YES: Final = ("", "1", "true", "yes")
NO: Final = ("0", "false", "no")


class BadRequestError(Invalid):
    """The request cannot be meant. The message names the parameter and what it may be; it goes to whoever asked, with 400."""


@dataclass(frozen=True, slots=True)
class Page:
    """Which part of a list is asked for: at most so many items, those after `before`, which the page before gave as `next`."""

    limit: int
    before: str | None = None

    @property
    def number(self) -> int | None:
        """Give `before` as the number of a row. Raises BadRequestError."""
        if self.before is None:
            return None
        if not NUMBER.fullmatch(self.before):
            raise BadRequestError("before: must be what an earlier answer gave as 'next', a number")
        return int(self.before)


def asked(*names: str) -> Mapping[str, str]:
    """Give the request's parameters, none of which may come twice or have another name. Raises BadRequestError."""
    allowed = ", ".join(names) or "none"
    for name, values in request.args.lists():
        if name not in names:
            raise BadRequestError(f"unknown parameter; this address takes: {allowed}")
        if len(values) > 1:
            raise BadRequestError(f"{name}: is there twice")
    return request.args.to_dict()


def asked_page(*names: str) -> tuple[Mapping[str, str], Page]:
    """Give the parameters of a list, and the part of it that is asked for. Raises BadRequestError."""
    values = asked(*names, "limit", "before")
    return values, page_of(values)


def page_of(values: Mapping[str, str]) -> Page:
    """Read `limit` and `before`. Raises BadRequestError."""
    limit = values.get("limit", str(DEFAULT_LIMIT))
    if not NUMBER.fullmatch(limit) or not 1 <= int(limit) <= MOST:
        raise BadRequestError(f"limit: must be a number from 1 to {MOST}")
    before = values.get("before")
    if before is not None and not WORD.fullmatch(before):
        raise BadRequestError("before: must be what an earlier answer gave as 'next'")
    return Page(int(limit), before)


def one_of(values: Mapping[str, str], name: str, choices: Sequence[str], default: str) -> str:
    """Read a parameter that is one of a few words. Raises BadRequestError."""
    value = values.get(name, default)
    if value not in choices:
        raise BadRequestError(f"{name}: must be one of {', '.join(choices)}")
    return value


def word(values: Mapping[str, str], name: str) -> str | None:
    """Read a parameter that is a name of ours. Raises BadRequestError."""
    value = values.get(name)
    if value is not None and not WORD.fullmatch(value):
        raise BadRequestError(f"{name}: must be an id, of letters, digits, '_', '.', ':' and '-'")
    return value


def yes(values: Mapping[str, str], name: str) -> bool:
    """Read a parameter that is there or not. Raises BadRequestError."""
    value = values.get(name, "no").lower()
    if value not in (*YES, *NO):
        raise BadRequestError(f"{name}: must be true or false")
    return value in YES


def listed(items: Sequence[Any], page: Page, key: str, **more: object) -> Response:
    """Answer with a page of items, one more of which were read than asked for, to know whether there is a next page."""
    shown_items = items[: page.limit]
    following = str(getattr(shown_items[-1], key)) if len(items) > page.limit else None
    return jsonify(items=[shown(item) for item in shown_items], next=following, **more)


def shown(value: object) -> Any:  # noqa: ANN401  JSON is whatever it is
    """Give a value as JSON holds it: fields by name, days and times in ISO 8601."""
    if is_dataclass(value) and not isinstance(value, type):
        return {name: shown(inner) for name, inner in asdict(value).items()}
    if isinstance(value, Mapping):
        return {str(name): shown(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [shown(inner) for inner in value]
    return value.isoformat() if isinstance(value, date) else value
