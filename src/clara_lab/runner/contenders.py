"""Who is compared: Clara's strategies, and what an engineer would pick instead; each runs in a process of its own."""

import json
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

import clara
import clara_lab
from clara.errors import NotFound
from clara.settings import environment_of
from clara_lab.bench.peers import PeerOutcome, PeerSetting, Timed
from clara_lab.bench.plan import CONTEXTUAL_HYBRID, PROFILE, SIMPLE_VECTOR, RunPlan
from clara_lab.runner.peer import JOB, RESULT

_OWN: Final = "clara_lab.runner.own:OwnPeer"
# Variables of a run that shape a strategy; none is a secret.
_SHAPING: Final = (
    "RETRIEVAL_K",
    "RETRIEVAL_PRE_FUSION_K",
    "RETRIEVAL_RRF_K",
    "RETRIEVAL_BM25_WEIGHT",
    "RETRIEVAL_VECTOR_WEIGHT",
    "RETRIEVAL_BM25_LANGUAGE",
)


class UnknownPeerError(NotFound):
    """No contender has that name. The message lists those there are."""


@dataclass(frozen=True, slots=True)
class Contender:
    """One row. `target` is module:class of its Peer; `environment` the folder of its own Python, empty for Clara's.

    `distribution` is the package whose version is told, `requirements` what is installed for it, NumPy included where the
    process needs it to read vectors.
    """

    name: str
    about: str
    target: str
    way: str
    distribution: str
    requirements: tuple[str, ...]
    environment: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)

    def python(self, environments: Path) -> Path | None:
        """Give the Python of its own environment, if there is one."""
        python = environments / self.environment / "bin" / "python"
        return python if self.environment and python.exists() else None

    def remedy(self, environments: Path) -> str:
        """Say what to run so that it is installed."""
        if not self.environment:
            return f"pip install {' '.join(self.requirements)}"
        folder = environments / self.environment
        quoted = " ".join(f"'{requirement}'" for requirement in self.requirements)
        return f"python3 -m venv {folder} && {folder}/bin/pip install {quoted}"


def _read_peers() -> tuple[Contender, ...]:
    rows = tomllib.loads((Path(clara_lab.__file__).parent / "peers" / "peers.toml").read_text("utf-8"))["peer"]
    return tuple(Contender(**{**row, "requirements": tuple(row["requirements"])}) for row in rows)


PEERS: Final = _read_peers()


def contenders(plan: RunPlan) -> tuple[Contender, ...]:
    """Give all rows: Clara's two strategies, the profile of RETRIEVAL_STRATEGY if it names one, and the peers."""
    ways = {SIMPLE_VECTOR: "vectors, HNSW", CONTEXTUAL_HYBRID: "vectors and BM25 by reciprocal ranks, nothing enriched"}
    if plan.retrieval_strategy.startswith(PROFILE):
        ways[plan.retrieval_strategy] = "vectors and BM25 as data/profiles.json weighs this kind of corpus"
    shown = plan.shown()
    options = {name: shown[name] for name in _SHAPING}
    own = (
        Contender(way, about, _OWN, way, "clara-tramites", ("clara-tramites",), options=options) for way, about in ways.items()
    )
    return (*own, *PEERS)


def chosen_from(all_: Sequence[Contender], only: Sequence[str]) -> Sequence[Contender]:
    """Give those that are named, all where none is. Raises UnknownPeerError."""
    names = {contender.name for contender in all_}
    if unknown := sorted(set(only) - names):
        raise UnknownPeerError(f"there is no {', '.join(unknown)}; choose from {', '.join(sorted(names))}")
    return [contender for contender in all_ if not only or contender.name in only]


# All that a peer sees of the environment: no key of a served model, and no address but its database's.
PASSED_ON: Final = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "LD_LIBRARY_PATH", "OMP_NUM_THREADS")
# What the frameworks call home with, and what they would fetch.
SILENT: Final = {
    "HAYSTACK_TELEMETRY_ENABLED": "False",
    "LANGSMITH_TRACING": "false",
    "LANGCHAIN_TRACING_V2": "false",
    "ANONYMIZED_TELEMETRY": "False",
    "DO_NOT_TRACK": "1",
    "HF_HUB_OFFLINE": "1",
}
# Characters of the last line of a process that failed, for the table; all its lines are in its log.
REASON_CHARACTERS: Final = 200


@dataclass(frozen=True, slots=True)
class PeerLimits:
    """Where a process works (`folder`) and leaves its lines (`logs`), where environments are, and the seconds it may take."""

    folder: Path
    logs: Path
    environments: Path
    seconds: float


def outcome_of(contender: Contender, setting: PeerSetting, limit: int, bounds: PeerLimits) -> PeerOutcome:
    """Start the process of a contender and read what it left. Raises OSError when no process can be started at all."""
    log = bounds.logs / f"peers-{contender.name.replace(':', '-').casefold()}.log"
    result = bounds.folder / RESULT
    result.unlink(missing_ok=True)
    job = {
        "target": contender.target,
        "setting": asdict(setting),
        "limit": limit,
        "distribution": contender.distribution,
        "requirements": contender.requirements,
    }
    (bounds.folder / JOB).write_text(json.dumps(job), "utf-8")
    try:
        status = _run(contender, bounds, log)
    except subprocess.TimeoutExpired:
        return PeerOutcome(
            contender.name, contender.about, None, f"took more than {bounds.seconds:.0f} s", "give it more --seconds"
        )
    if status or not result.exists():
        return PeerOutcome(contender.name, contender.about, None, _last_line(log, status), f"its lines are in {log}")
    found = json.loads(result.read_text("utf-8"))
    if missing := found.get("missing"):
        return PeerOutcome(
            contender.name, contender.about, None, f"{missing} is not installed", contender.remedy(bounds.environments)
        )
    return PeerOutcome(contender.name, contender.about, _timed(found))


def _run(contender: Contender, bounds: PeerLimits, log: Path) -> int:
    # Clara and her laboratory alone, not what is installed beside her: the environment of a peer has its own versions.
    code = bounds.folder / "code"
    if not code.exists():
        code.mkdir()
        for package in (clara, clara_lab):
            (code / package.__name__).symlink_to(Path(str(package.__file__)).resolve().parent)
    python = contender.python(bounds.environments) or Path(sys.executable)
    environment = {**environment_of(PASSED_ON), **SILENT, "PYTHONPATH": str(code)}
    with log.open("wb") as lines:
        done = subprocess.run(  # noqa: S603  our own module
            [python.absolute(), "-m", "clara_lab.runner.peer", bounds.folder],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=lines,
            stderr=lines,
            timeout=bounds.seconds,
            check=False,
        )
    return done.returncode


def _last_line(log: Path, status: int) -> str:
    lines = [line for line in log.read_text("utf-8", "replace").splitlines() if line.strip()]
    return lines[-1].strip()[:REASON_CHARACTERS] if lines else f"ended with status {status} and said nothing"


def _timed(found: dict[str, Any]) -> Timed:
    ranked = {question: tuple(ids) for question, ids in found.pop("ranked").items()}
    return Timed(ranked, **found)
