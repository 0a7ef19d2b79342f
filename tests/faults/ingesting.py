"""Kills ingestions at random moments, and looks each time whether every norm is whole: the old wording or the new one.

    python -m tests.faults.ingesting --url URL --before DIR --after DIR [--kills 50]

A child process ingests two states of the same norms in turn, for ever; the parent kills it, looks, and starts another one.
"""

import argparse
import hashlib
import json
import math
import os
import random
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from time import sleep
from typing import Final

import psycopg
from tests.integration.editing import ingest

from clara.container import Container
from clara.editorial.source_ingestion import IngestionChoice
from clara.knowledge.law.markdown import read_markdown
from clara.knowledge.law.passages import LAW_CORPUS, passages_of_norm
from clara.retrieval.ports import Role
from clara.settings import Settings, child_environment

# What the index, the search by words and the search by meaning hold of each norm, in one look.
HELD: Final = """
select p.document_id, count(*) as passages,
    md5(string_agg(p.id || ' ' || md5(p.text), ' ' order by p.id collate "C")) as content,
    count(e.passage_pk) as vectors,
    count(*) filter (where exists (select from postings where passage_pk = p.pk)) as indexed
from passages p left join embeddings e on e.passage_pk = p.pk
where p.corpus = %s group by p.document_id
"""
SERVED: Final = "select source_id, count(*) filter (where state = 'served') from snapshots group by source_id"
WROTE: Final = "select max(xmin::text::bigint) from passages where corpus = %s"


class QuickEmbedder:
    """Embeds at once: what is tried is the writing."""

    model = "quick"
    dimensions = 2

    def embed(self, texts: Sequence[str], role: Role) -> list[list[float]]:
        """Embed by length."""
        del role
        return [[math.cos(len(text) / 1_000), math.sin(len(text) / 1_000)] for text in texts]


class QuickServices(Container):
    """Container whose corpora are embedded at once."""

    def filling(self, corpus: str) -> QuickEmbedder:
        """Give the quick embedder."""
        del corpus
        return QuickEmbedder()


@dataclass(slots=True)
class Killed:
    """What the kills came to. `faults` must be empty; `during` counts kills while something had been written since the last."""

    kills: int = 0
    during: int = 0
    mixed: int = 0
    faults: list[str] = field(default_factory=list)
    states: Counter[str] = field(default_factory=Counter)


def ingest_in_turn(url: str, folders: Sequence[Path], rounds: int | None = None) -> None:
    """Ingest the folders in turn, whatever is served: so many rounds, or for ever."""
    services = QuickServices(Settings(), url)
    for number, folder in enumerate(cycle(folders)):
        if number == rounds:
            break
        chosen = IngestionChoice(norms=True, folder=folder, accept=True)
        outcome = ingest(services, chosen, _never)
        if outcome.exit_code:
            raise SystemExit(json.dumps(outcome.report))
        if number == 0 and rounds is None:
            sys.stdout.write("going\n")
            sys.stdout.flush()
    services.close()


def _never(*_: object) -> None:
    raise AssertionError("nothing is read in the net")


def contents_of(folders: Sequence[Path]) -> dict[str, dict[str, int]]:
    """Give, by norm, what its wordings look like in the index, with their numbers of passages."""
    known: dict[str, dict[str, int]] = {}
    for folder in folders:
        for path in sorted(folder.glob("BOE-*.md")):
            norm = read_markdown(path.read_text("utf-8"))
            passages = passages_of_norm(norm, LAW_CORPUS)
            with_digests = " ".join(f"{one.id} {_md5(one.text)}" for one in sorted(passages, key=lambda one: one.id.encode()))
            known.setdefault(norm.id, {})[_md5(with_digests)] = len(passages)
    return known


def _md5(text: str) -> str:
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


def faults_of(url: str, known: dict[str, dict[str, int]]) -> tuple[list[str], list[int]]:
    """Look at what is held: everything that is not whole, and which wording each norm has."""
    faults, wordings = [], []
    with psycopg.connect(url) as connection:
        connection.execute("set transaction isolation level repeatable read")
        held = {row[0]: row[1:] for row in connection.execute(HELD, [LAW_CORPUS])}
        served = dict(connection.execute(SERVED).fetchall())
    for norm, contents in known.items():
        passages, content, vectors, indexed = held.get(norm, (0, "", 0, 0))
        if content not in contents or passages != contents[content]:
            faults.append(f"{norm}: {passages} passages that are neither wording")
        elif not passages == vectors == indexed:
            faults.append(f"{norm}: {passages} passages, {vectors} vectors, {indexed} found by their words")
        else:
            wordings.append(list(contents).index(content))
        if served.get(norm) != 1:
            faults.append(f"{norm}: {served.get(norm)} snapshots are served")
    return faults, wordings


def kill(url: str, folders: Sequence[Path], kills: int, longest: float, seed: int = 0) -> Killed:
    """Kill so many ingestions, each after a random time of at most `longest` seconds, and look after each."""
    chance = random.Random(seed)
    known = contents_of(folders)
    done = Killed()
    last = None
    for _ in range(kills):
        child = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.ingesting", "--child", "--url", url, *_named(folders)],
            stdout=subprocess.PIPE,
            env=child_environment(),
            cwd=Path(__file__).parents[2],
            start_new_session=True,
        )
        assert child.stdout is not None
        assert child.stdout.readline() == b"going\n"
        sleep(chance.uniform(0, longest))
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        child.stdout.close()
        faults, wordings = faults_of(url, known)
        done.kills += 1
        done.faults += faults
        done.mixed += len(set(wordings)) > 1
        done.states.update("old" if wording == 0 else "new" for wording in wordings)
        with psycopg.connect(url) as connection:
            wrote = connection.execute(WROTE, [LAW_CORPUS]).fetchone()
        done.during += wrote != last
        last = wrote
    return done


def _named(folders: Sequence[Path]) -> list[str]:
    before, after = folders
    return ["--before", str(before), "--after", str(after)]


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", required=True)
    parser.add_argument("--before", type=Path, required=True)
    parser.add_argument("--after", type=Path, required=True)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--longest", type=float, default=3.0)
    parser.add_argument("--child", action="store_true")
    chosen = parser.parse_args()
    folders = (chosen.before, chosen.after)
    if chosen.child:
        ingest_in_turn(chosen.url, folders)
        return
    ingest_in_turn(chosen.url, folders, rounds=2)
    done = kill(chosen.url, folders, chosen.kills, chosen.longest)
    print(f"{done.kills} kills, {done.during} of them after something was written, {done.mixed} between two norms")  # noqa: T201
    print(f"wordings seen: {dict(done.states)}; faults: {len(done.faults)}")  # noqa: T201
    print("\n".join(done.faults))  # noqa: T201
    sys.exit(bool(done.faults))


if __name__ == "__main__":
    main()
