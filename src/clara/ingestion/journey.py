"""One ingestion, from catalogue to corpus: validate -> chunk -> plan -> embed only what changed -> apply -> report.

The plan compares digests and touches nothing, so that a dry run is free.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter

from clara.errors import Invalid
from clara.ingestion.links import linked, names_of
from clara.ingestion.ports import CorpusChange, PassageStore, StoredDigests, WrittenPassage
from clara.retrieval.embedders import embedded
from clara.retrieval.names import SHORTEST_NAME, normalised
from clara.retrieval.passage import COLUMNS, Passage
from clara.retrieval.ports import Embedder

# Passages embedded between two reports of progress: as many as the memory of embeddings keeps at once.
STEP = 64

Progress = Callable[[int, int], None]


class WholeCorpusError(Invalid):
    """A document cannot be ingested alone: it holds passages of another, or its corpus follows names."""


@dataclass(frozen=True, slots=True)
class IngestionReport:
    """What an ingestion did, or would do."""

    corpus: str
    written: int
    embedded: int
    dropped: int
    kept: int
    dry_run: bool
    seconds: float = field(default=0.0, compare=False)

    def __str__(self) -> str:
        return f"{self.corpus}: {self.counts}"

    @property
    def counts(self) -> str:
        """Say how much was done."""
        verb = "would write" if self.dry_run else "wrote"
        vectors = f"{self.embedded} new vectors"
        return f"{verb} {self.written} passages ({vectors}), dropped {self.dropped}, kept {self.kept}"


def digest_of(passage: Passage) -> str:
    """Digest everything that is stored of a passage."""
    stored = {name: getattr(passage, name) for name in COLUMNS} | {"metadata": passage.stored_metadata}
    content = json.dumps(stored, ensure_ascii=True, sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()


def text_digest_of(passage: Passage) -> str:
    """Digest the text that is embedded."""
    return hashlib.sha256(passage.indexed_text.encode("utf-8", "replace")).hexdigest()


@dataclass(frozen=True, slots=True)
class Plan:
    """What to write, what of it to embed anew, what to drop, and how much stays as it is. Ids are passage ids."""

    write: tuple[Passage, ...]
    embed: frozenset[str]
    drop: frozenset[str]
    kept: int

    @property
    def empty(self) -> bool:
        """Whether there is nothing to do."""
        return not self.write and not self.drop


def plan_changes(stored: StoredDigests, wanted: Sequence[Passage]) -> Plan:
    """Compare what is stored with what is wanted; touch nothing."""
    write: list[Passage] = []
    embed: set[str] = set()
    for passage in wanted:
        fresh_text = stored.vectors.get(passage.id) != text_digest_of(passage)
        if fresh_text:
            embed.add(passage.id)
        if fresh_text or stored.passages.get(passage.id) != digest_of(passage):
            write.append(passage)
    drop = frozenset(stored.passages.keys() - {passage.id for passage in wanted})
    return Plan(tuple(write), frozenset(embed), drop, len(wanted) - len(write))


@dataclass(frozen=True, slots=True)
class IngestionScope:
    """What is ingested: a whole corpus, or one document of it; `anew`: as if nothing were stored, so that all is embedded."""

    corpus: str
    document: str | None = None
    anew: bool = False


def ingest(
    scope: str | IngestionScope,
    wanted: Sequence[Passage],
    store: PassageStore,
    embedder: Embedder,
    *,
    dry_run: bool = False,
    progress: Progress = lambda _done, _total: None,
) -> IngestionReport:
    """Make the corpus hold exactly the wanted passages, with the names and links that the store's profile asks for.

    `scope` is the name of the corpus, or says more; with a document in it, only that document changes. `wanted` comes validated
    and chunked from knowledge. All is changed in one transaction. Raises WholeCorpusError, CorpusUnavailableError,
    EmbedderUnavailableError; then the corpus is as it was.
    """
    started = perf_counter()
    chosen = IngestionScope(scope) if isinstance(scope, str) else scope
    corpus = chosen.corpus
    _check(chosen, wanted, store)
    plan = plan_changes(_stored(chosen, store), wanted)
    if not plan.empty and not dry_run:
        written = tuple(_written(corpus, plan, store, embedder, progress))
        if store.profile.follows_names:
            named = tuple(replace(item, names=_names(item.passage)) for item in written)
            store.apply(corpus, CorpusChange(named, plan.drop, linked(wanted)))
        else:
            store.apply(corpus, CorpusChange(written, plan.drop, document=chosen.document))
    seconds = 0.0 if dry_run else round(perf_counter() - started, 3)
    return IngestionReport(corpus, len(plan.write), len(plan.embed), len(plan.drop), plan.kept, dry_run, seconds)


def _check(scope: IngestionScope, wanted: Sequence[Passage], store: PassageStore) -> None:
    if scope.document is None:
        return
    if store.profile.follows_names:
        raise WholeCorpusError(f"{scope.document} cannot be ingested alone: the profile {store.profile.name} follows names")
    if strangers := [passage.id for passage in wanted if passage.document_id != scope.document]:
        raise WholeCorpusError(f"{scope.document} cannot be ingested alone: {strangers[0]} is a passage of another document")


def _stored(scope: IngestionScope, store: PassageStore) -> StoredDigests:
    stored = store.stored(scope.corpus, scope.document)
    if scope.anew:
        return replace(stored, passages=dict.fromkeys(stored.passages, ""), vectors={})
    # Names and links depend on the profile: under another one everything is written anew, with the vectors it has. What is
    # ingested document by document has neither.
    if scope.document is None and stored.profile != store.profile.name:
        return replace(stored, passages=dict.fromkeys(stored.passages, ""))
    return stored


def _written(corpus: str, plan: Plan, store: PassageStore, embedder: Embedder, progress: Progress) -> Iterator[WrittenPassage]:
    fresh = [passage for passage in plan.write if passage.id in plan.embed]
    known = store.vectors(corpus, [passage.id for passage in plan.write if passage.id not in plan.embed])
    vectors = dict(known)
    for start in range(0, len(fresh), STEP):
        batch = fresh[start : start + STEP]
        made = embedded(embedder, [passage.indexed_text for passage in batch], "passage")
        vectors.update(zip((passage.id for passage in batch), made, strict=True))
        progress(min(start + STEP, len(fresh)), len(fresh))
    for passage in plan.write:
        yield WrittenPassage(passage, digest_of(passage), vectors[passage.id], text_digest_of(passage))


def _names(passage: Passage) -> tuple[str, ...]:
    return tuple({folded for name in names_of(passage) if len(folded := normalised(name)) >= SHORTEST_NAME})
