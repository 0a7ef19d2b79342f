"""The table of peers: the documents and questions of a run, searched by Clara and by what an engineer would pick instead.

Each contender runs in a process and a database of its own.
"""

import json
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import numpy as np
import psycopg
from psycopg import sql
from sqlalchemy import make_url

import clara
import clara_lab
from clara.adapters.postgres.connections import DatabaseUnavailableError, UnsuitableServerError
from clara.container.corpora import Corpora
from clara.data_files import record
from clara.errors import NotFound
from clara.retrieval.embedders import embedded
from clara.retrieval.ports import Embedder, Role
from clara.settings import environment_of
from clara_lab.bench.dataset import BenchData
from clara_lab.bench.peers import Floats, PeerOutcome, PeerSetting, Timed, content_of
from clara_lab.bench.peers_table import PeersTable, peers_csv, peers_json, peers_markdown
from clara_lab.bench.plan import CONTEXTUAL_HYBRID, PROFILE, SIMPLE_VECTOR, RunPlan
from clara_lab.bench.record import EventLog
from clara_lab.bench.reports import write_whole
from clara_lab.runner.corpora import Progress
from clara_lab.runner.data import read_data, sizes
from clara_lab.runner.parts import parts_of
from clara_lab.runner.peer import JOB, RESULT, Work, write_work
from clara_lab.runner.run import Say, described

_OWN: Final = "clara_lab.runner.corpora:OwnPeer"
# Where `Contender.remedy` puts environments, and where they are looked for.
ENVIRONMENTS: Final = Path("build/peers")
# Indexing 16,000 documents through a framework takes minutes; nobody waits longer than an hour for one row.
SECONDS: Final = 3600.0
# Before the name of the database of each contender, which is gone when that one is measured.
DATABASE: Final = "clara_bench_peer_"
# Texts embedded between two reports of progress.
STEP: Final = 64
# Characters of the last line of a process that failed, for the table; all its lines are in its log.
REASON_CHARACTERS: Final = 200
REMEDY: Final = "grant the user of RAG_DB_URL CREATEDB, or unset RAG_DB_URL to measure on a server of Clara's own"


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


_DATA: Final[Mapping[str, Any]] = tomllib.loads((Path(clara_lab.__file__).parent / "peers" / "peers.toml").read_text("utf-8"))
PEERS: Final = tuple(record(Contender, row) for row in _DATA["peer"])


def contenders(plan: RunPlan) -> tuple[Contender, ...]:
    """Give all rows: Clara's two strategies, the profile of RETRIEVAL_STRATEGY if it names one, and the peers."""
    ways = {SIMPLE_VECTOR: "vectors, HNSW", CONTEXTUAL_HYBRID: "vectors and BM25 by reciprocal ranks, nothing enriched"}
    if plan.retrieval_strategy.startswith(PROFILE):
        ways[plan.retrieval_strategy] = "vectors and BM25 as data/profiles.json weighs this kind of corpus"
    shown = plan.shown()
    options = {name: shown[name] for name in _DATA["shaping"]}
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


@dataclass(frozen=True, slots=True)
class PeerOptions:
    """How peers are compared: which ones (empty: all), where their environments are, and how long one may take."""

    folder: Path
    only: tuple[str, ...] = ()
    environments: Path = ENVIRONMENTS
    seconds: float = SECONDS


def compare_peers(corpora: Corpora, plan: RunPlan, manner: PeerOptions, say: Say, progress: Progress) -> PeersTable:
    """Search with every contender, each in a process and a database of its own, and write the table in three formats.

    What is not installed, fails or takes too long is a row that says so. Raises BenchDataError, UnknownPeerError,
    EmbedderUnavailableError, DatabaseUnavailableError, UnsuitableServerError, OSError.
    """
    chosen = chosen_from(contenders(plan), manner.only)
    data = read_data(plan)
    data = replace(data, documents=tuple(document for document in data.documents if document.text.strip()))
    say(sizes(data))
    manner.folder.mkdir(parents=True, exist_ok=True)
    work = _embedded(corpora, plan, data, manner.folder, progress)
    outcomes: list[PeerOutcome] = []
    with tempfile.TemporaryDirectory(prefix="clara-peers-") as kept:
        folder = Path(kept)
        write_work(folder, work)
        for contender in chosen:
            outcomes.append(_in_a_database(corpora, plan, contender, work.document_vectors.shape[1], folder, manner))
            say(_said(outcomes[-1]))
    started = datetime.now(UTC)
    table = PeersTable(started.isoformat(), described(data), plan.retrieval_k, tuple(outcomes), data.questions)
    stem = f"peers_{plan.mteb_dataset_name}_{started:%Y%m%dT%H%M%SZ}"
    for ending, text in ((".json", peers_json(table)), (".csv", peers_csv(table)), (".md", peers_markdown(table))):
        say(f"wrote {write_whole(manner.folder / f'{stem}{ending}', text)}")
    return table


def _embedded(corpora: Corpora, plan: RunPlan, data: BenchData, folder: Path, progress: Progress) -> Work:
    """Embed documents and questions once for all; what was embedded before, by any run, is remembered."""
    off = dict.fromkeys(("generation_enabled", "reranker_enabled", "judge_enabled"), False)
    bare = plan.model_copy(update={"retrieval_strategy": SIMPLE_VECTOR, **off})
    with (
        closing(EventLog(folder / "peers.events.jsonl")) as log,
        parts_of(corpora, bare, log, folder) as parts,
    ):
        embedder = corpora.memorising_embedder(parts.embedder, remember_queries=True)
        documents = [content_of(document) for document in data.documents]
        questions = [question.text for question in data.questions]
        return Work(
            data.documents,
            [(question.id, question.text) for question in data.questions],
            _vectors(embedder, documents, "passage", progress),
            _vectors(embedder, questions, "query", progress),
        )


def _vectors(embedder: Embedder, texts: Sequence[str], role: Role, progress: Progress) -> Floats:
    made = np.zeros((len(texts), embedder.dimensions), np.float32)
    for start in range(0, len(texts), STEP):
        some = texts[start : start + STEP]
        made[start : start + len(some)] = embedded(embedder, some, role)
        progress("embedding", start + len(some), len(texts))
    return made


def _in_a_database(
    corpora: Corpora, plan: RunPlan, contender: Contender, dimensions: int, folder: Path, manner: PeerOptions
) -> PeerOutcome:
    dictionary = _DATA["dictionaries"].get(plan.retrieval_bm25_language, "simple")
    with borrowed_database(str(corpora.database_url), f"{DATABASE}{uuid4().hex}") as url:
        setting = PeerSetting(url, dimensions, dictionary, contender.way, contender.options)
        return outcome_of(contender, setting, plan.retrieval_k, folder, manner)


@contextmanager
def borrowed_database(url: str, name: str) -> Iterator[str]:
    """Make an empty database beside that of `url`, anew if it is there, and give its address.

    Raises DatabaseUnavailableError, and UnsuitableServerError when the user may not make databases.
    """
    parsed = make_url(url.replace("postgres://", "postgresql://", 1)).set(drivername="postgresql")
    server = parsed.render_as_string(hide_password=False)
    drop = sql.SQL("drop database if exists {} with (force)").format(sql.Identifier(name))
    try:
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(drop)
            connection.execute(sql.SQL("create database {}").format(sql.Identifier(name)))
    except psycopg.errors.InsufficientPrivilege as error:
        raise UnsuitableServerError(f"the database {name} cannot be made; {REMEDY}") from error
    except psycopg.OperationalError as error:
        raise DatabaseUnavailableError(f"the database {name} cannot be made: {error}") from error
    try:
        yield parsed.set(database=name).render_as_string(hide_password=False)
    finally:
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(drop)


def outcome_of(contender: Contender, setting: PeerSetting, limit: int, folder: Path, manner: PeerOptions) -> PeerOutcome:
    """Start the process of a contender in a folder with its work, and read what it left.

    Raises OSError when no process can be started at all.
    """
    log = manner.folder / f"peers-{contender.name.replace(':', '-').casefold()}.log"
    result = folder / RESULT
    result.unlink(missing_ok=True)
    job = {name: getattr(contender, name) for name in ("target", "distribution", "requirements")}
    (folder / JOB).write_text(json.dumps({**job, "setting": asdict(setting), "limit": limit}), "utf-8")
    absent = partial(PeerOutcome, contender.name, contender.about, None)
    try:
        status = _run(contender, folder, manner, log)
    except subprocess.TimeoutExpired:
        return absent(f"took more than {manner.seconds:.0f} s", "give it more --seconds")
    if status or not result.exists():
        lines = [line for line in log.read_text("utf-8", "replace").splitlines() if line.strip()]
        said = lines[-1].strip()[:REASON_CHARACTERS] if lines else f"ended with status {status} and said nothing"
        return absent(said, f"its lines are in {log}")
    found = json.loads(result.read_text("utf-8"))
    if missing := found.get("missing"):
        return absent(f"{missing} is not installed", contender.remedy(manner.environments))
    found["ranked"] = {question: tuple(ids) for question, ids in found["ranked"].items()}
    return PeerOutcome(contender.name, contender.about, Timed(**found))


def _run(contender: Contender, folder: Path, manner: PeerOptions, log: Path) -> int:
    # Clara and her laboratory alone, not what is installed beside her: the environment of a peer has its own versions.
    code = folder / "code"
    if not code.exists():
        code.mkdir()
        for package in (clara, clara_lab):
            (code / package.__name__).symlink_to(Path(str(package.__file__)).resolve().parent)
    python = contender.python(manner.environments) or Path(sys.executable)
    command = (python.absolute(), "-m", "clara_lab.runner.peer", folder)
    environment = {**environment_of(_DATA["passed_on"]), **_DATA["silent"], "PYTHONPATH": str(code)}
    with log.open("wb") as lines:
        done = subprocess.run(  # noqa: S603  our own module
            command, env=environment, stdin=subprocess.DEVNULL, stdout=lines, stderr=lines, timeout=manner.seconds, check=False
        )
    return done.returncode


def _said(outcome: PeerOutcome) -> str:
    if outcome.timed is None:
        return f"{outcome.name}: {outcome.failure}; {outcome.remedy}"
    return (
        f"{outcome.name}: indexed in {outcome.timed.index_seconds:.1f} s, {outcome.timed.questions_per_second:.0f} questions/s"
    )
