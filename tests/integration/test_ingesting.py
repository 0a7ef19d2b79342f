"""Tests of ingestion on PostgreSQL: norms and pages in, passages and snapshots out, document by document."""

import json
import math
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import text
from tests.integration.changing_norms import BUDGET, LAW, RAISED
from tests.integration.editing import ingest, settle
from tests.scripted_web import ScriptedWeb, WebPage

from clara.adapters.boe.client import BoeClient, GazettePace
from clara.adapters.http.fetcher import FetchBounds, PoliteFetcher
from clara.adapters.postgres.corpus.passages import alone_with
from clara.adapters.postgres.editorial.findings import PostgresFindings, PostgresSnapshots
from clara.adapters.postgres.operations.audit import PostgresAudit
from clara.container import Container
from clara.editorial.intake import Intake, SourceComparison
from clara.editorial.ports import JobOutcome
from clara.editorial.source_ingestion import IngestionChoice, NothingChosenError
from clara.editorial.sources import Live, SourceUnreachableError, Unchanged
from clara.ingestion.norms import UnservedNormError
from clara.ingestion.ports import BusyDocumentError
from clara.knowledge.derivations import read_derivations
from clara.knowledge.law.passages import LAW_CORPUS
from clara.knowledge.procedure import madrid_today
from clara.knowledge.sources import RegisteredSource, SourceKind
from clara.processes.source_readers import in_the_net
from clara.retrieval.ports import EmbedderUnavailableError, Role
from clara.settings import Settings, resources

NORM = "BOE-A-2015-10566"
DATA = Path(__file__).parents[1] / "data"


class CountingEmbedder:
    """Embeds by the length of a text, at once, and counts."""

    model = "counting"
    dimensions = 2

    def __init__(self) -> None:
        self.texts = 0
        self.tired = False

    def embed(self, texts: Sequence[str], role: Role) -> list[list[float]]:
        """Embed and count."""
        if self.tired:
            raise EmbedderUnavailableError("tired")
        self.texts += len(texts)
        return [[math.cos(len(text) / 1_000), math.sin(len(text) / 1_000)] for text in texts]


class Bench:
    """Container on a database, with an embedder that counts, and a folder of norms to be changed."""

    def __init__(self, services: "CountingServices", folder: Path) -> None:
        self.services = services
        self.folder = folder
        self.embedder = services.counting
        self.said: list[str] = []
        self.snapshots = PostgresSnapshots(services.engine)

    def write(self, number: str, *articles: str, updated: str = "2026-01-01") -> None:
        """Write a norm with these articles."""
        numbered = "\n\n".join(f"##### Artículo {place}.\n\n{article}" for place, article in enumerate(articles, 1))
        front = (
            f'---\ntitle: "Ley {number}"\nidentifier: "{number}"\npublication_date: "2020-01-01"\nlast_updated: "{updated}"\n'
            f'source: "https://www.boe.es/eli/es/l/2020/01/01/{number[-1]}"\n---\n'
        )
        (self.folder / f"{number}.md").write_text(f"{front}# Ley {number}\n\n{numbered}\n", "utf-8")

    def ingest(self, **changes: object) -> JobOutcome:
        """Ingest the folder."""
        self.said.clear()
        self.embedder.texts = 0
        chosen = IngestionChoice(**{"norms": True, "folder": self.folder, **changes})
        return ingest(self.services, chosen, nothing, self.said.append)

    def passages(self) -> dict[str, str]:
        """Give what the index holds of the law."""
        with self.services.engine.connect() as connection:
            rows = connection.execute(text("select id, text from passages where corpus = :law"), {"law": LAW_CORPUS})
            return {row.id: row.text for row in rows}


class CountingServices(Container):
    """Container whose corpora are embedded by the counting embedder."""

    def __init__(self, settings: Settings, url: str) -> None:
        super().__init__(settings, url)
        self.counting = CountingEmbedder()

    def filling(self, corpus: str) -> CountingEmbedder:
        """Give it, whatever the corpus."""
        del corpus
        return self.counting


def nothing(source: RegisteredSource, served: object) -> Live:
    raise SourceUnreachableError(f"{source.id} was read in the net")


@pytest.fixture
def bench(empty_url: str, tmp_path: Path) -> Iterator[Bench]:
    folder = tmp_path / "norms"
    folder.mkdir()
    services = CountingServices(Settings(clara_spool=tmp_path / "spool"), empty_url)
    made = Bench(services, folder)
    made.write("BOE-A-2020-1", "El plazo es de diez días.", "La tasa es de 20 euros.")
    made.write("BOE-A-2020-2", "Todos tienen derecho.")
    (folder / "README.md").write_text("Normas de prueba.", "utf-8")
    yield made
    services.close()


def states(bench: Bench, number: str) -> list[str]:
    with bench.services.engine.connect() as connection:
        rows = connection.execute(text("select state from snapshots where source_id = :id order by id"), {"id": number})
        return list(rows.scalars())


def test_first_ingestion(bench: Bench) -> None:
    """Every norm is indexed article by article, its wording is served, and the look at it is remembered."""
    outcome = bench.ingest()
    assert outcome.exit_code == 0
    assert outcome.report["outcomes"] == {"new": 2}
    assert outcome.report["total"] == {"written": 3, "embedded": 3, "dropped": 0, "kept": 0}
    assert bench.passages()["BOE-A-2020-1.a1"] == "El plazo es de diez días."
    assert states(bench, "BOE-A-2020-1") == ["served"]
    assert [(check.source_id, check.outcome) for check in bench.snapshots.checks()] == [
        ("BOE-A-2020-1", "new"),
        ("BOE-A-2020-2", "new"),
    ]
    assert bench.said[-1].startswith("2 sources (2 new): wrote 3 passages (3 new vectors)")


def test_again_embeds_and_writes_nothing(bench: Bench) -> None:
    """What did not change stays as it is: nothing is embedded, nothing written, and only one snapshot is there."""
    bench.ingest()
    outcome = bench.ingest()
    assert (outcome.exit_code, bench.embedder.texts) == (0, 0)
    assert outcome.report["total"] == {"written": 0, "embedded": 0, "dropped": 0, "kept": 3}
    assert outcome.report["documents"] == []
    assert outcome.report["unchanged"] == ["BOE-A-2020-1", "BOE-A-2020-2"]
    assert states(bench, "BOE-A-2020-1") == ["served"]


def test_a_change_of_substance_waits(bench: Bench) -> None:
    """A new deadline is not served by itself: the old one stays, whole, and a person finds the change in the review."""
    bench.ingest()
    before = bench.passages()
    bench.write("BOE-A-2020-1", "El plazo es de quince días.", "La tasa es de 20 euros.", updated="2026-06-01")
    outcome = bench.ingest()
    assert outcome.exit_code == 1
    assert outcome.report["outcomes"] == {"unchanged": 1, "waiting": 1}
    assert bench.passages() == before
    assert states(bench, "BOE-A-2020-1") == ["served", "waiting"]
    (finding,) = PostgresFindings(bench.services.engine).open()
    assert (finding.source_id, finding.place, finding.weight) == ("BOE-A-2020-1", "a1", "substantive")
    assert "1 changes wait" in "\n".join(bench.said)
    assert bench.ingest().exit_code == 1
    assert len(PostgresFindings(bench.services.engine).open()) == 1


def test_an_operator_may_accept(bench: Bench) -> None:
    """Whoever says so serves the change at once, and nothing waits any more; only what changed is embedded."""
    bench.ingest()
    bench.write("BOE-A-2020-1", "El plazo es de quince días.", updated="2026-06-01")
    bench.ingest()
    outcome = bench.ingest(accept=True)
    assert outcome.exit_code == 0
    assert outcome.report["total"] == {"written": 1, "embedded": 1, "dropped": 1, "kept": 1}
    assert bench.passages()["BOE-A-2020-1.a1"] == "El plazo es de quince días."
    assert "BOE-A-2020-1.a2" not in bench.passages()
    assert states(bench, "BOE-A-2020-1") == ["past", "served"]
    assert PostgresFindings(bench.services.engine).open() == []
    acts = PostgresAudit(bench.services.engine).entries(10)
    assert {(act.actor, act.act) for act in acts} == {("cli", "ingest --accept"), ("cli", "review accepted")}


def test_what_is_accepted_at_once_blesses_no_fact(bench: Bench) -> None:
    """With --accept the new wording is served, and the facts that it touches are in doubt until each is decided."""
    file = bench.folder / f"{BUDGET}.md"
    file.write_text(LAW, "utf-8")
    bench.ingest()
    file.write_text(RAISED, "utf-8")
    assert bench.ingest(accept=True).exit_code == 0
    assert states(bench, BUDGET) == ["past", "served"]
    (finding,) = PostgresFindings(bench.services.engine).undecided()
    assert {"arraigo-requisitos-07", "bono_social_electrico-requisitos-06"} <= set(finding.undecided)
    assert set(bench.services.flagged()) == set(finding.undecided)


def test_what_a_person_accepted_is_indexed(bench: Bench) -> None:
    """A snapshot that the review serves is what the next ingestion brings into the index."""
    bench.ingest()
    bench.write("BOE-A-2020-1", "El plazo es de quince días.", "La tasa es de 20 euros.", updated="2026-06-01")
    bench.ingest()
    findings = PostgresFindings(bench.services.engine)
    findings.accept(findings.open()[0].id, [], "cli")
    outcome = bench.ingest()
    # Each passage says of which version it is; only the text that changed is embedded.
    assert (outcome.exit_code, outcome.report["total"]["written"], bench.embedder.texts) == (0, 2, 1)
    assert bench.passages()["BOE-A-2020-1.a1"] == "El plazo es de quince días."


def test_what_a_person_rejected_stays_out(bench: Bench) -> None:
    """The same words do not wait again."""
    bench.ingest()
    bench.write("BOE-A-2020-1", "El plazo es de quince días.", "La tasa es de 20 euros.", updated="2026-06-01")
    bench.ingest()
    findings = PostgresFindings(bench.services.engine)
    findings.reject(findings.open()[0].id, "una errata", "cli")
    outcome = bench.ingest()
    assert (outcome.exit_code, outcome.report["total"]["written"]) == (0, 0)
    assert states(bench, "BOE-A-2020-1") == ["served", "rejected"]


def test_typography_goes_live(bench: Bench) -> None:
    """What changes no word is served by itself."""
    bench.ingest()
    bench.write("BOE-A-2020-1", "El plazo es de diez  días .", "La tasa es de 20 euros.", updated="2026-06-01")
    outcome = bench.ingest()
    assert outcome.exit_code == 0
    assert outcome.report["outcomes"] == {"cosmetic": 1, "unchanged": 1}
    assert states(bench, "BOE-A-2020-1") == ["past", "served"]


def test_an_older_wording_is_refused(bench: Bench) -> None:
    """A folder of last year does not turn back the law, unless somebody insists."""
    bench.write("BOE-A-2020-1", "El plazo es de quince días.", updated="2026-06-01")
    bench.ingest()
    bench.write("BOE-A-2020-1", "El plazo es de diez días.", updated="2026-01-01")
    outcome = bench.ingest()
    assert outcome.exit_code == 1
    assert "older than what is served" in outcome.report["documents"][0]["detail"]
    assert states(bench, "BOE-A-2020-1") == ["served"]
    assert bench.ingest(accept=True).exit_code == 0
    assert bench.passages()["BOE-A-2020-1.a1"] == "El plazo es de diez días."


def test_a_dry_run_says_what_the_real_one_does(bench: Bench) -> None:
    """Nothing is written or embedded, not even the look; then the real run does as announced."""
    bench.ingest()
    bench.write("BOE-A-2020-2", "Todas tienen derecho.", "Nuevo artículo.", updated="2026-06-01")
    before = (bench.passages(), states(bench, "BOE-A-2020-2"), bench.snapshots.checks())
    announced = bench.ingest(dry_run=True, accept=True).report["total"]
    assert bench.embedder.texts == 0
    assert (bench.passages(), states(bench, "BOE-A-2020-2"), bench.snapshots.checks()) == before
    assert any("would write 2 passages" in line for line in bench.said)
    assert bench.ingest(accept=True).report["total"] == announced


def test_a_dry_run_of_nothing(bench: Bench) -> None:
    """Before anything is there, a dry run announces all of it; of a change that waits, nothing."""
    assert bench.ingest(dry_run=True).report["total"]["written"] == 3
    assert bench.passages() == {}
    bench.ingest()
    bench.write("BOE-A-2020-2", "Nadie tiene derecho.", updated="2026-06-01")
    announced = bench.ingest(dry_run=True)
    assert (announced.exit_code, announced.report["total"]["written"]) == (1, 0)


def test_anew(bench: Bench) -> None:
    """Whoever forces it has everything embedded again, whatever is remembered."""
    bench.ingest()
    assert bench.ingest(anew=True).report["total"] == {"written": 3, "embedded": 3, "dropped": 0, "kept": 0}
    assert bench.embedder.texts == 3


def test_one_bad_document_stops_no_other(bench: Bench) -> None:
    """Each fault is named; what is sound is ingested."""
    (bench.folder / "BOE-A-2020-3.md").write_text("no front matter", "utf-8")
    (bench.folder / "BOE-A-2020-4.md").write_bytes(b"\xff\xfe\x00")
    shutil.copy(bench.folder / "BOE-A-2020-1.md", bench.folder / "BOE-A-2020-5.md")
    outcome = bench.ingest()
    assert outcome.exit_code == 1
    assert outcome.report["outcomes"] == {"failed": 3, "new": 2}
    assert len(bench.passages()) == 3
    details = {entry["source"]: entry["detail"] for entry in outcome.report["documents"]}
    assert "line 1" in details["BOE-A-2020-3"]
    assert "holds BOE-A-2020-1" in details["BOE-A-2020-5"]


def test_when_nothing_could_be_ingested(bench: Bench) -> None:
    """A run that got nowhere could not run."""
    for path in bench.folder.glob("*.md"):
        path.write_text("no norm", "utf-8")
    assert bench.ingest().exit_code == 2


def test_an_embedder_that_is_out_leaves_what_was(bench: Bench) -> None:
    """The index holds the old wording whole; the next run, which finds nothing new to read, brings in the new one."""
    bench.ingest()
    before = bench.passages()
    bench.write("BOE-A-2020-1", "El plazo es de quince días.", "Hay tasa.", updated="2026-06-01")
    bench.embedder.tired = True
    outcome = bench.ingest(accept=True)
    assert (outcome.exit_code, outcome.report["outcomes"]) == (1, {"failed": 1, "unchanged": 1})
    assert bench.passages() == before
    bench.embedder.tired = False
    assert bench.ingest().exit_code == 0
    assert bench.passages()["BOE-A-2020-1.a2"] == "Hay tasa."


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        pytest.param(IngestionChoice(sources=("nowhere",)), "there is no source 'nowhere'", id="unknown-source"),
        pytest.param(IngestionChoice(norms=True, folder=DATA / "gemini_wire"), "holds no norm as Markdown", id="empty-folder"),
    ],
)
def test_what_cannot_be_chosen(bench: Bench, chosen: IngestionChoice, expected: str) -> None:
    """Nothing happens, and the message says what there is."""
    with pytest.raises(NothingChosenError, match=expected):
        ingest(bench.services, chosen, nothing, bench.said.append)
    assert bench.said == []


def test_real_norms(bench: Bench) -> None:
    """Norms as they are published are ingested, and their next state gives exactly what changed, for review."""
    for path in bench.folder.glob("*.md"):
        path.unlink()
    for path in (DATA / "legislation_2026-04-25").glob("*.md"):
        shutil.copy(path, bench.folder)
    assert bench.ingest().exit_code == 0
    held = bench.passages()
    assert held
    for path in bench.folder.glob("*.md"):
        shutil.copy(DATA / "legislation" / path.name, bench.folder)
    outcome = bench.ingest()
    assert outcome.report["outcomes"].get("failed") is None
    assert bench.passages() == held
    assert outcome.exit_code == 1


def test_nothing_to_settle(bench: Bench) -> None:
    """A norm of which nothing is served is not indexed."""
    with pytest.raises(UnservedNormError, match="BOE-A-2020-9"):
        settle(bench.services, "BOE-A-2020-9")


def test_a_document_that_somebody_else_has(bench: Bench) -> None:
    """Who comes second waits for the first, and gives up after a while."""
    bench.ingest()
    engine = bench.services.engine
    with alone_with(engine, LAW_CORPUS, "BOE-A-2020-1"):
        with pytest.raises(BusyDocumentError, match="BOE-A-2020-1"), alone_with(engine, LAW_CORPUS, "BOE-A-2020-1", 0.1):
            raise AssertionError
        with alone_with(engine, LAW_CORPUS, "BOE-A-2020-2", 0.1):
            pass
    assert settle(bench.services, "BOE-A-2020-1").kept == 2


PAGE = RegisteredSource(
    "interior-nie", "Interior", SourceKind.HTML, "http://127.0.0.1/nie", ("nie",), "127.0.0.1", 14, 0.0, official=False
)


@pytest.fixture
def web() -> Iterator[tuple[ScriptedWeb, str]]:
    web = ScriptedWeb()
    with web.serving() as address:
        yield web, address


def comparison(bench: Bench) -> SourceComparison:
    findings = PostgresFindings(bench.services.engine)
    return SourceComparison(bench.snapshots, findings, (), read_derivations(resources() / "data"))


def test_pages(bench: Bench, web: tuple[ScriptedWeb, str]) -> None:
    """A page is kept when it is new, asked with its tag, served when only its dress changed, and waits when its figures did."""
    server, address = web
    source = replace(PAGE, url=f"{address}/nie")
    fetcher = PoliteFetcher(bounds=FetchBounds(tries=1), inside=("127.0.0.1",))
    gazette = BoeClient(address, GazettePace(pause_seconds=0.0, tries=1))
    read = in_the_net(fetcher, gazette, madrid_today())
    intake = Intake(comparison(bench))

    def taken(body: str, etag: str | None = None) -> str:
        server.put("/nie", WebPage(body.encode(), etag=etag))
        result = intake.take(source, read)
        return "waits" if result.outcome == "waiting" else result.outcome

    assert taken("<main><p>La tasa es de 9,84 euros.</p></main>", '"1"') == "new"
    assert taken("<main><p>Otra cosa.</p></main>", '"1"') == "unchanged"  # the host says so itself
    assert taken("<main>La  tasa es de <b>9,84</b> euros.</main>") == "unchanged"
    assert taken("<main><p>La tasa es de 9,84 euros</p></main>") == "cosmetic"
    assert taken("<main><p>La tasa es de 16,08 euros.</p></main>") == "waits"
    served = bench.snapshots.served("interior-nie")
    assert served is not None
    assert served.content == "La tasa es de 9,84 euros"
    fetcher.close()
    gazette.close()


def test_a_source_that_is_away(bench: Bench, web: tuple[ScriptedWeb, str]) -> None:
    """An outage is remembered as such, and what is served stays."""
    server, address = web
    fetcher = PoliteFetcher(bounds=FetchBounds(tries=1), inside=("127.0.0.1",))
    gazette = BoeClient(address, GazettePace(pause_seconds=0.0, tries=1))
    server.put("/nothing", WebPage(b""))
    read = in_the_net(fetcher, gazette, madrid_today())
    chosen = IngestionChoice(sources=("interior-nie", NORM))
    outside = ingest(
        bench.services, chosen, lambda source, served: read(replace(source, url=f"{address}/a", domain="127.0.0.1"), served),
        bench.said.append,
    )  # fmt: skip
    assert outside.exit_code == 2
    assert [(check.outcome, check.reached_at) for check in bench.snapshots.checks()] == [("unreachable", None)] * 2
    fetcher.close()
    gazette.close()


def test_a_norm_from_the_gazette(bench: Bench, web: tuple[ScriptedWeb, str]) -> None:
    """The consolidated law is read through the gazette's interface and indexed."""
    server, address = web
    path = f"/datosabiertos/api/legislacion-consolidada/id/{NORM}"
    for file in (DATA / "boe_consolidated").glob("*.xml"):
        server.put(f"{path}/{file.name.partition('_')[0]}", WebPage(file.read_bytes(), media_type="application/xml"))
    gazette = BoeClient(address, GazettePace(pause_seconds=0.0, tries=1))
    read = in_the_net(PoliteFetcher(), gazette, madrid_today())
    outcome = ingest(bench.services, IngestionChoice(sources=(NORM,)), read, bench.said.append)
    assert outcome.exit_code == 0, bench.said
    assert bench.passages()
    gazette.close()


def test_unchanged_needs_something_served(bench: Bench) -> None:
    """A source that says nothing changed is looked at and left alone."""
    intake = Intake(comparison(bench))
    assert intake.take(PAGE, lambda source, _served: Unchanged(source.url)).outcome == "unchanged"


def test_the_report_is_json(bench: Bench) -> None:
    """Automation can read it."""
    report = json.loads(json.dumps(bench.ingest().report))
    assert {entry["source"]: entry["written"] for entry in report["documents"]} == {"BOE-A-2020-1": 2, "BOE-A-2020-2": 1}


def test_one_norm_of_a_folder(bench: Bench) -> None:
    """With a source named, only its file is read; a source without a file there is read in the net."""
    assert bench.ingest(sources=(NORM,), folder=DATA / "legislation_2026-04-25").exit_code == 2
    assert "was read in the net" in bench.said[0]
    outcome = bench.ingest(sources=("BOE-A-2003-10715",), folder=DATA / "legislation_2026-04-25")
    assert outcome.report["outcomes"] == {"new": 1}
