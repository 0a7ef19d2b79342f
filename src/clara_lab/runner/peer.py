"""One peer in a process of its own: load, ask, and write down what came of it. `python -m clara_lab.runner.peer FOLDER`."""

import importlib
import json
import resource
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution, version
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any, Final

import numpy as np
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from clara_lab.bench.dataset import BenchDocument
from clara_lab.bench.peers import Floats, Peer, PeerSetting

JOB, WORK, VECTORS, RESULT = "job.json", "work.json", "vectors.npz", "result.json"
# Questions asked before anything is timed: connections are made and statements prepared.
WARMING: Final = 5
# Every question is asked so often, in rounds; its time is the median.
ROUNDS: Final = 3


@dataclass(frozen=True, slots=True)
class Work:
    """What one peer is given; the vectors are float32, a row for each document and each question."""

    documents: Sequence[BenchDocument]
    questions: Sequence[tuple[str, str]]
    document_vectors: Floats
    question_vectors: Floats


def write_work(folder: Path, work: Work) -> None:
    """Write documents, questions and vectors for the process. Raises OSError."""
    documents = [(one.id, one.title, one.text, one.parent) for one in work.documents]
    (folder / WORK).write_text(json.dumps({"documents": documents, "questions": work.questions}), "utf-8")
    np.savez(folder / VECTORS, documents=work.document_vectors, questions=work.question_vectors)


def read_work(folder: Path) -> Work:
    """Read what `write_work` wrote."""
    held = json.loads((folder / WORK).read_text("utf-8"))
    documents, questions = [BenchDocument(*cells) for cells in held["documents"]], [tuple(one) for one in held["questions"]]
    with np.load(folder / VECTORS) as stored:
        return Work(documents, questions, stored["documents"], stored["questions"])


def main(folder: Path) -> None:
    """Do the job of a folder and leave the result there; whatever goes wrong ends the process with its traceback."""
    job = json.loads((folder / JOB).read_text("utf-8"))
    module, _, name = job["target"].partition(":")
    try:
        kind: Callable[[PeerSetting], Peer] = getattr(importlib.import_module(module), name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] in {"clara", "clara_lab"}:
            raise
        result: dict[str, Any] = {"missing": error.name}
    else:
        result = _measured(kind, PeerSetting(**job["setting"]), read_work(folder), job["limit"])
        sizes = installed(job["requirements"])
        result |= {"packages": len(sizes), "installed_bytes": sum(sizes.values()), "version": version(job["distribution"])}
    (folder / RESULT).write_text(json.dumps(result), "utf-8")


def _measured(kind: Callable[[PeerSetting], Peer], setting: PeerSetting, work: Work, limit: int) -> dict[str, Any]:
    started = perf_counter()
    peer = kind(setting)
    opened = perf_counter()
    peer.load(work.documents, work.document_vectors)
    loaded = perf_counter()
    asked = [(*question, vector) for question, vector in zip(work.questions, work.question_vectors.tolist(), strict=True)]
    for _, text, vector in asked[:WARMING]:
        peer.search(text, vector, limit)
    ranked: dict[str, list[str]] = {}
    times: dict[str, list[float]] = {name: [] for name, _, _ in asked}
    began = perf_counter()
    for _ in range(ROUNDS):
        for name, text, vector in asked:
            before = perf_counter()
            ranked[name] = peer.search(text, vector, limit)
            times[name].append((perf_counter() - before) * 1000)
    spent = perf_counter() - began
    peer.close()
    return {
        "ranked": ranked,
        "milliseconds": {name: median(taken) for name, taken in times.items()},
        "questions_per_second": ROUNDS * len(asked) / spent,
        "open_seconds": opened - started,
        "index_seconds": loaded - opened,
        "peak_bytes": _peak_bytes(),
    }


def _peak_bytes() -> int:
    # Not ru_maxrss where there is anything else: a process inherits that of the one which started it.
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text("ascii").splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def installed(requirements: Sequence[str]) -> dict[str, int]:
    """Give the packages that requirements lead to in this environment, with the bytes of their files.

    Extras and markers are followed; what is not installed counts nothing, and an editable checkout without its own code.
    """
    found: dict[str, Distribution] = {}
    seen: set[tuple[str, str]] = set()
    left = [(requirement, extra) for requirement in map(Requirement, requirements) for extra in ("", *requirement.extras)]
    while left:
        requirement, extra = left.pop()
        name = canonicalize_name(requirement.name)
        if (name, extra) in seen:
            continue
        seen.add((name, extra))
        try:
            found[name] = distribution(name)
        except PackageNotFoundError:
            continue
        for needed in map(Requirement, found[name].requires or ()):
            if needed.marker is None or needed.marker.evaluate({"extra": extra}):
                left += [(needed, part) for part in ("", *needed.extras)]
    return {name: sum(_sizes(one)) for name, one in found.items()}


def _sizes(one: Distribution) -> Iterator[int]:
    for file in one.files or ():
        path = file.locate()
        stat = getattr(path, "stat", None)
        if stat is not None and path.is_file():  # type: ignore[attr-defined]  # a path as pathlib has it, outside of archives
            yield stat().st_size


if __name__ == "__main__":
    main(Path(sys.argv[1]))
