"""What a release carries beside its texts agrees with them: the vectors of its passages, and the model of intents."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from clara.container import Container
from clara.knowledge.catalogue import examples_of, read_catalogue
from clara.knowledge.knowledge_base import read_knowledge
from clara.knowledge.questions import digest_of as digest_of_questions
from clara.processes.preparation import fill
from clara.retrieval.embedders import RememberingEmbedder, digest_of, read_vectors
from clara.retrieval.intent import read_intent
from clara.retrieval.passage import Passage
from clara.retrieval.ports import Role
from clara.settings import Settings, resources

SAMPLE = 24


class RefusingEmbedder:
    """Has the real embedder's name and embeds nothing."""

    def __init__(self, model: str, dimensions: int) -> None:
        self.model = model
        self.dimensions = dimensions

    def embed(self, texts: Sequence[str], role: Role) -> list[list[float]]:
        """Fail: everything should have been known."""
        raise AssertionError(f"{len(texts)} texts were not known as {role}, the first is {texts[0]!r}")


@pytest.fixture(scope="module")
def services() -> Container:
    """Container without a database."""
    return Container(Settings(), None)


def passages() -> tuple[Passage, ...]:
    """Give every passage of data/."""
    return read_knowledge(resources() / "data").passages


def test_every_passage_has_its_vector(services: Container) -> None:
    """No passage of data/ needs the embedder at the first start; if this fails, run `python -m clara_lab.makers.vectors`."""
    embedder = services.embedder
    known = read_vectors(resources() / "data" / "vectors.npz", embedder.model)
    assert [passage.id for passage in passages() if digest_of(passage.indexed_text, "passage") not in known] == []
    carried = RememberingEmbedder(RefusingEmbedder(embedder.model, embedder.dimensions), known)
    vectors = carried.embed([passage.indexed_text for passage in passages()], "passage")
    assert {len(vector) for vector in vectors} == {embedder.dimensions}


def test_the_first_start_embeds_nothing(empty_url: str, services_on: Callable[..., Container]) -> None:
    """An empty database is filled from what the release carries, without the model."""
    services = services_on(empty_url)
    real = services.embedder
    services.embedder = RefusingEmbedder(real.model, real.dimensions)
    said: list[str] = []
    report = fill(services, said.append)
    assert (report.written, report.kept, report.dropped) == (len(passages()), 0, 0)
    assert said[-1].startswith(f"clara: wrote {len(passages())} passages")
    assert fill(services, said.append).kept == len(passages())


def test_carried_vectors_are_the_embedders(services: Container) -> None:
    """What is carried is what the embedder would compute: the cosine is at least .999."""
    sample = [passage.indexed_text for passage in passages()[:: len(passages()) // SAMPLE]]
    carried = np.array(services.passage_embedder().embed(sample, "passage"))
    computed = np.array(services.embedder.embed(sample, "passage"))
    cosines = (carried * computed).sum(axis=1)
    assert len(cosines) >= SAMPLE
    assert float(cosines.min()) >= 0.999
    strangers = carried @ computed.T
    assert bool((strangers.argmax(axis=1) == np.arange(len(sample))).all())


def test_the_model_of_intents_is_not_stale() -> None:
    """The model that the release carries was trained on the typical questions and names that it carries."""
    catalogue = read_catalogue(resources() / "data", with_questions=True)
    assert read_intent(resources() / "data" / "intent.npz").about["trained_on"] == digest_of_questions(examples_of(catalogue))
