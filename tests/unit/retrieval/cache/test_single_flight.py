"""Many that ask at once cost one computation, and none of them waits for ever."""

from threading import Event, Thread

import pytest

from clara.retrieval.cache.results import SingleFlight


class Slow:
    """A computation that stands still until it is released, and counts how often it began."""

    def __init__(self, error=None):
        self.begun, self.release, self.calls, self.error = Event(), Event(), 0, error

    def __call__(self):
        self.calls += 1
        self.begun.set()
        assert self.release.wait(20)
        if self.error:
            raise self.error
        return self.calls


def waiting(flights, key, compute):
    """Start a thread that joins a flight; give it with what it got."""
    got = []

    def join():
        try:
            got.append(flights.run(key, compute))
        except (ArithmeticError, SystemExit) as error:
            got.append(error)

    thread = Thread(target=join)
    thread.start()
    return thread, got


def until_waiting(flights, how_many):
    """Return as soon as so many threads stand in the queue of the flight under way."""
    (flight,) = flights._flights.values()
    while len(flight._condition._waiters) < how_many:
        pass


def test_those_who_ask_meanwhile_share_one_computation():
    """Eight threads with the same key compute once and get the same result; the next one computes again."""
    flights, slow = SingleFlight(), Slow()
    leader, led = waiting(flights, "k", slow)
    assert slow.begun.wait(20)
    followers = [waiting(flights, "k", lambda: "own") for _ in range(7)]
    until_waiting(flights, 7)
    slow.release.set()
    for thread, _ in [(leader, led), *followers]:
        thread.join(20)
    assert [got for _, got in followers] == [[1]] * 7
    assert (led, slow.calls) == ([1], 1)
    assert flights.run("k", lambda: "later") == "later"


def test_an_error_reaches_everybody_and_is_forgotten():
    """Leader and waiter get the same error; the next one computes again."""
    error = ArithmeticError("no")
    flights, slow = SingleFlight(), Slow(error)
    leader, led = waiting(flights, "k", slow)
    assert slow.begun.wait(20)
    follower, followed = waiting(flights, "k", lambda: "own")
    until_waiting(flights, 1)
    slow.release.set()
    leader.join(20)
    follower.join(20)
    assert [led, followed] == [[error], [error]]
    assert flights.run("k", lambda: 7) == 7


def test_other_keys_do_not_wait():
    """A computation that stands still holds up its own key only."""
    flights, slow = SingleFlight(), Slow()
    leader, _ = waiting(flights, "k", slow)
    assert slow.begun.wait(20)
    assert flights.run("other", lambda: 1) == 1
    slow.release.set()
    leader.join(20)


def test_whoever_lost_patience_computes_for_itself():
    """A computation that hangs does not hang the others."""
    flights, slow = SingleFlight(patience=0.01), Slow()
    leader, _ = waiting(flights, "k", slow)
    assert slow.begun.wait(20)
    assert flights.run("k", lambda: "own") == "own"
    slow.release.set()
    leader.join(20)


def test_a_thread_that_ends_leaves_nobody_waiting():
    """When the computing thread is ended, those who wait compute for themselves."""
    flights, slow = SingleFlight(patience=20), Slow(SystemExit())
    leader, led = waiting(flights, "k", slow)
    assert slow.begun.wait(20)
    follower, followed = waiting(flights, "k", lambda: "own")
    until_waiting(flights, 1)
    slow.release.set()
    leader.join(20)
    follower.join(20)
    assert [type(got) for got in led] == [SystemExit]
    assert followed == ["own"]
    assert flights._flights == {}


def test_a_computation_may_ask_for_its_own_key():
    """It computes inside instead of waiting for itself, and the outer result is what stands."""
    flights = SingleFlight(patience=20)
    assert flights.run("k", lambda: ("outer", flights.run("k", lambda: "inner"))) == ("outer", "inner")
    assert flights._flights == {}


@pytest.mark.parametrize("result", [None, 0, ()], ids=repr)
def test_a_result_that_is_false_is_a_result(result):
    """Nothing is computed again because a result looks empty."""
    assert SingleFlight().run("k", lambda: result) == result
