"""Computing the vectors that a release carries: of its own passages, and of the norms that its facts rest on.

    python -m clara_lab.makers.vectors                   writes data/vectors.npz
    python -m clara_lab.makers.vectors --norms FOLDER    writes data/law_vectors/<norm>.npz for each Markdown file of the folder
    python -m clara_lab.makers.vectors --evaluation      asks the evaluation everything, and writes eval/vectors.npz

Ingestion computes what is missing there, so a file that lags behind costs time and nothing else. A norm whose file has all its
vectors is passed over, so that the command can be stopped and started again.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from clara.answering.snapshot import KnowledgeSnapshot
from clara.container import Container
from clara.ingestion.journey import STEP
from clara.knowledge.law.markdown import read_markdown
from clara.knowledge.law.passages import LAW_CORPUS, passages_of_norm
from clara.processes.preparation import ensure_corpus, running_container
from clara.quality.answers import judge_parts
from clara.quality.dataset import SPLITS
from clara.quality.question_vectors import FILE, QuestionVectors
from clara.quality.release import EvaluationChoice, evaluate
from clara.quality.suites import SUITES
from clara.retrieval.embedders import digest_of, read_vectors, write_vectors
from clara.retrieval.ports import Embedder
from clara.settings import load_settings, resources


@click.command()
@click.option("--norms", type=click.Path(exists=True, file_okay=False, path_type=Path), help="Folder of norms in Markdown.")
@click.option("--evaluation", is_flag=True, help="The questions of the evaluation, whatever they are made into.")
def main(*, norms: Path | None, evaluation: bool) -> None:
    """Embed every passage of data/, of norms, or what the evaluation asks, and write the vectors."""
    if evaluation:
        with running_container(load_settings(), click.echo, prepare="schema") as served:
            ensure_corpus(served, click.echo)
            _write_questions(served.snapshot())
        return
    container = Container(load_settings(), None)
    data = resources() / "data"
    if norms is None:
        texts = [passage.indexed_text for passage in container.snapshot().knowledge.passages]
        _write(data / "vectors.npz", texts, container.passage_embedder())
        return
    (data / "law_vectors").mkdir(exist_ok=True)
    for file in sorted(norms.glob("*.md")):
        norm = read_markdown(file.read_text("utf-8"))
        texts = [passage.indexed_text for passage in passages_of_norm(norm, LAW_CORPUS)]
        _write(data / "law_vectors" / f"{norm.id}.npz", texts, container.embedder)


def _write_questions(snapshot: KnowledgeSnapshot) -> None:
    """Ask everything once more, and keep the vectors of what was embedded for it."""
    vectors = QuestionVectors(snapshot)
    evaluate(vectors.carried, EvaluationChoice(), None, _unsaid, _unseen)
    for part in judge_parts(vectors.carried, [(suite, split) for suite in SUITES.values() for split in SPLITS], _unseen):
        click.echo(f"asked for {part.suite}, {part.split}")
    made = {digest_of(text, "query"): vector for text, vector in vectors.of_all().items()}
    target = resources() / FILE
    write_vectors(target, snapshot.embedder.model, made)
    click.echo(f"{target.name}: {len(made)} vectors, {len(vectors.missing)} of them new, {target.stat().st_size / 1e6:.1f} MB")


def _unsaid(_message: str) -> None:
    """Keep the tables of a run that only makes vectors to itself."""


def _unseen(_done: int, _total: int) -> None:
    """Show no progress."""


def _write(target: Path, texts: Sequence[str], embedder: Embedder) -> None:
    if {digest_of(text, "passage") for text in texts} == read_vectors(target, embedder.model).keys():
        click.echo(f"{target.name}: nothing to do")
        return
    vectors: dict[str, list[float]] = {}
    with click.progressbar(range(0, len(texts), STEP), label=target.stem, file=sys.stderr) as starts:
        for start in starts:
            batch = texts[start : start + STEP]
            made = embedder.embed(batch, "passage")
            vectors |= {digest_of(text, "passage"): vector for text, vector in zip(batch, made, strict=True)}
    write_vectors(target, embedder.model, vectors)
    click.echo(f"{target.name}: {len(vectors)} vectors, {target.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
