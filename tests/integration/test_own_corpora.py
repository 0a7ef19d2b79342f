"""Corpora of an operator's own, through the jobs and the command line: loaded, resumed, searched, compared, dropped."""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.integration.editing import search
from tests.integration.wired import CommandLine, WordEmbedder, database, wired

from clara.adapters.postgres.corpus.passages import UnknownCorpusError
from clara.adapters.postgres.embedded import EmbeddedServer
from clara.container import Container
from clara.ingestion.corpora import CorpusNameError, Cutting, corpora_lines, drop, load
from clara.ingestion.documents import UnreadableDocumentsError
from clara.ingestion.journey import STEP, IngestionReport
from clara.processes.commands import measure_recall
from clara.retrieval.ports import EmbedderUnavailableError
from clara.retrieval.profile import ProfileError
from clara.retrieval.search import SearchChoice

CITIES = [
    {"id": "lima", "title": "Lima", "text": "A city by the sea with much fog.", "collection": "coast", "language": "en"},
    {"id": "quito", "title": "Quito", "text": "A city high in the mountains.", "collection": "sierra", "language": "en"},
    {"id": "cusco", "title": "Cusco", "text": "An old city high in the mountains.", "collection": "sierra", "language": "es"},
]
# The two with the tag hold the same words but one, so that only a filter tells them apart.
CITIES[1]["metadata"] = {"tags": ["capital", "high"], "source": "atlas"}
CITIES[2]["metadata"] = {"tags": ["high"], "source": "guide"}
LONG = "\n\n".join(f"Paragraph {number} speaks of thing{number}. " + "It says more and more. " * 12 for number in range(12))
WHOLE = {"strategy": "none"}
Loaded = Callable[..., IngestionReport]


@pytest.fixture
def embedder() -> WordEmbedder:
    return WordEmbedder()


@pytest.fixture
def services(empty_url: str, embedder: WordEmbedder) -> Iterator[Container]:
    """Container on an empty database, with an embedder that takes no time."""
    with wired(empty_url) as made:
        made.embedder = embedder
        yield made


def written(folder: Path, documents: list[Mapping[str, Any]]) -> Path:
    file = folder / "documents.jsonl"
    file.write_text("".join(json.dumps(document) + "\n" for document in documents))
    return file


@pytest.fixture
def loaded(services: Container, tmp_path: Path) -> Loaded:
    """Make a corpus hold some documents."""

    def make(
        *documents: Mapping[str, Any], name: str = "cities", profile: str = "prose", cutting: Mapping[str, Any] = WHOLE
    ) -> IngestionReport:
        file = written(tmp_path, list(documents))
        return load(
            services,
            name,
            file,
            profile=profile,
            cutting=Cutting(**cutting),
            progress=lambda _done, _total: None,
        )

    return make


def found(services: Container, text: str, corpus: str = "cities", **more: Any) -> list[str]:
    return [hit["passage_id"] for hit in search(services, text, SearchChoice(10, corpus, **more))["hits"]]


def counts(report: IngestionReport) -> tuple[int, int, int, int]:
    return report.written, report.embedded, report.dropped, report.kept


def test_a_long_text_is_cut(services: Container, loaded: Loaded, embedder: WordEmbedder) -> None:
    """Recursively into numbered passages no longer than asked, or not at all; each way everything is found."""
    report = loaded(
        {"id": "long", "title": "Things", "text": LONG}, cutting={"strategy": "recursive", "size": 120, "overlap": 20}
    )
    counter = services.token_counter
    assert report.written == len(embedder.embedded) > 6
    assert all(counter.count(text.partition("\n")[2]) <= 120 for text in embedder.embedded)
    assert found(services, "thing7")[0].startswith("long#")
    assert loaded({"id": "long", "title": "Things", "text": LONG}, cutting=WHOLE).written == 1
    assert found(services, "thing7") == ["long"]


def test_repeating_changes_nothing(services: Container, loaded: Loaded, embedder: WordEmbedder) -> None:
    """The second load keeps everything and embeds nothing; a changed document embeds its own passages; one that left goes."""
    assert counts(loaded(*CITIES)) == (3, 3, 0, 0)
    assert counts(loaded(*CITIES)) == (0, 0, 0, 3)
    assert len(embedder.embedded) == 3
    changed = {**CITIES[0], "text": "A city by the sea without fog."}
    assert counts(loaded(changed, *CITIES[1:])) == (1, 1, 0, 2)
    assert embedder.embedded[3:] == ["Lima\nA city by the sea without fog."]
    assert counts(loaded(*CITIES[1:])) == (0, 0, 1, 2)
    assert found(services, "fog sea") != []
    assert "lima" not in found(services, "fog sea")


def test_a_known_text_is_not_embedded_again(services: Container, loaded: Loaded, embedder: WordEmbedder) -> None:
    """A corpus that was dropped and one of another name take the vectors that were computed before."""
    loaded(*CITIES)
    drop(services, "cities")
    loaded(*CITIES)
    loaded(*CITIES, name="towns")
    assert len(embedder.embedded) == 3


def test_a_killed_load_goes_on(services: Container, tmp_path: Path) -> None:
    """A load that ends half way leaves the corpus as it was, and the next one embeds only what is missing."""
    documents = [{"id": f"d{number}", "title": "", "text": f"word{number} and so on"} for number in range(2 * STEP)]
    file = written(tmp_path, documents)
    dying, fresh = WordEmbedder(most=STEP + 1), WordEmbedder()

    def fill(embedder: WordEmbedder) -> IngestionReport:
        services.embedder = embedder
        whole = Cutting(**WHOLE)
        return load(services, "many", file, profile="prose", cutting=whole, progress=lambda _done, _total: None)

    with pytest.raises(EmbedderUnavailableError):
        fill(dying)
    assert len(corpora_lines(services.passages().corpora())) == 1
    assert fill(fresh).written == 2 * STEP
    assert sorted(dying.embedded + fresh.embedded) == sorted(document["text"] for document in documents)
    assert len(dying.embedded) == STEP


@pytest.mark.parametrize(
    ("asking", "expected"),
    [
        pytest.param({}, {"lima", "quito", "cusco"}, id="all"),
        pytest.param({"collections": ("sierra",)}, {"quito", "cusco"}, id="collection"),
        pytest.param({"collections": ("sierra", "coast")}, {"lima", "quito", "cusco"}, id="either-collection"),
        pytest.param({"collections": ("jungle",)}, set(), id="unknown-collection"),
        pytest.param({"filters": {"tags": ("capital",)}}, {"quito"}, id="one-of-a-list"),
        pytest.param({"filters": {"tags": ("high",), "source": ("guide",)}}, {"cusco"}, id="two-filters"),
        pytest.param({"filters": {"source": ("guide", "atlas")}}, {"quito", "cusco"}, id="either-value"),
        pytest.param({"filters": {"language": ("en",)}}, {"lima", "quito"}, id="language"),
        pytest.param({"filters": {"author": ("nobody",)}}, set(), id="no-such-metadata"),
        pytest.param({"exact": True, "filters": {"tags": ("high",)}}, {"quito", "cusco"}, id="exact"),
    ],
)
def test_filters(services: Container, loaded: Loaded, asking: dict[str, Any], expected: set[str]) -> None:
    """Only passages of the collections and with the metadata that were asked for are found, exactly or by the index."""
    loaded(*CITIES)
    assert set(found(services, "a city high in the mountains by the sea", **asking)) == expected


def test_linked_documents(services: Container, loaded: Loaded) -> None:
    """A corpus of articles keeps which names which, and what is named by a hit comes up with it."""
    article = {"id": "a", "title": "Francisco Pizarro", "text": "He founded a city which today is called Ciudad de los Reyes."}
    loaded(article, {"id": "b", "title": "Ciudad de los Reyes", "text": "Much fog."}, profile="encyclopedia")
    assert corpora_lines(services.passages().corpora())[1].split() == ["cities", "encyclopedia", "2", "2", "1", "default"]
    assert found(services, "Francisco Pizarro founded") == ["a", "b"]


def test_corpora_are_listed(services: Container, loaded: Loaded) -> None:
    """Under a heading, one line each with profile, sizes and collections; a dropped one is gone."""
    assert len(corpora_lines(services.passages().corpora())) == 1
    loaded(*CITIES)
    loaded(CITIES[0], name="one", profile="code")
    assert [line.split() for line in corpora_lines(services.passages().corpora())] == [
        ["corpus", "profile", "documents", "passages", "links", "collections"],
        ["cities", "prose", "3", "3", "0", "coast", "sierra"],
        ["one", "code", "1", "1", "0", "coast"],
    ]
    drop(services, "cities")
    assert [line.split()[0] for line in corpora_lines(services.passages().corpora())] == ["corpus", "one"]
    with pytest.raises(UnknownCorpusError, match="there is no corpus 'cities'"):
        found(services, "fog")


@pytest.mark.parametrize("name", ["clara", "Ä", "a b", "", "-a", "UPPER", "a" * 64, "a\n", "../a", "a;drop"])
def test_bad_names(services: Container, loaded: Loaded, name: str) -> None:
    """A name that is taken or could not be asked for is refused before the file is read, with what is possible."""
    with pytest.raises(CorpusNameError, match=r"up to 63 small letters.*filled by `clara ingest`"):
        loaded(CITIES[0], name=name)
    assert len(corpora_lines(services.passages().corpora())) == 1


@pytest.mark.parametrize("name", ["a", "9", "my-corpus_2", "a" * 63])
def test_good_names(services: Container, loaded: Loaded, name: str) -> None:
    """What may be loaded may be searched and dropped under the same name."""
    loaded(CITIES[0], name=name)
    assert found(services, "fog", name) == ["lima"]
    drop(services, name)


def test_what_cannot_be_done(services: Container, loaded: Loaded) -> None:
    """Unknown corpora and profiles are named with where the known ones are; Clara's own corpus is not dropped."""
    with pytest.raises(CorpusNameError, match="there is no corpus 'towns'; `clara corpus list`"):
        drop(services, "towns")
    with pytest.raises(CorpusNameError, match="it is not dropped"):
        drop(services, "clara")
    with pytest.raises(ProfileError, match="there is no profile 'poetry'; choose one of procedures, prose"):
        loaded(CITIES[0], profile="poetry")
    with pytest.raises(UnknownCorpusError, match="there is no corpus 'towns'"):
        measure_recall(services, "towns", lambda _done, _total: None)
    with pytest.raises(UnreadableDocumentsError, match=r"documents\.jsonl:2: 'text' is missing"):
        loaded(CITIES[0], {"id": "x"})
    assert len(corpora_lines(services.passages().corpora())) == 1


def test_recall(services: Container, loaded: Loaded) -> None:
    """The index finds what an exact search finds in a small corpus; as many are asked for as there are, up to the sample."""
    loaded(*({"id": f"d{number}", "title": "", "text": f"word{number} word{number % 7} more"} for number in range(60)))
    seen: list[tuple[int, int]] = []
    measured = measure_recall(services, "cities", lambda done, total: seen.append((done, total)), sample=25)
    assert (measured.asked, seen[-1]) == (25, (25, 25))
    assert 0.99 <= measured.at_10 <= 1
    assert measure_recall(services, "cities", lambda _done, _total: None).asked == 60


def test_recall_of_equal_passages(services: Container, loaded: Loaded) -> None:
    """Any ten of them are the nearest ten."""
    loaded(*({"id": f"d{number}", "title": "", "text": "the same text everywhere"} for number in range(60)))
    assert measure_recall(services, "cities", lambda _done, _total: None, sample=5).at_10 == 1


@pytest.fixture(scope="module")
def commands(server: EmbeddedServer, templates: dict[str, str]) -> Iterator[CommandLine]:
    with database(server, templates["schema"]) as url:
        line = CommandLine(url)
        yield line
        line.close()


def test_a_corpus_on_the_command_line(commands: CommandLine, tmp_path: Path) -> None:
    """Load, repeat, list, search in its ways, compare the index, see what is remembered, drop: with the real model."""
    file = written(tmp_path, CITIES)
    done = [commands("corpus", "load", "cities", "--jsonl", file) for _ in range(2)]
    assert [ran.out for ran in done] == [
        "cities: wrote 3 passages (3 new vectors), dropped 0, kept 0\n",
        "cities: wrote 0 passages (0 new vectors), dropped 0, kept 3\n",
    ]
    assert commands("corpus", "list").out.splitlines()[1].split() == ["cities", "prose", "3", "3", "0", "coast", "sierra"]
    ask = ["search", "where is there fog?", "--corpus", "cities", "-k", "3", "--json"]
    ways = {
        "all": [],
        "exact": ["--exact"],
        "collection": ["--collection", "sierra"],
        "filter": ["--filter", "tags=capital", "--filter", "tags=coastal"],
    }
    hits = {way: [hit["passage_id"] for hit in json.loads(commands(*ask, *more).out)["hits"]] for way, more in ways.items()}
    assert hits["all"] == hits["exact"] != hits["collection"]
    assert (hits["all"][0], set(hits["collection"]), hits["filter"]) == ("lima", {"quito", "cusco"}, ["quito"])
    page = commands(
        "search", "where is there fog?", "--corpus", "cities", "-k", "3", "--context", "grounded", "--budget", "300"
    )
    assert page.out.startswith("Question: where is there fog?\n\nCite by mark.")
    assert "[C1]" in page.out
    strict = ("search", "where is there fog?", "--corpus", "cities", "--policy", "self", "--bounds", "strict")
    assert commands(*strict).code == 0
    nothing = commands("search", "fog", "--corpus", "cities", "--filter", "source=nobody")
    assert (nothing.code, nothing.out) == (1, "Nothing found (not_found, pgvector).\n")
    compared = commands("index", "recall", "cities")
    assert (compared.code, compared.out) == (0, "recall@10 1.0000 over 3 passages of cities\n")
    assert json.loads(commands("cache", "stats", "--json").out)["embedding_memory"]["entries"] == 3
    assert commands("corpus", "drop", "cities").out == "cities: dropped\n"
    assert len(commands("corpus", "list").out.splitlines()) == 1


LOAD = ["corpus", "load", "cities", "--jsonl", "{good}"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(["corpus", "load", "clara", "--jsonl", "{good}"], "cannot be called 'clara'", id="taken-name"),
        pytest.param(["corpus", "load", "Ä", "--jsonl", "{good}"], "cannot be called 'Ä'", id="letter"),
        pytest.param(["corpus", "load", "a b", "--jsonl", "{good}"], "cannot be called 'a b'", id="blank"),
        pytest.param([*LOAD, "--profile", "poetry"], "there is no profile 'poetry'", id="profile"),
        pytest.param([*LOAD, "--size", "0"], "size is 0 tokens", id="size"),
        pytest.param([*LOAD, "--overlap", "512"], "overlap is 512", id="overlap"),
        pytest.param(["corpus", "load", "cities", "--jsonl", "{faulty}"], "faulty.jsonl:2: not JSON", id="faulty-line"),
        pytest.param(["corpus", "load", "cities", "--jsonl", "{good}.gone"], "does not exist", id="no-file"),
        pytest.param(["corpus", "drop", "towns"], "there is no corpus 'towns'", id="drop-unknown"),
        pytest.param(["corpus", "drop", "clara"], "it is not dropped", id="drop-own"),
        pytest.param(["index", "recall", "towns"], "there is no corpus 'towns'", id="recall-unknown"),
        pytest.param(["search", "x", "--corpus", "towns"], "there is no corpus 'towns'", id="search-unknown"),
        pytest.param(["search", "x", "--context", "simple", "--json"], "prints one page", id="page-as-json"),
        pytest.param(["search", "x", "--filter", "tags"], "write it as KEY=VALUE", id="filter-without-value"),
        pytest.param(["search", "x", "--filter", "colour=red"], "unknown key 'colour'", id="filter-of-no-kind"),
    ],
)
def test_mistakes_on_the_command_line(commands: CommandLine, tmp_path: Path, arguments: list[str], said: str) -> None:
    """Exit code 2 and a sentence that names what was wrong."""
    good, faulty = written(tmp_path, CITIES), tmp_path / "faulty.jsonl"
    faulty.write_text(json.dumps(CITIES[0]) + "\n{cut")
    ran = commands(*(argument.format(good=good, faulty=faulty) for argument in arguments))
    assert (ran.code, ran.raised) == (2, None)
    assert said in ran.err
