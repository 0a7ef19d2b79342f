"""Who is let in, and how guessing is slowed down."""

import hashlib

import pytest
from flask import Flask, Response

from clara.web.auth import MOST_ADDRESSES, ONE_MORE_EVERY_SECONDS, WRONG_AT_ONCE, Doorman, Role

OPERATOR, READER = "operators", "readers"
APP = Flask(__name__)


def digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


class Clock:
    """A clock that stands still until it is set."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


def asks(doorman: Doorman, token: str | None, address: str = "192.0.2.1") -> Role | int:
    """Give the role, or the status of the answer that turns away."""
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    with APP.test_request_context(headers=headers, environ_base={"REMOTE_ADDR": address}):
        who = doorman.who()
    return who.status_code if isinstance(who, Response) else who


@pytest.mark.parametrize(
    ("operator", "reader", "token", "who"),
    [
        pytest.param(OPERATOR, READER, OPERATOR, Role.OPERATOR, id="operator"),
        pytest.param(OPERATOR, READER, READER, Role.READER, id="reader"),
        pytest.param(OPERATOR, None, READER, 401, id="no-reader-is-configured"),
        pytest.param(None, READER, OPERATOR, 401, id="no-operator-is-configured"),
        pytest.param(None, READER, READER, Role.READER, id="a-reader-alone"),
        pytest.param(OPERATOR, OPERATOR, OPERATOR, Role.OPERATOR, id="the-same-token-twice"),
        pytest.param(None, None, "", 401, id="nothing-is-configured"),
    ],
)
def test_roles(operator: str | None, reader: str | None, token: str, who: Role | int) -> None:
    """Each token has its role, and what is not configured lets nobody in."""
    doorman = Doorman(operator and digest(operator), reader and digest(reader))
    assert asks(doorman, token) == who


def test_wrong_tokens_are_forgiven_with_time() -> None:
    """So many at once, then one for each time span; the right one is not looked at either while none is."""
    clock = Clock()
    doorman = Doorman(digest(OPERATOR), None, clock)
    assert [asks(doorman, "wrong") for _ in range(WRONG_AT_ONCE + 1)] == [401] * WRONG_AT_ONCE + [429]
    assert asks(doorman, OPERATOR) == 429
    clock.now += ONE_MORE_EVERY_SECONDS
    assert asks(doorman, OPERATOR) == Role.OPERATOR
    assert [asks(doorman, "wrong") for _ in range(2)] == [401, 429]
    clock.now += WRONG_AT_ONCE * ONE_MORE_EVERY_SECONDS
    assert [asks(doorman, "wrong") for _ in range(WRONG_AT_ONCE + 1)] == [401] * WRONG_AT_ONCE + [429]


def test_addresses_do_not_hinder_each_other_and_are_bounded() -> None:
    """One that guesses shuts out nobody else, and however many guess, no more than so many are remembered."""
    doorman = Doorman(digest(OPERATOR), None, Clock())
    for number in range(3 * MOST_ADDRESSES):
        asks(doorman, "wrong", f"address {number}")
    assert len(doorman._until) == MOST_ADDRESSES
    assert asks(doorman, OPERATOR) == Role.OPERATOR


def test_no_token_is_no_guess() -> None:
    """Whoever asks without one is told how to ask, for ever."""
    doorman = Doorman(digest(OPERATOR), None, Clock())
    assert {asks(doorman, None) for _ in range(5 * WRONG_AT_ONCE)} == {401}
