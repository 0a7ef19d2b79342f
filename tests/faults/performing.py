"""Performs a scenario: posts, kills, waits until everything is done, and collects what was seen."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from threading import Event, Timer
from time import monotonic
from typing import Final, Protocol

from tests.faults import canaries, evidence
from tests.faults.answering import notice_text, reply_text
from tests.faults.driver import Driver
from tests.faults.killer import Killer
from tests.faults.record import Question, Record
from tests.faults.scenarios import Scenario
from tests.faults.stage import TOKEN, Stage

from clara.delivery.message import split

DRAIN_SECONDS: Final = 240.0
LOOK_EVERY_SECONDS: Final = 0.25
# Nothing was pending so many times in a row, and the channel has said nothing for so long: then it is over.
CALM_LOOKS: Final = 4
CALM_SECONDS: Final = 2.0
Say = Callable[[str], None]


class Watch(Protocol):
    """Looks at something while messages come."""

    def start(self) -> None:
        """Begin to look."""
        ...

    def stop(self) -> None:
        """Stop looking."""
        ...


def expected_parts(question: Question, limit: str | None) -> tuple[str, ...]:
    """Say which parts the stand-in's reply has."""
    return split(reply_text(question.body) if limit is None else notice_text(limit, question.body), 1_600)


def expected_anything(_question: Question, _limit: str | None) -> None:
    """Take whatever Clara answered."""
    return


class Performance:
    """One run of a scenario on a stage."""

    def __init__(self, scenario: Scenario, folder: Path, say: Say) -> None:
        self.scenario = scenario
        self.stage = Stage(folder, scenario.cast)
        self.killer = Killer(scenario.kills, self.stage.fleet, self.stage.database, self.stage.health)
        self.driver = Driver(self.stage.urls, TOKEN)
        self.record = Record()
        self.began = 0.0
        self.watch: Watch | None = None
        self._say = say

    def run(self) -> Record:
        """Perform it. Raises NotStartedError."""
        self._say("starting database, channel, listeners and workers ...")
        with self.stage:
            try:
                self._post_and_kill()
            finally:
                self.killer.stop()
            self._drain()
            self._collect()
        return self.record

    def _post_and_kill(self) -> None:
        self.began = self.killer.began = monotonic() + 0.5
        self.killer.start()
        if self.watch is not None:
            self.watch.start()
        if self.scenario.database_down is not None:
            when, seconds = self.scenario.database_down
            Timer(when, self.stage.database.kill, [seconds]).start()
        asyncio.run(self.driver.run(self.scenario.messages, self.began, self._posted))
        if self.watch is not None:
            self.watch.stop()
        self.killer.join()

    def _posted(self, done: int) -> None:
        if done % 20 == 0 or done == len(self.scenario.messages):
            killed = f", {len(self.killer.done)}/{len(self.scenario.kills)} kills" if self.scenario.kills else ""
            self._say(f"{done}/{len(self.scenario.messages)} posted{killed}, {monotonic() - self.began:.0f} s")

    def _drain(self) -> None:
        """Wait until nothing is left to do."""
        deadline, calm, pause = monotonic() + DRAIN_SECONDS, 0, Event()
        while calm < CALM_LOOKS:
            left = evidence.pending(self.stage.database.url, self.stage.spools)
            calm = 0 if left else calm + 1
            self._say(f"waiting: {left or 'nothing left'}")
            if monotonic() > deadline:
                self.record.drained, self.record.left = False, left
                return
            pause.wait(LOOK_EVERY_SECONDS)
        said = self.stage.folder / "told.jsonl"
        size, since = -1, monotonic()
        while monotonic() - since < CALM_SECONDS and monotonic() < deadline:
            now = said.stat().st_size if said.exists() else 0
            if now != size:
                size, since = now, monotonic()
            pause.wait(LOOK_EVERY_SECONDS)

    def _collect(self) -> None:
        record, folder, messages = self.record, self.stage.folder, self.scenario.messages
        record.questions = {message.sid: Question(message.sid, message.sender, message.body) for message in messages}
        record.attempts = self.driver.attempts
        record.takes = evidence.takes(folder)
        record.told = evidence.told(folder)
        record.begun = evidence.begun(folder)
        record.inbox, record.outbox, record.windows = evidence.rows(self.stage.database.url)
        evidence.keep(self.stage.database.url, folder)
        evidence.keep_posts(self.driver.attempts, folder)
        record.kills = self.killer.done
        record.down = list(self.stage.database.down)
        self._say("looking for addresses and words in logs, spools and database ...")
        senders = sorted({message.sender for message in messages})
        record.canaries = [
            *canaries.in_files([*self.stage.logs(), *self.stage.spool_files()]),
            *canaries.in_database(self.stage.database.url, senders),
        ]
