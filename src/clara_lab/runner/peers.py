"""The table of peers: the documents and questions of a run, searched by Clara and by what an engineer would pick instead."""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final
from uuid import uuid4

import numpy as np

from clara.container.corpora import Corpora
from clara.retrieval.embedders import embedded
from clara.retrieval.ports import Embedder, Role
from clara_lab.bench.dataset import BenchData
from clara_lab.bench.events import EventLog
from clara_lab.bench.peers import Floats, PeerOutcome, PeerSetting, content_of
from clara_lab.bench.peers_table import PeersTable, peers_csv, peers_json, peers_markdown
from clara_lab.bench.plan import SIMPLE_VECTOR, RunPlan
from clara_lab.bench.reports import write_whole
from clara_lab.borrowed import borrowed_database
from clara_lab.runner.contenders import Contender, PeerLimits, chosen_from, contenders, outcome_of
from clara_lab.runner.corpora import Progress
from clara_lab.runner.data import read_data, sizes
from clara_lab.runner.parts import parts_of
from clara_lab.runner.peer import Work, write_work
from clara_lab.runner.run import Say, described

# Where `Contender.remedy` puts environments, and where they are looked for.
ENVIRONMENTS: Final = Path("build/peers")
# Indexing 16,000 documents through a framework takes minutes; nobody waits longer than an hour for one row.
SECONDS: Final = 3600.0
# Before the name of the database of each contender, which is gone when that one is measured.
DATABASE: Final = "clara_bench_peer_"
# Texts embedded between two reports of progress.
STEP: Final = 64
# Text search configurations of PostgreSQL by language; others join no word forms.
DICTIONARIES: Final = {
    "ca": "catalan",
    "de": "german",
    "en": "english",
    "es": "spanish",
    "eu": "basque",
    "fr": "french",
    "it": "italian",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
}


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
            outcomes.append(_outcome(corpora, plan, contender, work, _bounds(folder, manner)))
            say(_said(outcomes[-1]))
    started = datetime.now(UTC)
    table = PeersTable(started.isoformat(), described(data), plan.retrieval_k, tuple(outcomes), data.questions)
    stem = f"peers_{plan.mteb_dataset_name}_{started:%Y%m%dT%H%M%SZ}"
    for ending, text in ((".json", peers_json(table)), (".csv", peers_csv(table)), (".md", peers_markdown(table))):
        say(f"wrote {write_whole(manner.folder / f'{stem}{ending}', text)}")
    return table


def _embedded(corpora: Corpora, plan: RunPlan, data: BenchData, folder: Path, progress: Progress) -> Work:
    """Embed documents and questions once for all; what was embedded before, by any run, is remembered."""
    bare = plan.model_copy(
        update={
            "retrieval_strategy": SIMPLE_VECTOR,
            "generation_enabled": False,
            "reranker_enabled": False,
            "judge_enabled": False,
        }
    )
    log = EventLog(folder / "peers.events.jsonl")
    try:
        with parts_of(corpora, bare, log, folder) as parts:
            embedder = corpora.memorising_embedder(parts.embedder, remember_queries=True)
            documents = [content_of(document) for document in data.documents]
            questions = [question.text for question in data.questions]
            return Work(
                data.documents,
                [(question.id, question.text) for question in data.questions],
                _vectors(embedder, documents, "passage", progress),
                _vectors(embedder, questions, "query", progress),
            )
    finally:
        log.close()


def _vectors(embedder: Embedder, texts: Sequence[str], role: Role, progress: Progress) -> Floats:
    made = np.zeros((len(texts), embedder.dimensions), np.float32)
    for start in range(0, len(texts), STEP):
        some = texts[start : start + STEP]
        made[start : start + len(some)] = embedded(embedder, some, role)
        progress("embedding", start + len(some), len(texts))
    return made


def _outcome(corpora: Corpora, plan: RunPlan, contender: Contender, work: Work, bounds: PeerLimits) -> PeerOutcome:
    dictionary = DICTIONARIES.get(plan.retrieval_bm25_language, "simple")
    with borrowed_database(str(corpora.database_url), f"{DATABASE}{uuid4().hex}") as url:
        dimensions = work.document_vectors.shape[1]
        setting = PeerSetting(url, dimensions, dictionary, contender.way, contender.options)
        return outcome_of(contender, setting, plan.retrieval_k, bounds)


def _bounds(folder: Path, manner: PeerOptions) -> PeerLimits:
    return PeerLimits(folder, manner.folder, manner.environments, manner.seconds)


def _said(outcome: PeerOutcome) -> str:
    if outcome.timed is None:
        return f"{outcome.name}: {outcome.failure}; {outcome.remedy}"
    return (
        f"{outcome.name}: indexed in {outcome.timed.index_seconds:.1f} s, {outcome.timed.questions_per_second:.0f} questions/s"
    )
