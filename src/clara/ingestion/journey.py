"""One ingestion, from catalogue to corpus: validate -> chunk -> plan -> embed only what changed -> apply -> report."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from clara.ingestion.linking import linked, names_of
from clara.ingestion.planning import Plan, digest_of, plan_changes, text_digest_of
from clara.ingestion.ports import Change, PassageStore, Written
from clara.retrieval.embedding import embedded
from clara.retrieval.naming import SHORTEST_NAME, normalised
from clara.retrieval.passage import Passage
from clara.retrieval.ports import Embedder

# Passages embedded between two reports of progress: as many as the memory of embeddings keeps at once.
STEP = 64

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Report:
    """What an ingestion did, or would do."""

    corpus: str
    written: int
    embedded: int
    dropped: int
    kept: int
    dry_run: bool

    def __str__(self) -> str:
        verb = "would write" if self.dry_run else "wrote"
        vectors = f"{self.embedded} new vectors"
        return f"{self.corpus}: {verb} {self.written} passages ({vectors}), dropped {self.dropped}, kept {self.kept}"


def ingest(
    corpus: str,
    wanted: Sequence[Passage],
    store: PassageStore,
    embedder: Embedder,
    *,
    dry_run: bool = False,
    progress: Progress = lambda _done, _total: None,
) -> Report:
    """Make the corpus hold exactly the wanted passages, with the names and links that the store's profile asks for.

    `wanted` comes validated and chunked from knowledge. Raises StoreUnavailableError, EmbedderUnavailableError; either way
    the corpus is as it was.
    """
    stored = store.stored(corpus)
    # Names and links depend on the profile: under another one everything is written anew, with the vectors it has.
    if stored.profile != store.profile.name:
        stored = replace(stored, passages=dict.fromkeys(stored.passages, ""))
    plan = plan_changes(stored, wanted)
    if not plan.empty and not dry_run:
        written = tuple(_written(corpus, plan, store, embedder, progress))
        if store.profile.follows_names:
            named = tuple(replace(item, names=_names(item.passage)) for item in written)
            store.apply(corpus, Change(named, plan.drop, linked(wanted)))
        else:
            store.apply(corpus, Change(written, plan.drop))
    return Report(corpus, len(plan.write), len(plan.embed), len(plan.drop), plan.kept, dry_run)


def _written(corpus: str, plan: Plan, store: PassageStore, embedder: Embedder, progress: Progress) -> Iterator[Written]:
    fresh = [passage for passage in plan.write if passage.id in plan.embed]
    known = store.vectors(corpus, [passage.id for passage in plan.write if passage.id not in plan.embed])
    vectors = dict(known)
    for start in range(0, len(fresh), STEP):
        batch = fresh[start : start + STEP]
        made = embedded(embedder, [passage.indexed_text for passage in batch], "passage")
        vectors.update(zip((passage.id for passage in batch), made, strict=True))
        progress(min(start + STEP, len(fresh)), len(fresh))
    for passage in plan.write:
        yield Written(passage, digest_of(passage), vectors[passage.id], text_digest_of(passage))


def _names(passage: Passage) -> tuple[str, ...]:
    return tuple({folded for name in names_of(passage) if len(folded := normalised(name)) >= SHORTEST_NAME})
