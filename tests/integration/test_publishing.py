"""Publishing on the real database: tried before it is served, switched at once for everybody, undone, killed, and twice."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread

import psycopg
import pytest
from sqlalchemy.exc import DBAPIError
from tests.contracts.test_cache import redis_server
from tests.integration.correcting import (
    FEE,
    NEW,
    OLD,
    QUESTION,
    answered,
    corpora_of,
    draft,
    judged_well,
    keep_draft,
    raised,
    rows,
    run_publish,
    run_sql,
    states,
    texts_of,
)
from tests.integration.editing import publish, undo, withdraw
from tests.integration.wired import CommandLine, bundled, wired
from tests.journeys.talking import until

from clara.container import Container
from clara.data_files import DataError
from clara.editorial.publication import Candidate, UnknownCorrectionError, listing, listing_lines
from clara.editorial.records import BusyPublishingError, NothingToUndoError, ServedChangedError
from clara.ingestion.corpora import CorpusNameError, drop
from clara.processes.preparation import ensure_corpus, fill
from clara.quality.publication_gate import Measured, PublicationGate, Verdict
from clara.retrieval.metrics import summary
from clara.retrieval.passage import Query
from clara.retrieval.ports import Role
from clara.settings import child_environment

Opened = Callable[..., Container]
WORSE = Verdict(
    Measured((), {"danger test danger": frozenset()}, frozenset()),
    Measured((), {"danger test danger": frozenset({"d1"})}, frozenset({"danger test danger"})),
)


@pytest.fixture
def opened(knowledge_url: str) -> Iterator[Opened]:
    """Open services, as each process does, on one database."""
    with ExitStack() as stack:
        yield lambda **settings: stack.enter_context(wired(knowledge_url, **settings))


@pytest.fixture
def services(opened: Opened) -> Container:
    return opened()


def judged_worse(_before: Candidate, _staged: Candidate) -> Verdict:
    return WORSE


def test_a_correction_is_served_everywhere_at_once(services: Container, opened: Opened) -> None:
    """The search, the keywords, the writer's facts and the proof of a process that has answered before speak of it."""
    other = opened()
    assert OLD in answered(other).text
    number = draft(services)
    done = run_publish(services)
    assert (done.exit_code, done.report["state"], done.report["written"]) == (0, "served", [FEE])
    for one in (services, other):
        reply = answered(one)
        assert NEW in reply.text
        assert OLD not in reply.text
        assert NEW in texts_of(one.snapshot().knowledge.passages)[FEE]
        keywords = one.snapshot().chains.tier("json_fallback")(Query(QUESTION, "clara", "es"))
        assert NEW in texts_of(hit.passage for hit in keywords.hits)[FEE]
        assert FEE in {passage.id for passage in one.snapshot().knowledge.passages}
        safe = one.snapshot().safe_retriever(Query(QUESTION, "clara", "es"))
        assert NEW in texts_of(hit.passage for hit in safe.hits)[FEE]
    assert corpora_of(services) == ["clara", "clara@2"]
    assert states(services) == [(1, "past"), (2, "served")]
    assert rows(services, "select id, publication_id from revisions") == [(number, 2)]


def test_nothing_to_publish_is_said_and_changes_nothing(services: Container) -> None:
    """Without a correction, and after it was published, the command ends well and stages nothing."""
    said: list[str] = []
    assert run_publish(services, said=said).exit_code == 0
    assert said == ["Nothing to publish: what is served is what data/ and the corrections say."]
    draft(services)
    run_publish(services)
    done = run_publish(services)
    assert (done.exit_code, done.report["state"], len(states(services))) == (0, "nothing to publish", 2)


def test_a_dry_run_says_what_would_change(services: Container) -> None:
    """It names the fact with its new text and why, and stages nothing."""
    draft(services)
    said: list[str] = []
    done = run_publish(services, said=said, dry_run=True)
    assert done.report["written"] == [FEE]
    assert said[0].startswith(f"  {FEE} (the fee was raised): ")
    assert NEW in said[0]
    assert (corpora_of(services), states(services)) == (["clara"], [])


def test_what_makes_anything_worse_is_refused(services: Container) -> None:
    """Exit code 1 names what became wrong; what is served stays, the draft waits, nothing staged is left."""
    draft(services)
    said: list[str] = []
    done = run_publish(services, judged_worse, said)
    assert (done.exit_code, done.report["state"], done.report["worse"]) == (1, "refused", ["danger test danger d1"])
    assert "  became wrong: danger test danger d1" in "\n".join(said).splitlines()
    assert done.report["regressions"] == ["danger test danger: 1 became wrong (d1), 0 right, p 0.500"]
    assert OLD in answered(services).text
    assert (corpora_of(services), states(services)) == (["clara"], [(1, "served"), (2, "refused")])
    assert rows(services, "select publication_id from revisions") == [(None,)]
    assert run_publish(services).exit_code == 0
    assert NEW in answered(services).text


def test_undoing_goes_back_and_forth(services: Container, opened: Opened) -> None:
    """The version before is served again in one act; what the undone one held is a draft, and can be published again."""
    other = opened()
    draft(services)
    run_publish(services)
    assert NEW in answered(other).text
    assert undo(services, lambda _line: None).report == {"state": "served", "publication": 1, "undone": 2}
    for one in (services, other):
        assert OLD in answered(one).text
    assert states(services) == [(1, "served"), (2, "undone")]
    assert [one.fact_id for one in services.revisions().drafts()] == [FEE]
    with pytest.raises(NothingToUndoError):
        undo(services, lambda _line: None)
    run_publish(services)
    assert NEW in answered(other).text
    assert states(services) == [(1, "past"), (2, "undone"), (3, "served")]
    assert corpora_of(services) == ["clara", "clara@3"]


def test_a_withdrawn_correction_is_gone_with_the_next_version(services: Container) -> None:
    """It is served until then; a fact without corrections is named as such."""
    draft(services)
    run_publish(services)
    withdraw(services, FEE, lambda _line: None)
    assert NEW in answered(services).text
    assert run_publish(services).report["written"] == [FEE]
    assert OLD in answered(services).text
    with pytest.raises(UnknownCorrectionError, match="there is no correction of 'nie-plazos-01'; facts with drafts: none"):
        withdraw(services, "nie-plazos-01", lambda _line: None)


def test_the_last_versions_are_kept(services: Container) -> None:
    """Three can be gone back to, one after the other; older ones are dropped; the list shows all of them."""
    for euros in ("11,00 €", "12,00 €", "13,00 €", "14,00 €", "15,00 €"):
        draft(services, euros)
        run_publish(services)
    assert corpora_of(services) == ["clara@3", "clara@4", "clara@5", "clara@6"]
    for euros in ("14,00 €", "13,00 €", "12,00 €"):
        undo(services, lambda _line: None)
        assert euros in answered(services).text
    with pytest.raises(NothingToUndoError):
        undo(services, lambda _line: None)
    shown = listing_lines(listing(services.publications()))
    assert [line.split()[:3] for line in shown[1:]] == [
        ["6", "undone", "clara@6"],
        ["5", "undone", "clara@5"],
        ["4", "undone", "clara@4"],
        ["3", "served", "clara@3"],
        ["2", "past", "clara@2"],
        ["1", "past", "clara"],
    ]


class Watching:
    """The bundled embedder, and what it embedded of texts of a corpus."""

    def __init__(self) -> None:
        self.model, self.dimensions = bundled().model, bundled().dimensions
        self.passages: list[str] = []

    def embed(self, texts: Sequence[str], role: Role) -> list[list[float]]:
        self.passages += texts if role == "passage" else []
        return bundled().embed(texts, role)


def test_only_what_changed_is_embedded(services: Container) -> None:
    """Of a thousand passages one is embedded; every passage of the new version has its vector."""
    watching = Watching()
    services.embedder = watching
    draft(services)
    run_publish(services)
    assert len(watching.passages) == 1
    assert NEW in watching.passages[0]
    held = "select s.corpus, count(*) from embeddings e join vector_spaces s on s.id = e.space_id group by 1 order by 1"
    (before, after) = rows(services, held)
    assert before[1] == after[1] == len(services.snapshot().knowledge.passages)


def test_a_correction_that_breaks_the_rules_is_not_staged(services: Container) -> None:
    """The fault names the fact and what to do; nothing is left."""
    keep_draft(services, replace(raised(services), fields={"text": raised(services).fields["text"]}))
    with pytest.raises(DataError, match=rf"nie: revision of {FEE}\.values: the text says 'amount 10.84 EUR'"):
        run_publish(services)
    assert (corpora_of(services), states(services)) == (["clara"], [])


def test_a_correction_of_other_words_is_named(services: Container) -> None:
    """data/ has changed since it was made: it is said, and not served."""
    keep_draft(services, replace(raised(services), base_digest="0" * 64))
    said: list[str] = []
    done = run_publish(services, said=said)
    assert done.report["state"] == "nothing to publish"
    assert f"  not applied: revision 1 of {FEE}: data/ says this fact otherwise since it was made" in said[0]


def test_whoever_changes_what_is_served_meanwhile_is_not_overrun(services: Container, opened: Opened) -> None:
    """A version that was tried against something else is not served."""
    other = opened()
    draft(services)

    def judge(*_held: object) -> Verdict:
        run_sql(other, "delete from passages where corpus = 'clara' and id = 'nie-plazos-01'")
        return judged_well(*_held)  # type: ignore[arg-type]

    with pytest.raises(ServedChangedError):
        run_publish(services, judge)
    assert (corpora_of(services), states(services)) == (["clara"], [(1, "served"), (2, "refused")])
    assert OLD in answered(other).text


def test_two_do_not_publish_at_once(services: Container, opened: Opened) -> None:
    """Who comes second is told so, and what the first one does is not touched."""
    other = opened()
    draft(services)
    refused: list[str] = []

    def judge(*held: object) -> Verdict:
        for act in (lambda: run_publish(other), lambda: undo(other, lambda _line: None)):
            with pytest.raises(BusyPublishingError) as busy:
                act()
            refused.append(str(busy.value))
        return judged_well(*held)  # type: ignore[arg-type]

    assert run_publish(services, judge).exit_code == 0
    assert len(refused) == 2
    assert NEW in answered(other).text


def test_a_publication_that_is_killed_leaves_what_is_served(services: Container, knowledge_url: str) -> None:
    """The process is killed while it judges: people are answered as before, and the next run clears away what it left."""
    draft(services)
    line = [sys.executable, "-m", "clara", "publish"]
    environment = child_environment(RAG_DB_URL=knowledge_url, CLARA_CHANNEL="local")
    with subprocess.Popen(line, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        until(lambda: "clara@2" in corpora_of(services))
        os.kill(process.pid, signal.SIGKILL)
    assert OLD in answered(services).text
    assert states(services) == [(1, "served"), (2, "staged")]
    until(lambda: rows(services, "select count(*) from pg_locks where locktype = 'advisory'") == [(0,)])
    assert run_publish(services).report["publication"] == 3
    assert (corpora_of(services), states(services)) == (["clara", "clara@3"], [(1, "past"), (2, "refused"), (3, "served")])


def test_ingestion_fills_what_is_served(services: Container) -> None:
    """With the published correction on it, nothing is outdated; what an operator broke comes back, corrected."""
    draft(services)
    run_publish(services)
    ensure_corpus(services, lambda _line: None)
    said: list[str] = []
    fill(services, said.append)
    kept = len(services.snapshot().knowledge.passages)
    assert said == [f"clara@2: wrote 0 passages (0 new vectors), dropped 0, kept {kept}"]
    run_sql(services, "delete from passages where corpus = 'clara@2' and id = :name", name=FEE)
    fill(services, said.append)
    assert said[1].startswith("clara@2: wrote 1 passages")
    assert NEW in answered(services).text


def test_what_is_served_cannot_be_dropped(services: Container) -> None:
    """Neither by the command nor in SQL."""
    draft(services)
    run_publish(services)
    for name in ("clara", "clara@2"):
        with pytest.raises(CorpusNameError):
            drop(services, name)
    with pytest.raises(DBAPIError, match="fk_served_physical"):
        run_sql(services, "delete from corpora where name = 'clara@2'")


def test_the_gate_of_the_evaluation(services: Container) -> None:
    """Asked a few real questions: a harmless correction passes; a version that forgot most procedures does not."""
    draft(services)
    knowledge = services.snapshot().knowledge
    gate = PublicationGate(
        services.snapshot(), lambda _line: None, lambda _done, _total: None, category="acronyms", suites=("masking",)
    )
    seen: list[Verdict] = []

    def judge(before: Candidate, staged: Candidate) -> Verdict:
        seen.append(gate.held_against(before, staged))
        return seen[-1]

    done = publish(services, judge)
    assert (done.exit_code, seen[0].worse, seen[0].short) == (0, (), ())
    assert {"chain", "masking test hidden"} <= seen[0].after.wrong.keys() == seen[0].before.wrong.keys()
    run_sql(services, "delete from passages where corpus = 'clara@2' and document_id <> 'nie'")
    kept = tuple(passage for passage in knowledge.passages if passage.document_id == "nie")
    served = services.publications().served("clara").physical
    bad = gate.held_against(Candidate(knowledge, served), Candidate(replace(knowledge, passages=kept), "clara@2"))
    assert not bad.passed
    assert bad.worse
    assert all(name.startswith(("chain q", "json_fallback q")) for name in bad.worse)


def test_one_question_is_no_verdict() -> None:
    """One more wrong answer is named, and served; five more, one of danger, or a new shortfall are refused."""

    def judged(group: str, *wrong: str, strict: bool = False, short: tuple[str, ...] = ()) -> Verdict:
        held = frozenset({group}) if strict else frozenset[str]()
        before = Measured(("chain dev auroc: 0.9, wanted 1",), {group: frozenset({"old"})}, held)
        return Verdict(before, Measured(short, {group: frozenset(wrong)}, held))

    assert judged("languages test same facts", "old", "zh-1").passed
    assert "  became wrong: languages test same facts zh-1" in judged("languages test same facts", "old", "zh-1").lines()
    assert not judged("languages test same facts", "old", "a", "b", "c", "d", "e").passed
    assert not judged("danger test danger", "old", "a", strict=True).passed
    assert judged("chain", "old", short=("chain dev auroc: 0.8, wanted 1",)).passed
    assert not judged("chain", "old", short=("chain dev hit@1: 0.8, wanted 1",)).passed


def test_the_command_line(services: Container, knowledge_url: str) -> None:
    """Lists, dry runs and refusals are sentences or JSON; what cannot be done ends with 2, never with a stack trace."""
    line = CommandLine(knowledge_url)
    nothing = line("publish", "--json")
    assert (nothing.code, json.loads(nothing.out)["state"]) == (0, "nothing to publish")
    draft(services)
    dry = line("publish", "--dry-run", "--json")
    assert (dry.code, json.loads(dry.out)["written"]) == (0, [FEE])
    assert NEW in dry.err
    back = line("publish", "--undo")
    assert (back.code, back.raised, "nothing to go back to" in back.err) == (2, None, True)
    assert line("publish", "--undo", "--list").code == 2
    run_publish(services, by="night shift")
    listed = json.loads(line("publish", "--list", "--json").out)
    assert [(one["publication"], one["state"], one["by"]) for one in listed] == [
        (2, "served", "night shift"),
        (1, "past", None),
    ]
    assert "clara@2" in line("publish", "--list").out
    assert line("publish", "--undo").code == 0
    withdrawn = line("publish", "--withdraw", FEE, "--json")
    assert json.loads(withdrawn.out) == {"state": "withdrawn", "fact": FEE, "corrections": 1}
    line.close()
    with psycopg.connect(knowledge_url) as connection:
        acts = connection.execute("select actor, act, subject, outcome from audit_log order by id").fetchall()
        runs = connection.execute("select job, exit_code from job_runs order by id").fetchall()
    assert acts == [("cli", "undo", "publication 1", "done"), ("cli", "withdraw", f"fact {FEE}", "done")]
    assert runs == [("publish", 0), ("undo", 2), ("undo", 0), ("withdraw", 0)]


@pytest.fixture(params=["memory", "redis"])
def remembering(request: pytest.FixtureRequest, opened: Opened, tmp_path: Path) -> Iterator[Container]:
    """Container that remember results, in this process or in Redis."""
    if request.param == "memory":
        yield opened(rag_cache_enabled=True)
        return
    with redis_server(tmp_path) as address:
        shared = {"rag_cache_backend": "redis", "rag_redis_url": address, "clara_pseudonym_key": "c4e81f0a7d3952b6" * 4}
        yield opened(rag_cache_enabled=True, **shared)


def test_questions_during_switches_are_never_answered_from_before(services: Container, remembering: Container) -> None:
    """With results remembered, threads asking all the while: whoever asks after a switch gets what it switched to."""
    asked = remembering
    draft(services)
    run_publish(services)
    versions = {one.id: one for one in services.publications().publications("clara")}
    fees = [NEW]  # of each switch, in order; the last one is going on where `begun` is ahead of `done`
    counts = {"begun": 0, "done": 0}
    stopped, seen = Event(), list[tuple[int, int, str]]()
    questions = (QUESTION, "cuanto cuesta el nie", "hola, ¿cuánto cuesta el NIE?")

    def go_on(number: int) -> None:
        while not stopped.is_set():
            floor = counts["done"]
            text = answered(asked, questions[number]).text
            seen.append((floor, counts["begun"], text))

    threads = [Thread(target=go_on, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for number in range(20):
        target, fee = (versions[1], OLD) if number % 2 == 0 else (versions[2], NEW)
        fees.append(fee)
        counts["begun"] += 1
        services.publications().switch(target, services.publications().served("clara"), {})
        counts["done"] += 1
        so_far = len(seen)
        until(lambda so_far=so_far: len(seen) >= so_far + 6)
    stopped.set()
    for thread in threads:
        thread.join()
    # Slow threads may miss each other's results; one after the other, a wording finds what another left behind.
    services.publications().switch(versions[1], services.publications().served("clara"), {})
    seen += [(len(fees), len(fees), answered(asked, question).text) for question in questions]
    fees.append(OLD)
    wrong = [(floor, begun) for floor, begun, text in seen if not any(f" {fee}" in text for fee in fees[floor : begun + 1])]
    strict = sum(floor == begun for floor, begun, _ in seen)
    assert wrong == []
    assert strict >= 60
    events = summary(asked.metrics._fresh)["cache_events"]
    assert isinstance(events, dict)
    assert events["exact"] > 0
    # In Redis all three wordings stay known under the version that comes back with every other switch.
    assert events.get("semantic", 0) > 0 or remembering.settings.rag_cache_backend == "redis"
    print(f"{len(seen)} answers, {strict} of them between switches, {events}")  # noqa: T201  shown with -s
