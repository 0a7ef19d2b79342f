"""Tests of one ingestion from beginning to end, on a store in memory."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from memory_store import MemoryStore
from unit_builders import row_of

from clara.ingestion.journey import IngestionReport, IngestionScope, WholeCorpusError, ingest
from clara.ingestion.ports import CorpusUnavailableError
from clara.retrieval.passage import Passage
from clara.retrieval.ports import EmbedderUnavailableError, Role
from clara.retrieval.profile import Profile


class CountingEmbedder:
    """Gives each text a direction by its length and notes the texts; fails once it has embedded `patience` texts."""

    model = "fake"
    dimensions = 2

    def __init__(self, patience: int = 10_000) -> None:
        self.texts: list[str] = []
        self.roles: set[Role] = set()
        self._patience = patience

    def embed(self, texts: Sequence[str], role: Role) -> list[list[float]]:
        """Embed and count."""
        if len(self.texts) + len(texts) > self._patience:
            raise EmbedderUnavailableError("tired")
        self.texts.extend(texts)
        self.roles.add(role)
        return [direction(text) for text in texts]


def direction(text: str) -> list[float]:
    """Give the unit vector of a text: the longer, the steeper."""
    return [math.cos(len(text) / 1_000), math.sin(len(text) / 1_000)]


def passages(count: int) -> list[Passage]:
    """Make so many passages of different lengths."""
    return [row_of(f"nie-plazos-{place:02}", "x" * place) for place in range(1, count + 1)]


@pytest.fixture
def store() -> MemoryStore:
    """An empty store."""
    return MemoryStore()


@pytest.mark.parametrize("count", [0, 1, 15, 16, 17, 40])
def test_first_run(store: MemoryStore, count: int) -> None:
    """The first run embeds every passage once, as a passage, with its own vector, and stores it."""
    embedder, wanted = CountingEmbedder(), passages(count)
    report = ingest("clara", wanted, store, embedder)
    assert report == IngestionReport("clara", written=count, embedded=count, dropped=0, kept=0, dry_run=False)
    assert sorted(embedder.texts) == sorted(passage.indexed_text for passage in wanted)
    assert embedder.roles <= {"passage"}
    held = store.corpora.get("clara", {})
    assert {name: written.passage for name, written in held.items()} == {passage.id: passage for passage in wanted}
    assert all(list(written.vector) == direction(written.passage.indexed_text) for written in held.values())


def test_second_run_embeds_nothing(store: MemoryStore) -> None:
    """Running again with the same passages embeds nothing and does not touch the store."""
    ingest("clara", passages(20), store, CountingEmbedder())
    embedder = CountingEmbedder(patience=0)
    report = ingest("clara", passages(20), store, embedder)
    assert report == IngestionReport("clara", written=0, embedded=0, dropped=0, kept=20, dry_run=False)
    assert len(store.changes) == 1


def test_dry_run_writes_nothing(store: MemoryStore) -> None:
    """A dry run says what would be done, and embeds and writes nothing."""
    ingest("clara", passages(3), store, CountingEmbedder())
    before = dict(store.corpora["clara"])
    wanted = [replace(passages(3)[0], text="Nuevo."), replace(passages(3)[1], territory="ES-MD"), *passages(5)[3:]]
    report = ingest("clara", wanted, store, CountingEmbedder(patience=0), dry_run=True)
    assert report == IngestionReport("clara", written=4, embedded=3, dropped=1, kept=0, dry_run=True)
    assert store.corpora["clara"] == before


def test_dry_run_tells_the_truth(store: MemoryStore) -> None:
    """The real run does exactly what the dry run announced."""
    ingest("clara", passages(3), store, CountingEmbedder())
    wanted = [*passages(2), row_of("tie-plazos-01")]
    announced = ingest("clara", wanted, store, CountingEmbedder(), dry_run=True)
    assert ingest("clara", wanted, store, CountingEmbedder()) == replace(announced, dry_run=False)


def test_changed_metadata_keeps_the_vector(store: MemoryStore) -> None:
    """A passage of which only the metadata changed is written with the vector it had."""
    ingest("clara", passages(2), store, CountingEmbedder())
    old = store.corpora["clara"]["nie-plazos-01"]
    moved = [replace(passages(2)[0], territory="ES-MD"), passages(2)[1]]
    report = ingest("clara", moved, store, CountingEmbedder(patience=0))
    new = store.corpora["clara"]["nie-plazos-01"]
    assert (report.written, report.embedded, report.kept) == (1, 0, 1)
    assert (new.passage.territory, list(new.vector), new.vector_digest) == ("ES-MD", list(old.vector), old.vector_digest)


def test_changed_text_is_embedded(store: MemoryStore) -> None:
    """A passage whose text changed gets a vector of the new text."""
    ingest("clara", passages(2), store, CountingEmbedder())
    changed = replace(passages(2)[0], text="Un texto mucho más largo.")
    report = ingest("clara", [changed, passages(2)[1]], store, CountingEmbedder())
    assert (report.written, report.embedded) == (1, 1)
    assert store.corpora["clara"][changed.id].vector == direction(changed.indexed_text)


def test_dropped(store: MemoryStore) -> None:
    """A passage that is no longer wanted leaves the store, without a call of the embedder."""
    ingest("clara", passages(3), store, CountingEmbedder())
    report = ingest("clara", passages(2), store, CountingEmbedder(patience=0))
    assert (report.dropped, report.kept) == (1, 2)
    assert sorted(store.corpora["clara"]) == ["nie-plazos-01", "nie-plazos-02"]


def test_other_corpora_stay(store: MemoryStore) -> None:
    """An ingestion of one corpus leaves the others as they are."""
    ingest("otro", passages(2), store, CountingEmbedder())
    ingest("clara", passages(1), store, CountingEmbedder())
    ingest("clara", [], store, CountingEmbedder())
    assert (len(store.corpora["otro"]), len(store.corpora["clara"])) == (2, 0)


@pytest.mark.parametrize("patience", [pytest.param(0, id="at-once"), pytest.param(20, id="after-some")])
def test_embedder_failure(store: MemoryStore, patience: int) -> None:
    """When the embedder fails, at once or in the middle, the store is as it was, drops included."""
    ingest("clara", passages(2), store, CountingEmbedder())
    before = dict(store.corpora["clara"])
    with pytest.raises(EmbedderUnavailableError):
        ingest("clara", passages(60)[1:], store, CountingEmbedder(patience))
    assert store.corpora["clara"] == before
    assert len(store.changes) == 1


def test_store_failure(store: MemoryStore) -> None:
    """A store that is down is an error, never an empty corpus."""
    store.down = True
    embedder = CountingEmbedder()
    with pytest.raises(CorpusUnavailableError):
        ingest("clara", passages(2), store, embedder)
    assert embedder.texts == []


@pytest.mark.parametrize("count", [1, 16, 17, 40])
def test_progress(store: MemoryStore, count: int) -> None:
    """Progress rises with every report and ends at the number of passages embedded."""
    seen: list[tuple[int, int]] = []
    ingest("clara", passages(count), store, CountingEmbedder(), progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (count, count)
    assert [done for done, _ in seen] == sorted({done for done, _ in seen})
    assert {total for _, total in seen} == {count}


def test_real_passages(real: Any, store: MemoryStore) -> None:
    """The real passages go in once and stay without a further vector."""
    first = ingest("clara", real.passages, store, CountingEmbedder())
    again = ingest("clara", real.passages, store, CountingEmbedder(patience=0))
    assert first.embedded == again.kept == len(real.passages) > 0


def test_one_document_is_ingested_alone(store: MemoryStore) -> None:
    """With a document in the scope the others stay, and what the document no longer has is dropped."""
    ingest(
        "law",
        [row_of("nie-plazos-01"), row_of("tie-plazos-01"), row_of("tie-plazos-02")],
        store,
        CountingEmbedder(),
    )
    wanted = [row_of("tie-plazos-01", "Otro texto.")]
    report = ingest(IngestionScope("law", "tie"), wanted, store, CountingEmbedder())
    assert report == IngestionReport("law", written=1, embedded=1, dropped=1, kept=0, dry_run=False)
    assert set(store.corpora["law"]) == {"nie-plazos-01", "tie-plazos-01"}
    assert store.changes[-1].document == "tie"


def test_one_document_again_embeds_nothing(store: MemoryStore) -> None:
    """A document that did not change is left alone, under whatever profile its corpus was written."""
    wanted = [row_of("tie-plazos-01")]
    ingest(IngestionScope("law", "tie"), wanted, store, CountingEmbedder())
    store.profile = replace(store.profile, name="other")
    assert ingest(IngestionScope("law", "tie"), wanted, store, CountingEmbedder(patience=0)).kept == 1
    assert len(store.changes) == 1


def test_anew(store: MemoryStore) -> None:
    """Ingesting anew embeds and writes everything, and drops as ever."""
    ingest("clara", passages(3), store, CountingEmbedder())
    embedder = CountingEmbedder()
    report = ingest(IngestionScope("clara", anew=True), passages(2), store, embedder)
    assert report == IngestionReport("clara", written=2, embedded=2, dropped=1, kept=0, dry_run=False)
    assert len(embedder.texts) == 2


@pytest.mark.parametrize(
    ("profile", "passage"),
    [
        pytest.param(Profile(links=0.5), row_of("tie-plazos-01"), id="follows-names"),
        pytest.param(Profile(), row_of("nie-plazos-01"), id="of-another-document"),
    ],
)
def test_what_cannot_be_ingested_alone(profile: Profile, passage: Passage) -> None:
    """Whom a text names is known of a whole corpus only, and a document brings no passage of another."""
    store = MemoryStore(profile)
    with pytest.raises(WholeCorpusError, match="tie cannot be ingested alone"):
        ingest(IngestionScope("law", "tie"), [passage], store, CountingEmbedder(patience=0))
    assert store.changes == []
