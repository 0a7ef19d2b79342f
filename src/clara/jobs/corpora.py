"""Corpora of an operator's own: loading documents, listing what is there, dropping it, and how well its index finds."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from clara.container import Container
from clara.errors import Invalid
from clara.ingestion.chunks import OVERLAP, SIZE, Strategy, passages_of_document
from clara.ingestion.documents import read_documents
from clara.ingestion.journey import Progress, Report, ingest
from clara.ingestion.programs import Survey, passages_of_programs
from clara.knowledge.passages import CORPUS
from clara.retrieval.corpus_alias import name_of
from clara.retrieval.passage import Hit, Passage, Query
from clara.retrieval.profile import Profile

NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")
# Passages whose own text is asked for, to compare the approximate index with an exact search.
SAMPLE = 200
# Below this share of the exact neighbours, the approximate index costs answers.
ENOUGH = 0.99


class CorpusNameError(Invalid):
    """A corpus cannot be called so, or is not there. The message says which names are possible."""


@dataclass(frozen=True, slots=True)
class Cutting:
    """How long texts are cut while loading; sizes in tokens."""

    strategy: Strategy = "recursive"
    size: int = SIZE
    overlap: int = OVERLAP


def load(services: Container, name: str, file: Path, *, profile: str, cutting: Cutting, progress: Progress) -> Report:
    """Make the corpus hold exactly the documents of a file.

    Repeating it embeds only what changed. A load that was killed left the corpus as it was, and the next one finds the vectors
    that were computed. Raises UnreadableDocumentsError, CorpusNameError, ProfileError, StoreUnavailableError.
    """
    check_name(name)
    chosen = services.profile(profile)
    counter = services.token_counter
    documents = read_documents(file, language=chosen.language)
    passages: list[Passage] = []
    for document in documents:
        passages += passages_of_document(
            document, name, counter=counter, strategy=cutting.strategy, size=cutting.size, overlap=cutting.overlap
        )
    return fill(services, name, passages, chosen, progress)


@dataclass(frozen=True, slots=True)
class Programs:
    """A folder of programs, and the languages to read of it; none means all."""

    folder: Path
    languages: tuple[str, ...] = ()
    looked: Progress = lambda _done, _total: None


def load_programs(
    services: Container, name: str, source: Programs, *, profile: str, cutting: Cutting, progress: Progress
) -> tuple[Report, Survey]:
    """Make the corpus hold exactly the functions, classes and the like of a folder of programs.

    Only units whose text changed are embedded anew; one that moved keeps its vector. Raises UnreadableProgramsError,
    CorpusNameError, ProfileError, StoreUnavailableError.
    """
    check_name(name)
    chosen = services.profile(profile)
    survey = services.program_reader().read(source.folder, source.languages, source.looked)
    counter = services.token_counter
    passages = passages_of_programs(
        survey.units, name, chosen.language, counter=counter, size=cutting.size, overlap=cutting.overlap
    )
    return fill(services, name, passages, chosen, progress), survey


def check_name(name: str) -> None:
    """Refuse a name that a corpus cannot have. Raises CorpusNameError."""
    if not NAME.fullmatch(name) or name == CORPUS:
        raise CorpusNameError(
            f"a corpus cannot be called {name!r}: use up to 63 small letters, digits, '-' and '_', and not "
            f"'{CORPUS}', which is filled by `clara ingest`"
        )


def fill(services: Container, name: str, passages: Sequence[Passage], profile: Profile, progress: Progress) -> Report:
    """Make the corpus hold exactly these passages, searched as the profile says. Raises StoreUnavailableError."""
    embedder = services.filling(name)
    store = services.passages(profile, embedder)
    report = ingest(name, passages, store, services.memorising_embedder(embedder), progress=progress)
    services.adopt(name, embedder)
    return report


def table(services: Container) -> list[str]:
    """List the corpora, one line each under a heading."""
    rows = [("corpus", "profile", "documents", "passages", "links", "collections")]
    rows += [
        (held.name, held.profile, str(held.documents), str(held.passages), str(held.links), " ".join(held.collections))
        for held in services.passages().corpora()
    ]
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def drop(services: Container, name: str) -> None:
    """Remove a corpus. Raises CorpusNameError when there is none of that name, or it is Clara's own."""
    if name_of(name) == CORPUS:
        raise CorpusNameError(f"'{CORPUS}' is what Clara knows; it is not dropped. `clara ingest` renews it.")
    if not services.passages().drop(name):
        raise CorpusNameError(f"there is no corpus {name!r}; `clara corpus list` names those there are")


@dataclass(frozen=True, slots=True)
class Recall:
    """How many of the exact nearest ten passages the approximate index gives, over a sample of a corpus.

    One as near as the tenth counts as one of the ten: which of equal passages comes first says nothing about the index.
    """

    asked: int
    at_10: float


def recall(services: Container, name: str, progress: Callable[[int, int], None], *, sample: int = SAMPLE) -> Recall:
    """Compare HNSW with an exact search, each asked for the neighbours of sampled passages. Raises UnknownCorpusError."""
    name = services.served.standing(name).physical
    services.passages().profile_of(name)
    embedder = services.embedders.asking(services.served_model(name))
    index = services.index(Profile(dense=1.0, lexical=0.0), embedder)
    vectors = services.passages(embedder=embedder).sampled_vectors(name, sample)
    found, wanted = 0, 0
    for number, vector in enumerate(vectors, 1):
        query = Query("", name, limit=10, vector=tuple(vector))
        exact = _cosines(index.search(replace(query, exact=True), vector))
        wanted += len(exact)
        found += sum(cosine >= min(exact) for cosine in _cosines(index.search(query, vector)))
        progress(number, len(vectors))
    return Recall(len(vectors), found / wanted if wanted else 0.0)


def _cosines(hits: Sequence[Hit]) -> list[float]:
    return [hit.cosine for hit in hits if hit.cosine is not None]
