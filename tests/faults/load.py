"""Send at the rated speed and measure: python -m tests.faults.load [--help]."""

import argparse
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Event, Thread
from time import monotonic
from typing import Final

import click
from tests.faults import evidence
from tests.faults.database import Database
from tests.faults.performing import Performance
from tests.faults.plan import Shape, plan_messages
from tests.faults.processes import Fleet, children, cpu_seconds, resident_bytes, stolen_seconds
from tests.faults.report import Finding, finding, table, write
from tests.faults.run import OUT, progress
from tests.faults.scenarios import Scenario
from tests.faults.stage import Cast
from tests.faults.timings import Spread, spread

# The goals: see docs/operations.md.
ACKNOWLEDGED_P99_SECONDS: Final = 0.2
REPLIED_BEYOND_WRITER_SECONDS: Final = 0.5
GROWTH_PERCENT: Final = 5.0
# Memory counts from here: caches and pools have their size, the allocator has its arenas. In a soak that takes minutes.
SETTLED_SHARE: Final = 0.25
SAMPLE_EVERY_SECONDS: Final = 2.0
MEBIBYTE: Final = 2**20


@dataclass(frozen=True, slots=True)
class Use:
    """What a process used: memory when things had settled and at the end, in bytes, and its share of one processor."""

    start: int
    end: int
    cpu: float

    @property
    def growth(self) -> float:
        """Give how much the memory grew, in per cent."""
        return 100.0 * (self.end - self.start) / self.start if self.start else 0.0


@dataclass(slots=True)
class Watch:
    """Looks at the processes of a fleet while they work."""

    fleet: Fleet
    database: Database
    samples: dict[str, list[tuple[float, int, float]]] = field(default_factory=dict)
    _closing: Event = field(default_factory=Event)
    _thread: Thread | None = None

    def start(self) -> None:
        """Begin to look."""
        self._thread = Thread(target=self._run, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop looking."""
        self._closing.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        while not self._closing.wait(SAMPLE_EVERY_SECONDS):
            for name, pid in self.fleet.everything():
                self._seen(name, resident_bytes(pid), cpu_seconds(pid))
            server = self.database.postmaster()
            # Its processes share most of their memory, so the sum would mean nothing.
            self._seen("PostgreSQL", 0, sum(cpu_seconds(pid) for pid in (server, *children(server))))
            self._seen("this driver", resident_bytes(os.getpid()), cpu_seconds(os.getpid()))
            # What they take explains a minute that did not hold, and a figure without it is worth little.
            self._seen("other machines", 0, stolen_seconds())

    def _seen(self, name: str, memory: int, seconds: float) -> None:
        self.samples.setdefault(name, []).append((monotonic(), memory, seconds))

    def uses(self) -> dict[str, Use]:
        """Sum up what was seen: memory as the median of a few looks, because it breathes."""
        found = {}
        for name, seen in self.samples.items():
            first = int(len(seen) * SETTLED_SHARE)
            early, late = seen[first : first + 5], seen[-5:]
            seconds = seen[-1][0] - seen[0][0]
            cpu = (seen[-1][2] - seen[0][2]) / seconds if seconds else 0.0
            found[name] = Use(_median([one[1] for one in early]), _median([one[1] for one in late]), cpu)
        return found


def _median(values: list[int]) -> int:
    return sorted(values)[len(values) // 2] if values else 0


@dataclass(frozen=True, slots=True)
class Load:
    """What the command line chose."""

    seconds: float
    questions: float
    writer_ms: float
    workers: int
    turns: int
    seed: int
    soak: float | None = None


def measure(load: Load, folder: Path) -> tuple[Finding, dict[str, Use]]:
    """Send, wait for the last reply, and judge."""
    seconds = load.soak * 60 if load.soak else load.seconds
    count = int(seconds * load.questions)
    shape = Shape(count, load.questions, senders=max(1, count // 2), duplicates=0.0, late=0.0, long=0.0)
    cast = Cast(load.seed, load.workers, load.turns, writer_ms=load.writer_ms, faults=False)
    performance = Performance(Scenario("load", cast, plan_messages(load.seed, shape)), folder, progress())
    watch = Watch(performance.stage.fleet, performance.stage.database)
    performance.watch = watch
    performance.run()
    found = finding(performance)
    callbacks = evidence.callback_waits(folder)
    timings = {**found.timings, "callbacks acknowledged": spread(callbacks)}
    figures = {**found.figures, "callbacks a second": len(callbacks) / seconds, "questions a second": load.questions}
    uses = watch.uses()
    broken = (*found.broken, *_missed(load, timings, uses, found.figures))
    return replace(found, timings=timings, figures=figures, broken=broken), uses


def _missed(load: Load, timings: Mapping[str, Spread], uses: Mapping[str, Use], figures: Mapping[str, float]) -> list[str]:
    """Say which goals were missed."""
    goals = {
        "acknowledged": ACKNOWLEDGED_P99_SECONDS,
        "callbacks acknowledged": ACKNOWLEDGED_P99_SECONDS,
        "replied after the acknowledgement": load.writer_ms / 1000 + REPLIED_BEYOND_WRITER_SECONDS,
    }
    missed = [
        f"{name}: p99 {timings[name].p99:.3f} s, the goal is {most:.3f} s"
        for name, most in goals.items()
        if timings[name].p99 > most
    ]
    if lost := figures["callbacks not acknowledged"]:
        missed.append(f"{lost:.0f} callbacks were not acknowledged")
    if load.soak:
        grown = {name: use.growth for name, use in uses.items() if _ours(name) and use.growth > GROWTH_PERCENT}
        missed += [f"{name} grew by {growth:.1f} %" for name, growth in grown.items()]
    return missed


def _ours(name: str) -> bool:
    """Whether it is a process of Clara; the stand-in and the driver remember every message on purpose."""
    return name.startswith(("web", "worker"))


def chosen(arguments: list[str]) -> Load:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--questions", type=float, default=80.0, help="questions a second; each reply has three callbacks")
    parser.add_argument("--writer-ms", type=float, default=300.0, help="how long the stand-in for the writer takes")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--turns", type=int, default=32, help="turns that one worker takes at once")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--soak", type=float, metavar="MINUTES", help="go on for so long, and judge the growth of memory")
    return Load(**vars(parser.parse_args(arguments)))


def main() -> None:
    """Measure what the command line says; exit 1 when a goal is missed."""
    load = chosen(sys.argv[1:])
    found, uses = measure(load, OUT / f"load {load.seed}")
    write(found, OUT / f"load-{load.seed}.json")
    click.echo(f"\r\033[K{table(found)}")
    for name, use in uses.items():
        click.echo(
            f"  {name:<24}{use.start / MEBIBYTE:>8.1f} MiB{use.end / MEBIBYTE:>9.1f} MiB{use.growth:>+8.1f} %"
            f"{100 * use.cpu:>8.1f} % of a processor"
        )
    sys.exit(1 if found.broken else 0)


if __name__ == "__main__":
    main()
