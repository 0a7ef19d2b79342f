"""The vectors of norms that a release carries: loading the law embeds only what has changed since."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from tests.unit.knowledge.law.law_samples import DATA

from clara.adapters.models.local import LocalEmbedder
from clara.container import Container
from clara.knowledge.law.markdown import read_markdown
from clara.knowledge.law.norm import Norm
from clara.knowledge.law.passages import LAW_CORPUS, passages_of_norm
from clara.processes.editorial import build_norms
from clara.retrieval.embedders import digest_of, read_vectors
from clara.retrieval.ports import Role
from clara.settings import resources

CARRIED = resources() / "data" / "law_vectors"
NORM = "BOE-A-2010-12710"


class Counted:
    """The bundled embedder, with what it was asked to embed."""

    def __init__(self) -> None:
        self._embedder = LocalEmbedder()
        self.model, self.dimensions = self._embedder.model, self._embedder.dimensions
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str], role: Role) -> list[list[float]]:
        self.texts += texts
        return self._embedder.embed(texts, role)


def norm(name: str) -> Norm:
    return read_markdown((DATA / "legislation" / f"{name}.md").read_text("utf-8"))


def test_the_passages_of_norms_are_there() -> None:
    """What the release carries is of the passages as they are cut today. Where these samples were cut short, a few differ."""
    wanted, known = set[str](), set[str]()
    for file in (DATA / "legislation").glob("*.md"):
        wanted |= {digest_of(passage.indexed_text, "passage") for passage in passages_of_norm(norm(file.stem), LAW_CORPUS)}
        known |= read_vectors(CARRIED / f"{file.stem}.npz", LocalEmbedder.model).keys()
    assert len(wanted & known) > 0.95 * len(wanted) > 50


def test_only_what_changed_is_embedded(empty_url: str, services_on: Callable[..., Container]) -> None:
    """A norm as the release knows it embeds nothing; a changed article embeds itself; `anew` embeds all, for whoever doubts."""
    services = services_on(empty_url)
    services.migrate()
    counted = Counted()
    services.embedder = counted
    read = norm(NORM)
    report = build_norms(services).fill(read)
    assert report.written == len(passages_of_norm(read, LAW_CORPUS)) > 1
    assert counted.texts == []
    passage = passages_of_norm(read, LAW_CORPUS)[0]
    changed = replace(
        read,
        provisions=tuple(
            replace(one, text=f"{one.text} Y algo nuevo.") if one.key == passage.section else one for one in read.provisions
        ),
    )
    assert build_norms(services).fill(changed).embedded == len(counted.texts) == 1
    again = build_norms(services).fill(changed, anew=True)
    assert again.embedded == len(passages_of_norm(changed, LAW_CORPUS))
    assert len(counted.texts) == 1 + again.embedded


def test_carried_vectors_are_the_models_own() -> None:
    """They were made by this model: the vector of a passage, made here, is the one that is carried."""
    passages = passages_of_norm(norm(NORM), LAW_CORPUS)[:2]
    known = read_vectors(CARRIED / f"{NORM}.npz", LocalEmbedder.model)
    for passage, made in zip(passages, LocalEmbedder().embed([one.indexed_text for one in passages], "passage"), strict=True):
        carried = known[digest_of(passage.indexed_text, "passage")]
        cosine = sum(one * other for one, other in zip(made, carried.astype(float), strict=True))
        assert cosine > 0.9995
