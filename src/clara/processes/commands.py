"""What commands of the command line work with, put together from the container."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from clara.answering.journey import Tools
from clara.container import Container
from clara.editorial.as_of import PastMoment
from clara.editorial.ports import Progress
from clara.ingestion.index_change import IndexChange
from clara.knowledge.passages import CORPUS, FactPassage
from clara.processes.editorial import speaking_as_of
from clara.quality.explanation import Explainer
from clara.retrieval.options.context import FIELDS, Context, ContextBuilder, Template
from clara.retrieval.passage import Found, Passage, Query, Retrieve, Status
from clara.retrieval.profile import Profile
from clara.retrieval.search import SAMPLE, CorpusSearch, Recall, SearchChoice, recall


def build_search(container: Container) -> CorpusSearch:
    """Build what searches: Clara's own corpus as she is asked, on the day that was chosen, others by their profiles."""

    def retriever(asking: SearchChoice) -> Retrieve:
        if asking.corpus == CORPUS:
            return container.snapshot(asking.today).retriever if asking.today else container.retriever
        return container.corpus_retriever(asking.corpus, asking.policy, asking.bounds)

    def detect(text: str, corpus: str) -> str | None:
        return container.snapshot().tools.detector.detect(text) if corpus == CORPUS else None

    return CorpusSearch(retriever, detect)


def context_page(container: Container, found: Found, question: str, template: str, budget: int) -> Context:
    """Lay out what was found as a page of at most so many tokens, facts with their sources. Raises ContextBudgetError.

    Raises TokenCounterUnavailableError too.
    """
    hits = found.hits if found.status is Status.FOUND else ()
    fields = {**FIELDS, "source": _source, "verified": _verified}
    return ContextBuilder(container.token_counter, fields).build(question, hits, Template(template), budget)


def _source(passage: Passage) -> str | None:
    return passage.fact.shown_source.url if isinstance(passage, FactPassage) else FIELDS["source"](passage)


def _verified(passage: Passage) -> str | None:
    return str(passage.fact.shown_source.seen_on) if isinstance(passage, FactPassage) else FIELDS["verified"](passage)


def measure_recall(container: Container, name: str, progress: Progress, *, sample: int = SAMPLE) -> Recall:
    """Compare the approximate index of a corpus with an exact search, over a sample. Raises UnknownCorpusError."""
    name = container.served.standing(name).physical
    container.passages().profile_of(name)
    embedder = container.embedders.asking(container.served_model(name))
    index = container.index(Profile(dense=1.0, lexical=0.0), embedder)
    vectors = container.passages(embedder=embedder).sampled_vectors(name, sample)
    return recall(index.search, name, vectors, progress)


def build_index_change(container: Container) -> IndexChange:
    """Build what changes the model that corpora are searched by."""
    return IndexChange(
        container.spaces(), container, container.embedders, lambda name: container.served.standing(name).physical
    )


def build_explainer(container: Container) -> Explainer:
    """Build what explains answers."""

    def plan(query: Query) -> Sequence[str]:
        query = replace(query, corpus=container.served.standing(query.corpus).physical)
        embedder = container.embedders.asking(container.served_model(query.corpus))
        profile = container.profile(container.passages().profile_of(query.corpus))
        return container.index(profile, embedder).plan(query, embedder.embed([query.text], "query")[0])

    @contextmanager
    def as_of(past: PastMoment) -> Iterator[Tools]:
        with speaking_as_of(container, past) as then:
            yield then.tools

    return Explainer(
        build_search(container), lambda: container.snapshot().tools, plan, container.desk, container.evidence, as_of
    )
