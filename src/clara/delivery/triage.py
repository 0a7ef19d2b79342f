"""Telling at intake by which lane a message goes: who is in danger waits for nobody, and nobody waits for a long text.

What is told here decides nothing but the lane: the turn itself reads the whole message again.
"""

from collections.abc import Callable
from dataclasses import replace
from queue import Full, Queue
from threading import Thread
from typing import Final

import structlog

from clara.delivery.message import Incoming, Lane
from clara.delivery.ports import Inbox, StoreUnavailableError

# Questions of the evaluation have up to 310 characters. Telling danger takes .3 ms for 100 characters and 16 ms for 4,096, and
# so many cost .3 s to embed in Spanish, three times that in Chinese. What is longer is acknowledged first and read then: eight
# of 4,096 characters at once, read before, would hold up every acknowledgement behind them.
LONG_CHARACTERS: Final = 400
# As many long messages wait to be read, with 16 ms each; one more is read in its turn only.
MOST_WAITING: Final = 64
log = structlog.get_logger()

# Whether somebody who writes so is in danger.
InDanger = Callable[[str], bool]
# Moves a stored message, by its signed id, to the lane of emergencies. Raises StoreUnavailableError.
Hasten = Callable[[str], object]


class LongReader:
    """Reads long messages after they were acknowledged, one after the other, and hastens those of who is in danger.

    What it has not read when the process ends is read in its turn: the message is stored, and comes later.
    """

    def __init__(self, in_danger: InDanger, hasten: Hasten) -> None:
        self._in_danger = in_danger
        self._hasten = hasten
        self._waiting: Queue[tuple[str, str] | None] = Queue(MOST_WAITING)
        self._thread = Thread(target=self._run, name="long-reader", daemon=True)
        self._thread.start()

    def read(self, sid: str, text: str) -> None:
        """Have a stored message read soon; when too many wait, it is not."""
        try:
            self._waiting.put_nowait((sid, text))
        except Full:
            log.warning("long message not read at intake", reason="too many wait")

    def close(self) -> None:
        """End once everything that waits is read."""
        self._waiting.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (given := self._waiting.get()) is not None:
            sid, text = given
            if not self._in_danger(text):
                continue
            try:
                self._hasten(sid)
            except StoreUnavailableError as error:
                log.warning("emergency not hastened", reason=str(error))


class TriagingInbox:
    """Implements Inbox over another one: it tells each message's lane before that one's patience begins.

    `read_later` gets the id and the text of the long ones, once they are kept.
    """

    def __init__(self, inbox: Inbox, in_danger: InDanger, read_later: Callable[[str, str], None]) -> None:
        self._inbox = inbox
        self._in_danger = in_danger
        self._read_later = read_later

    def accept(self, incoming: Incoming) -> bool:
        """Take the message in. Raises StoreUnavailableError."""
        text = incoming.text or ""
        if len(text) > LONG_CHARACTERS:
            kept = self._inbox.accept(replace(incoming, lane=Lane.LONG))
            if kept:
                self._read_later(incoming.sid, text)
            return kept
        lane = Lane.EMERGENCY if self._in_danger(text) else Lane.ORDINARY
        return self._inbox.accept(replace(incoming, lane=lane))
