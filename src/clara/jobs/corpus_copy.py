"""Copies of a corpus under a name of their own: vectors of texts that stay are taken over, and nothing is left behind."""

import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import numpy as np

from clara.container import Container
from clara.ingestion.journey import ingest
from clara.ingestion.plan import text_digest_of
from clara.knowledge.passages import CORPUS
from clara.retrieval.corpus_alias import COPY
from clara.retrieval.embedders import RememberingEmbedder, digest_of
from clara.retrieval.passage import Passage
from clara.retrieval.ports import Embedder

# Bytes of chance in the name of a copy: two questions at once are as good as never given the same.
CHANCE: Final = 6


def copying(services: Container, physical: str, wanted: Sequence[Passage], embedder: Embedder) -> Embedder:
    """Give what embeds only texts that a corpus does not hold: the vectors of all others are those that it has."""
    store = services.passages(embedder=embedder)
    digests = store.stored(physical).vectors
    same = [passage for passage in wanted if digests.get(passage.id) == text_digest_of(passage)]
    held = store.vectors(physical, [passage.id for passage in same])
    known = {
        digest_of(passage.indexed_text, "passage"): np.array(held[passage.id], np.float32)
        for passage in same
        if passage.id in held
    }
    return RememberingEmbedder(services.passage_embedder(embedder), known)


@contextmanager
def copied(services: Container, wanted: Sequence[Passage]) -> Iterator[str]:
    """Give the name of a corpus that holds these passages of Clara's, and drop it at the end.

    A copy whose process died is dropped by whoever makes the next one. Raises StoreUnavailableError, EmbedderUnavailableError.
    """
    publications, name = services.publications(), f"{CORPUS}{COPY}{secrets.token_hex(CHANCE)}"
    for left in publications.abandoned(CORPUS):
        services.passages().drop(left)
    physical = publications.served(CORPUS).physical
    embedder = services.filling(physical)
    with publications.using(name):
        try:
            ingest(name, wanted, services.passages(embedder=embedder), copying(services, physical, wanted, embedder))
            yield name
        finally:
            services.passages().drop(name)
