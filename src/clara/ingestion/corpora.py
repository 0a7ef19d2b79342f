"""Corpora of an operator's own: loading documents, listing what is there, dropping it; and copies of Clara's."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from clara.errors import Invalid
from clara.ingestion.chunks import Cutting, passages_of_document
from clara.ingestion.documents import read_documents
from clara.ingestion.journey import IngestionReport, Progress, ingest, text_digest_of
from clara.ingestion.ports import FillableCorpora, StoredCorpus
from clara.ingestion.programs import Survey, passages_of_programs
from clara.knowledge.passages import CORPUS
from clara.plain_text import table
from clara.retrieval.embedders import RememberingEmbedder, digest_of
from clara.retrieval.passage import Passage
from clara.retrieval.ports import Embedder
from clara.retrieval.profile import Profile
from clara.retrieval.served_corpora import name_of

NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")


class CorpusNameError(Invalid):
    """A corpus cannot be called so, or is not there. The message says which names are possible."""


def load(
    corpora: FillableCorpora, name: str, file: Path, *, profile: str, cutting: Cutting, progress: Progress
) -> IngestionReport:
    """Make the corpus hold exactly the documents of a file.

    Repeating it embeds only what changed. A load that was killed left the corpus as it was, and the next one finds the vectors
    that were computed. Raises UnreadableDocumentsError, CorpusNameError, ProfileError, CorpusUnavailableError.
    """
    check_name(name)
    chosen = corpora.profile(profile)
    documents = read_documents(file, language=chosen.language)
    passages: list[Passage] = []
    for document in documents:
        passages += passages_of_document(document, name, counter=corpora.token_counter, cutting=cutting)
    return fill(corpora, name, passages, chosen, progress)


@dataclass(frozen=True, slots=True)
class Programs:
    """A folder of programs, and the languages to read of it; none means all."""

    folder: Path
    languages: tuple[str, ...] = ()
    looked: Progress = lambda _done, _total: None


def load_programs(
    corpora: FillableCorpora, name: str, source: Programs, *, profile: str, cutting: Cutting, progress: Progress
) -> tuple[IngestionReport, Survey]:
    """Make the corpus hold exactly the functions, classes and the like of a folder of programs.

    Only units whose text changed are embedded anew; one that moved keeps its vector. Raises UnreadableProgramsError,
    CorpusNameError, ProfileError, CorpusUnavailableError.
    """
    check_name(name)
    chosen = corpora.profile(profile)
    survey = corpora.program_reader().read(source.folder, source.languages, source.looked)
    passages = passages_of_programs(survey.units, name, chosen.language, counter=corpora.token_counter, cutting=cutting)
    return fill(corpora, name, passages, chosen, progress), survey


def check_name(name: str) -> None:
    """Refuse a name that a corpus cannot have. Raises CorpusNameError."""
    if not NAME.fullmatch(name) or name == CORPUS:
        raise CorpusNameError(
            f"a corpus cannot be called {name!r}: use up to 63 small letters, digits, '-' and '_', and not "
            f"'{CORPUS}', which is filled by `clara ingest`"
        )


def fill(
    corpora: FillableCorpora, name: str, passages: Sequence[Passage], profile: Profile, progress: Progress
) -> IngestionReport:
    """Make the corpus hold exactly these passages, searched as the profile says. Raises CorpusUnavailableError."""
    embedder = corpora.filling(name)
    store = corpora.passages(profile, embedder)
    report = ingest(name, passages, store, corpora.memorising_embedder(embedder), progress=progress)
    corpora.adopt(name, embedder)
    return report


def corpora_lines(held: Iterable[StoredCorpus]) -> list[str]:
    """List corpora, one line each under a heading."""
    rows = [("corpus", "profile", "documents", "passages", "links", "collections")]
    rows += [
        (one.name, one.profile, str(one.documents), str(one.passages), str(one.links), " ".join(one.collections))
        for one in held
    ]
    return table(rows)


def drop(corpora: FillableCorpora, name: str) -> None:
    """Remove a corpus. Raises CorpusNameError when there is none of that name, or it is Clara's own."""
    if name_of(name) == CORPUS:
        raise CorpusNameError(f"'{CORPUS}' is what Clara knows; it is not dropped. `clara ingest` renews it.")
    if not corpora.passages().drop(name):
        raise CorpusNameError(f"there is no corpus {name!r}; `clara corpus list` names those there are")


def copying(corpora: FillableCorpora, physical: str, wanted: Sequence[Passage], embedder: Embedder) -> Embedder:
    """Give what embeds only texts that a corpus of Clara's does not hold: the vectors of all others are those that it has."""
    store = corpora.passages(embedder=embedder)
    digests = store.stored(physical).vectors
    same = [passage for passage in wanted if digests.get(passage.id) == text_digest_of(passage)]
    held = store.vectors(physical, [passage.id for passage in same])
    known = {
        digest_of(passage.indexed_text, "passage"): np.array(held[passage.id], np.float32)
        for passage in same
        if passage.id in held
    }
    return RememberingEmbedder(corpora.passage_embedder(embedder), known)
