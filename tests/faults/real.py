"""Find the rate at which Clara herself answers: python -m tests.faults.real [--help].

Everything is real: signed forms, web process, workers with journey, embedder and PostgreSQL; only Twilio is a stand-in.
"""

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from time import monotonic
from typing import Final

import click
from tests.faults import evidence
from tests.faults.ledger import Ledger
from tests.faults.performing import Performance, Say, expected_anything
from tests.faults.plan import Message, Shape, plan_messages
from tests.faults.processes import children, cpu_seconds, ended_seconds, stolen_seconds
from tests.faults.questions import distinct_questions
from tests.faults.record import Question, Record
from tests.faults.report import Finding, finding
from tests.faults.run import OUT, progress
from tests.faults.scenarios import Scenario
from tests.faults.stage import Cast, NotStartedError
from tests.faults.timings import Spread, spread

from clara.answering.message import ReplyStatus

# A rate holds when 95 of 100 replies come within this after the acknowledgement: a queue that grows passes it within a minute.
HELD_P95_SECONDS: Final = 2.0
# So many questions at once tell what the machine can do; nine tenths of it is tried first, then a fifth less each time.
BURST: Final = 80
AT_ONCE: Final = 1_000.0
FIRST_SHARE: Final = 0.9
NEXT_SHARE: Final = 0.8
TRIALS: Final = 5
# What answers while the search in the database is out; such a reply was cheaper than the rate says.
INSTEAD: Final = "json_fallback"
COULD_NOT_RUN: Final = 2
ROLES: Final = ("web", "worker", "PostgreSQL")


@dataclass(frozen=True, slots=True)
class Real:
    """What the command line chose; without `questions` a second the rate that holds is looked for.

    `warm_up` questions come first and do not count: models are read, statements prepared, pages of the index in memory.
    """

    seconds: float = 60.0
    questions: float | None = None
    workers: int = 2
    turns: int = 4
    seed: int = 1
    warm_up: int = 20


@dataclass(frozen=True, slots=True)
class Trial:
    """A stretch at one rate. `cpu_ms` is the processor time of a question by role, `stolen` a share of one processor."""

    rate: float
    asked: int
    answered: int
    acknowledged: Spread
    replied: Spread
    per_second: float
    cpu_ms: Mapping[str, float]
    embedding_ms: float
    stolen: float
    kinds: Mapping[str, int]
    astray: int

    @property
    def missed(self) -> Iterator[str]:
        """Say why the rate did not hold."""
        if self.answered < self.asked:
            yield f"{self.asked - self.answered} of {self.asked} were not answered"
        if self.replied.p95 > HELD_P95_SECONDS:
            yield f"replied p95 {self.replied.p95:.2f} s, the goal is {HELD_P95_SECONDS:.1f} s"
        if self.astray:
            yield f"{self.astray} were answered without the search in the database"


class RealRun(Performance):
    """Asks in stretches on one stage, each with questions that were not asked before."""

    def __init__(self, real: Real, folder: Path, say: Say) -> None:
        cast = Cast(real.seed, real.workers, real.turns, answers="clara", faults=False, metered=True)
        super().__init__(Scenario("real load", cast, ()), folder, say)
        self.real = real
        self.trials: list[Trial] = []
        self._questions = distinct_questions(real.seed)

    def run(self) -> Record:
        """Perform it. Raises NotStartedError; ValueError when the questions do not suffice."""
        with self.stage:
            self._stretch("w", self.real.warm_up, AT_ONCE)
            if self.real.questions is not None:
                self._try("t", self.real.questions)
            else:
                self._look_for_the_rate()
            self._collect()
        return self.record

    def _look_for_the_rate(self) -> None:
        rate = FIRST_SHARE * self._stretch("b", BURST, AT_ONCE).per_second
        for number in range(TRIALS):
            if not list(self._try(f"t{number}x", rate).missed):
                return
            rate *= NEXT_SHARE

    def _try(self, prefix: str, rate: float) -> Trial:
        trial = self._stretch(prefix, max(1, round(self.real.seconds * rate)), rate)
        self.trials.append(trial)
        return trial

    def _stretch(self, prefix: str, count: int, rate: float) -> Trial:
        """Ask so many at a rate, wait for the last reply, and measure."""
        asked = len(self.scenario.messages)
        bodies = self._questions[asked : asked + count]
        if len(bodies) < count:
            there = len(self._questions)
            raise ValueError(f"{asked + count} questions wanted, {there} there; take fewer seconds or a lower rate")
        shape = Shape(count, rate, senders=count, duplicates=0.0, late=0.0, long=0.0, prefix=prefix)
        messages = plan_messages(self.real.seed, shape, bodies)
        self.scenario = replace(self.scenario, messages=(*self.scenario.messages, *messages))
        before, stolen, self.began = self._spent(), stolen_seconds(), monotonic() + 0.5
        asyncio.run(self.driver.run(messages, self.began, self._posted))
        self._drain()
        spent = {role: seconds - before[role] for role, seconds in self._spent().items()}
        return self._measured(prefix, rate, messages, spent, stolen_seconds() - stolen)

    def _spent(self) -> dict[str, float]:
        """Give the processor seconds that each role has used."""
        postmaster = self.stage.database.postmaster()
        spent = dict.fromkeys(ROLES, 0.0)
        spent["PostgreSQL"] = sum(map(cpu_seconds, (postmaster, *children(postmaster)))) + ended_seconds(postmaster)
        for name, pid in self.stage.fleet.everything():
            for role in ROLES:
                spent[role] += cpu_seconds(pid) if name.startswith(role) else 0.0
        return spent

    def _measured(
        self, prefix: str, rate: float, messages: tuple[Message, ...], spent: Mapping[str, float], stolen: float
    ) -> Trial:
        folder, url, ours = self.stage.folder, self.stage.database.url, {message.sid for message in messages}
        inbox, outbox, _windows = evidence.rows(url)
        record = Record(
            questions={one.sid: Question(one.sid, one.sender, one.body) for one in messages},
            attempts=[attempt for attempt in self.driver.attempts if attempt.sid in ours],
            takes=evidence.takes(folder),
            inbox=inbox,
            outbox=outbox,
        )
        ledger = Ledger(record, expected_anything)
        acknowledged, completed = ledger.acknowledged(), ledger.completed_at()
        last = max(completed.values(), default=monotonic())
        embedding = sum(seconds for at, seconds in evidence.embeddings(folder) if at >= self.began)
        kinds = evidence.kinds_of_reply(url, f"SM{prefix}")
        return Trial(
            rate,
            len(messages),
            len(completed),
            spread(attempt.ended - attempt.due for attempt in record.attempts),
            spread(completed[sid] - at for sid, at in acknowledged.items() if sid in completed),
            len(completed) / (last - self.began),
            {role: 1000 * seconds / len(messages) for role, seconds in spent.items()},
            1000 * embedding / len(messages),
            stolen / (last - self.began),
            {f"{status} ({tier})" if tier else status: count for (status, tier), count in kinds.items()},
            sum(count for (status, tier), count in kinds.items() if tier == INSTEAD or status == ReplyStatus.OUTAGE),
        )


def told(real: Real, trials: list[Trial], found: Finding) -> str:
    """Write what was found out for people."""
    machine = f"{os.cpu_count()} processors, load average {os.getloadavg()[0]:.1f} at the end"
    workers = f"{real.workers} workers of {real.turns} turns"
    lines = [f"Real answering, seed {real.seed}: {workers}, {machine}; ten languages, no question twice, no cache"]
    for trial in trials:
        missed, cpu = list(trial.missed), sum(trial.cpu_ms.values())
        lines += [
            "",
            f"{trial.rate:.1f} questions a second, {trial.asked} in all: {'NOT HELD' if missed else 'held'}",
            f"  {'acknowledged':<24}{trial.acknowledged}",
            f"  {'replied after that':<24}{trial.replied}",
            f"  {'answered a second':<24}{trial.per_second:.1f}",
            f"  {'processor ms a question':<24}{cpu:.1f}: {', '.join(f'{k} {v:.1f}' for k, v in trial.cpu_ms.items())}",
            f"  {'of them embedding':<24}{trial.embedding_ms:.1f} ({trial.embedding_ms / cpu if cpu else 0:.0%})",
            f"  {'other machines took':<24}{trial.stolen:.1%} of a processor",
            f"  {'replies':<24}{', '.join(f'{count} {kind}' for kind, count in trial.kinds.items())}",
            *(f"  {sentence}" for sentence in missed),
        ]
    held = [trial.rate for trial in trials if not list(trial.missed)]
    lines += ["", f"The rate that holds: {max(held):.1f} questions a second." if held else "No rate that was tried holds."]
    lines += [f"NOT HELD: {sentence}" for sentence in found.broken]
    return "\n".join(lines)


def chosen(arguments: list[str]) -> Real:
    """Read the command line."""
    usual = Real()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=usual.seconds, help="how long each rate is tried")
    parser.add_argument("--questions", type=float, help="questions a second; without it the rate that holds is looked for")
    parser.add_argument("--workers", type=int, default=usual.workers)
    parser.add_argument("--turns", type=int, default=usual.turns, help="turns that one worker takes at once")
    parser.add_argument("--seed", type=int, default=usual.seed)
    return Real(**vars(parser.parse_args(arguments)))


def main() -> None:
    """Measure what the command line says; exit 1 when no rate held, or when anything was lost or doubled."""
    real = chosen(sys.argv[1:])
    run = RealRun(real, OUT / f"real {real.seed}", progress())
    try:
        run.run()
    except (NotStartedError, ValueError) as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(COULD_NOT_RUN)
    found = finding(run)
    document = {"held": not found.broken, "broken": found.broken, "trials": [asdict(trial) for trial in run.trials]}
    (OUT / f"real-{real.seed}.json").write_text(json.dumps(document, indent=1) + "\n", "utf-8")
    click.echo(f"\r\033[K{told(real, run.trials, found)}")
    sys.exit(1 if found.broken or all(list(trial.missed) for trial in run.trials) else 0)


if __name__ == "__main__":
    main()
