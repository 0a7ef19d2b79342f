"""Computing the vectors that a release carries for its own passages.

    python -m clara.jobs.embedding

Writes data/vectors.npz. Ingestion computes what is missing there, so a file that lags behind costs time and nothing else.
"""

import sys

import click

from clara.bootstrap import Services
from clara.ingestion.journey import STEP
from clara.retrieval.remembered import digest_of, write_vectors
from clara.settings import load_settings, resources


def main() -> None:
    """Embed every passage of data/ and write the vectors."""
    services = Services(load_settings(), None)
    embedder = services.passage_embedder()
    texts = [passage.indexed_text for passage in services.knowledge.get().passages]
    vectors: dict[str, list[float]] = {}
    with click.progressbar(range(0, len(texts), STEP), label="embedding", file=sys.stderr) as starts:
        for start in starts:
            batch = texts[start : start + STEP]
            made = embedder.embed(batch, "passage")
            vectors |= {digest_of(text, "passage"): vector for text, vector in zip(batch, made, strict=True)}
    target = resources() / "data" / "vectors.npz"
    write_vectors(target, embedder.model, vectors)
    click.echo(f"{target.name}: {len(vectors)} vectors, {target.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
