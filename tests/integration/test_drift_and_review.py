"""Looking for drift and deciding it, on a real database: from a changed norm to a served state and a draft."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import text
from tests.integration.changing_norms import NORM, changed, look, numbers, one_of, serve
from tests.integration.editing import accept, look_at, one, reject, settle, waiting
from tests.integration.gazette_days import Webhook
from tests.integration.wired import CommandLine
from tests.unit.knowledge.law.law_samples import DATA, sample

from clara.adapters.postgres.editorial.findings import PostgresFindings
from clara.container import Container
from clara.editorial.intake import SourceChoice, UnknownSourceError
from clara.editorial.journey import MissingReasonError
from clara.editorial.pages import page
from clara.editorial.ports import AlertNotTakenError
from clara.editorial.records import DecidedFindingError, UnknownFindingError
from clara.editorial.review import Verdicts
from clara.editorial.sources import Fetch, SourceUnreachableError, in_folder
from clara.knowledge.knowledge_base import read_knowledge
from clara.knowledge.law.norm import Norm, Provision
from clara.knowledge.law.references import provisions_of
from clara.knowledge.revisions import fact_digest
from clara.processes.editorial_jobs import NoWebhookError, Telling, check_drift, post_again
from clara.settings import resources

OTHER = "BOE-A-2015-11724"
PAGE = "sede-electronica"


@pytest.fixture
def webhook() -> Iterator[Webhook]:
    made = Webhook().serve()
    yield made
    made.close()


def whole(norm: Norm) -> Norm:
    """A trimmed norm with a line for each provision that facts cite and the trimming took."""
    procedures = read_knowledge(resources() / "data").catalogue.procedures.values()
    facts = [fact for procedure in procedures for fact in procedure.facts]
    cited = {key for fact in facts for basis in fact.legal_basis if basis.norm == norm.id for key in provisions_of(basis)}
    added = tuple(Provision(key, key, "", (), "Texto.") for key in sorted(cited - norm.by_key.keys()))
    return replace(norm, provisions=norm.provisions + added)


FULL = whole(sample(NORM))


@pytest.fixture
def services(empty_url: str, services_on: Callable[..., Container]) -> Container:
    made = services_on(empty_url)
    for norm in (FULL, sample(OTHER, "legislation_2026-04-25")):
        serve(made, norm)
    return made


SLOWER = changed(FULL, "da7", "tres meses", "cuatro meses")
HELD = "select state from snapshots where source_id = 'BOE-A-2024-24099' order by id desc limit 1"


def test_a_norm_that_says_the_same_is_unchanged(services: Container) -> None:
    """Nothing is found, nothing waits, and the look is remembered."""
    outcome = look(services, FULL)
    assert outcome.exit_code == 0
    assert outcome.report["counts"] == {"unchanged": 1}
    assert NORM not in outcome.report["stale"]
    assert waiting(services) == []


def test_a_changed_period_waits_with_its_blast_radius(services: Container) -> None:
    """The finding names its facts, proposes the new figure where it is certain, and changes nothing that is served."""
    outcome = look(services, SLOWER)
    (finding,) = outcome.report["sources"][0]["findings"]
    assert outcome.exit_code == 1
    assert (finding["place"], finding["weight"]) == ("da7", "substantive")
    assert finding["figures"]["new"] == [{"kind": "period", "value": 4, "unit": "month"}]
    touched = {fact["fact"]: fact for fact in finding["facts"]}
    assert touched["arraigo-plazos-01"]["relation"] == "provision"
    assert "4 meses" in touched["arraigo-plazos-01"]["proposal"]["text"]
    assert "arraigo-requisitos-01" not in touched  # it is about article 126
    assert "arraigo" in finding["procedures"]
    assert one_of(services, "select state from snapshots where source_id = 'BOE-A-2024-24099' and id = 1") == "served"
    assert "arraigo-plazos-01" in services.flagged()


def test_accepting_serves_the_state_and_leaves_a_draft(services: Container) -> None:
    """From a changed norm to the new state served and the corrected fact as a draft, made for the fact as data/ has it."""
    (number,) = numbers(look(services, SLOWER))
    said: list[str] = []
    settled = accept(services, number, Verdicts(every_proposal=True), say=said.append)
    assert settled.snapshot == "served"
    assert one_of(services, HELD) == "served"
    drafts = services.revisions().drafts()
    facts = {one.id: one for procedure in services.released.catalogue.procedures.values() for one in procedure.facts}
    assert {draft.fact_id for draft in drafts} >= {"arraigo-plazos-01"}
    for draft in drafts:
        assert draft.base_digest == fact_digest(facts[draft.fact_id])
        assert draft.made_by == "cli"
    assert "clara publish" in said[1]
    assert f"clara review accept {number} --decisions FILE" in said[2]
    assert one_of(services, "select act || ' ' || subject from audit_log") == f"review accepted finding {number}"
    assert numbers(look(services, SLOWER)) == []


def test_accepted_law_is_searched_by_its_new_wording(services: Container) -> None:
    """Where the norm is in the corpus of the law, accepting brings the new wording into it, and nothing else of it changes."""
    health, now = (
        replace(norm, provisions=(norm.by_key["a21"], norm.by_key["a22"]))
        for norm in (sample("BOE-A-2003-10715", "legislation_2026-04-25"), sample("BOE-A-2003-10715"))
    )
    serve(services, health)
    before = settle(services, health.id)
    (number,) = numbers(look(services, now))
    said: list[str] = []
    accept(services, number, say=said.append)
    assert said[-1].startswith(f"{health.id} is searched by its new wording: ")
    assert settle(services, health.id).written == 0
    assert before.written > 2
    new = "select count(*) from passages where corpus = 'law' and text like '%prueba del talón%' and section = 'a21'"
    assert one_of(services, new) == 1


def test_a_snapshot_waits_for_its_last_finding(services: Container) -> None:
    """Of six changes each is decided alone; the state is served with the last."""
    found = numbers(look(services, sample(OTHER)))
    assert len(found) == 5
    states = [accept(services, number, say=lambda _line: None).snapshot for number in found]
    assert states == ["waiting"] * 4 + ["served"]


def test_a_rejected_wording_is_not_found_again(services: Container) -> None:
    """Its snapshot is rejected, answers rest on what they did, and the next look is silent."""
    (number,) = numbers(look(services, SLOWER))
    assert reject(services, number, "error de la fuente", lambda _line: None).snapshot == "rejected"
    again = look(services, SLOWER)
    assert (again.exit_code, again.report["counts"]) == (0, {"unchanged": 1})
    assert one_of(services, HELD) == "rejected"
    assert one_of(services, "select reason from findings where decided_by = 'cli'") == "error de la fuente"
    slower_still = changed(FULL, "da7", "tres meses", "cinco meses")
    assert look(services, slower_still).report["counts"] == {"substantive": 1}


def test_decisions_are_made_once_and_about_what_is_there(services: Container) -> None:
    """A second decision, an unknown number and a missing reason are errors that name the remedy."""
    (number,) = numbers(look(services, SLOWER))
    with pytest.raises(MissingReasonError, match="--reason"):
        reject(services, number, "  ", lambda _line: None)
    accept(services, number, say=lambda _line: None)
    with pytest.raises(
        DecidedFindingError, match=r"accepted already; nobody has decided about .*arraigo-plazos-01.*; `clara review list`"
    ):
        reject(services, number, "tarde", lambda _line: None)
    with pytest.raises(UnknownFindingError, match="no finding 999; `clara review list`"):
        accept(services, 999, say=lambda _line: None)
    assert one_of(services, "select count(*) from audit_log") == 1


def test_looking_again_finds_the_same_once(services: Container) -> None:
    """The same difference keeps its number, however often it is found."""
    first, second = numbers(look(services, SLOWER)), numbers(look(services, SLOWER))
    assert first == second
    assert one_of(services, "select count(*) from findings") == 1
    assert one_of(services, "select count(*) from snapshots where state = 'waiting'") == 1


def test_what_moves_on_or_back_is_superseded(services: Container) -> None:
    """Another wording takes the place of the one that waits; when the source says again what is served, nothing waits."""
    look(services, SLOWER)
    moved = look(services, changed(FULL, "da7", "tres meses", "seis meses"))
    assert len(waiting(services)) == 1
    assert [entry["id"] for entry in waiting(services)] == numbers(moved)
    assert look(services, FULL).exit_code == 0
    assert waiting(services) == []
    assert one_of(services, "select count(*) from snapshots where state = 'waiting'") == 0
    back = look(services, SLOWER)
    assert [entry["id"] for entry in waiting(services)] == numbers(back)


def test_a_source_that_does_not_answer_is_no_quiet_source(services: Container) -> None:
    """It is told as unreachable, and what was found before stays open."""
    look(services, SLOWER)
    outcome = look(services, SourceUnreachableError("did not answer"))
    assert outcome.exit_code == 2
    assert outcome.report["sources"][0]["detail"] == "did not answer"
    assert len(waiting(services)) == 1
    assert one_of(services, "select outcome from checks") == "unreachable"


def test_what_is_not_held_yet_is_told(services: Container) -> None:
    """Without a served state there is nothing to compare with: the remedy is named, and the exit code is 1."""
    outcome = look(services, sample("BOE-A-2025-12056"))
    assert outcome.exit_code == 1
    assert "clara ingest --source BOE-A-2025-12056" in outcome.report["sources"][0]["detail"]


def test_a_cosmetic_difference_waits_for_nobody(services: Container) -> None:
    """A comma is told, and nothing has to be decided."""
    outcome = look(services, changed(FULL, "da7", "tres meses", "tres  «meses»"))
    assert (outcome.exit_code, outcome.report["counts"]) == (0, {"cosmetic": 1})
    assert waiting(services) == []
    assert one_of(services, "select state || ' by ' || decided_by from findings") == "accepted by rule"


def test_recent_answers_are_counted(services: Container) -> None:
    """Each touched fact says how many answers of the last 30 days quote it; older ones do not count."""
    cited = '[{"passage_id": "arraigo-plazos-01"}, {"passage_id": "arraigo-plazos-01"}]'
    with services.engine.begin() as connection:
        for number, days in ((1, 0), (2, 29), (3, 31)):
            connection.execute(
                text(
                    "insert into inbox (message_sid, pseudonym, channel, body) overriding system value "
                    "values (:sid, 'p', 'local', 'x')"
                ).bindparams(sid=f"SM{number}")
            )
            connection.execute(
                text(
                    "insert into turns (inbox_id, pseudonym, language, status, citations, total_ms, created_at) values "
                    "((select max(id) from inbox), 'p', 'es', 'answered', cast(:cited as jsonb), 1, "
                    "now() - make_interval(days => :days))"
                ).bindparams(cited=cited, days=days)
            )
    facts = {fact["fact"]: fact for fact in look(services, SLOWER).report["sources"][0]["findings"][0]["facts"]}
    assert facts["arraigo-plazos-01"]["recent_answers"] == 2
    assert {fact["recent_answers"] for name, fact in facts.items() if name != "arraigo-plazos-01"} <= {0}


def test_a_second_proposal_builds_on_the_first_draft(services: Container) -> None:
    """Two norms change two figures of one fact: accepting both keeps both new figures."""
    name = "prestacion_nacimiento-requisitos-01"  # 180 days of the last seven years, or 360 days
    fewer = changed(sample(OTHER, "legislation_2026-04-25"), "a178", "trescientos sesenta", "trescientos")
    for live in (fewer, changed(fewer, "a178", "siete años", "ocho años")):
        for number in numbers(look(services, live)):
            accept(services, number, Verdicts(every_proposal=True), say=lambda _line: None)
    texts = [draft.fields["text"] for draft in services.revisions().drafts() if draft.fact_id == name]
    assert len(texts) == 2
    assert "300 días" in texts[0]
    assert "300 días" in texts[1]
    assert "8 años" in texts[1]


def test_facts_that_cite_nothing_are_told(services: Container) -> None:
    """A norm in which a cited article is not there at all is no quiet norm, though nothing changed."""
    serve(services, sample(NORM))
    outcome = look(services, sample(NORM))
    assert (outcome.exit_code, outcome.report["counts"]) == (1, {"unchanged": 1})
    told = outcome.report["sources"][0]["absent"]
    assert {"a130", "a131"} <= {one["key"] for one in told}
    assert "dt5" not in {one["key"] for one in told}  # repealed, and cited as such


def test_norms_of_a_folder_are_a_live_state(services: Container, tmp_path: Path) -> None:
    """Markdown files stand for what the gazette says now; a file that is no norm is unreachable, and its reason is named."""
    serve(services, sample(NORM))
    for name in (NORM, OTHER):
        (tmp_path / f"{name}.md").write_text((DATA / "legislation" / f"{name}.md").read_text("utf-8"), "utf-8")
    said: list[str] = []
    fetch: Fetch = in_folder(tmp_path)
    outcome = look_at(services, SourceChoice(norms=tmp_path), fetch, said.append)
    assert outcome.report["counts"] == {"substantive": 1, "unchanged": 1}
    page_ = "\n".join(said)
    assert "Disposición adicional decimonovena" in page_
    assert re.search(r"before +\| now", page_)
    (tmp_path / f"{NORM}.md").write_text("# Otra cosa", "utf-8")
    broken = look_at(services, SourceChoice(norms=tmp_path), fetch, said.append)
    assert broken.report["counts"] == {"substantive": 1, "unreachable": 1}
    assert "line 1" in said[-2] or any("line 1" in line for line in said)


@pytest.mark.parametrize("chosen", [SourceChoice(source="BOE-A-1900-1"), SourceChoice(norms=Path("/nowhere-at-all"))])
def test_an_unknown_choice_is_an_error(services: Container, chosen: SourceChoice) -> None:
    """A source that is not registered, and a folder without norms, are named."""
    with pytest.raises(UnknownSourceError):
        look_at(services, chosen, lambda _source: sample(NORM))


def test_stale_sources_are_chosen_by_the_age_of_their_last_answer(services: Container) -> None:
    """What was reached in time is left alone; --stale looks at all others."""
    look(services, FULL)
    asked: list[str] = []

    def fetch(source: object) -> Norm:
        asked.append(source.id)  # type: ignore[attr-defined]
        raise SourceUnreachableError("away")

    outcome = look_at(services, SourceChoice(stale=True), fetch)
    assert outcome.exit_code == 2
    assert NORM not in asked
    assert {OTHER} <= set(asked) == set(outcome.report["stale"])


def test_a_finding_is_shown_in_full(services: Container) -> None:
    """Old stands beside new, with the facts, the proposal and what may be done."""
    (number,) = numbers(look(services, SLOWER))
    lines = page("finding", one(services, number)).split("\n")
    assert any("tres meses" in line.partition("|")[0] and "cuatro meses" in line.partition("|")[2] for line in lines)
    assert any(line.split() == ["told", "now", "|", "proposed"] for line in lines)
    assert lines[-2:] == [f"`clara review accept {number} --decisions FILE`", f"or `clara review reject {number} --reason ...`"]


def test_a_run_is_recorded_and_posted(services: Container, tmp_path: Path, webhook: Webhook) -> None:
    """The job leaves its row without the wordings; the webhook gets all of it, also at the second try."""
    (tmp_path / f"{OTHER}.md").write_text((DATA / "legislation" / f"{OTHER}.md").read_text("utf-8"), "utf-8")
    answers = iter([503, 204])
    webhook.answer = lambda: next(answers)
    said: list[str] = []
    telling = Telling(lambda _line: None, said.append, webhook.url)
    code = check_drift(services, SourceChoice(norms=tmp_path), telling, lambda _d, _t: None)
    assert code == 1
    assert json.loads(said[-1]) == webhook.posted[0]
    assert one_of(services, "select exit_code from job_runs where job = 'drift'") == 1
    kept = str(one_of(services, "select report::text from job_runs"))
    assert "decimonovena" in kept
    assert "mutualistas que opten" not in kept


def test_law_that_goes_back_and_forth_waits_each_time(services: Container) -> None:
    """An accepted change that is undone, and comes back, is decided by a person again: nothing goes live by itself."""
    seen: list[int] = []
    for state in (SLOWER, FULL, SLOWER, FULL):
        (number,) = numbers(look(services, state))
        assert one_of(services, HELD.replace("order by id desc", "and state = 'waiting'")) == "waiting"
        accept(services, number, say=lambda _line: None)
        assert numbers(look(services, state)) == []
        seen.append(number)
    assert len(set(seen)) == 4


def test_what_waits_is_posted_to_the_operators(
    empty_url: str, services_on: Callable[..., Container], tmp_path: Path, webhook: Webhook
) -> None:
    """With --notify the setting's address is told when a person has to act, and only then; without one nothing is looked at."""
    file = tmp_path / f"{OTHER}.md"
    file.write_text((DATA / "legislation" / f"{OTHER}.md").read_text("utf-8"), "utf-8")
    told = services_on(empty_url, clara_alert_webhook=webhook.url)
    told.migrate()
    telling = Telling(lambda _line: None, notify=True)
    assert check_drift(told, SourceChoice(norms=tmp_path), telling, lambda _d, _t: None) == 1  # new: nobody serves it yet
    assert len(webhook.posted) == 1
    mute = services_on(empty_url)
    with pytest.raises(NoWebhookError, match="CLARA_ALERT_WEBHOOK"):
        check_drift(mute, SourceChoice(norms=tmp_path), telling, lambda _d, _t: None)


def test_a_webhook_that_takes_nothing_is_an_error(services: Container, webhook: Webhook) -> None:
    """After three tries the failure names the host; what was found is kept all the same."""
    tries, waited = list[int](), list[float]()
    webhook.answer = lambda: tries.append(1) or 500  # type: ignore[func-returns-value]
    with pytest.raises(AlertNotTakenError, match=r"127\.0\.0\.1 answered 500"):
        post_again(webhook.url, {}, waited.append)
    assert (len(tries), waited) == (3, [1.0, 5.0])


def test_the_commands_work_on_a_database(services: Container, empty_url: str) -> None:
    """An operator lists, shows, accepts and rejects from a shell; errors are one line and exit code 2."""
    (number,) = numbers(look(services, SLOWER))

    line = CommandLine(empty_url)

    def clara(*arguments: str) -> tuple[int, str]:
        ran = line(*arguments)
        return ran.code, ran.out + ran.err

    assert clara("review", "list")[1].splitlines()[-1].startswith("1 findings wait")
    assert json.loads(clara("review", "show", str(number), "--json")[1])["place"] == "da7"
    assert clara("review", "reject", "999", "--reason", "no") == (
        2, "Error: there is no finding 999; `clara review list` names those that wait\n",
    )  # fmt: skip
    assert clara("review", "accept", str(number), "--proposed", "all")[0] == 0
    undecided = one(services, number)["facts"]
    left = [fact["fact"] for fact in undecided if fact["state"] == "undecided"]
    assert f"(accepted; {len(left)} of {len(undecided)} facts undecided)" in clara("review", "list")[1]
    held = [word for name in left for word in ("--holds", name, "--reason", "El plazo es otro.")]
    assert clara("review", "accept", str(number), *held)[0] == 0
    assert clara("review", "list") == (0, "Nothing waits for review.\n")
    assert clara("drift")[0] == 2
    line.close()


def test_concurrent_decisions_settle_a_snapshot_once(services: Container) -> None:
    """All findings of a state decided at the same time: each once, and the state is served."""
    found: Sequence[int] = numbers(look(services, sample(OTHER)))
    store = PostgresFindings(services.engine)

    def decide(number: int) -> str:
        try:
            return str(store.accept(number, [], "cli").snapshot)
        except DecidedFindingError:
            return "decided"

    with ThreadPoolExecutor(8) as pool:
        states = sorted(pool.map(decide, [*found, *found]))
    assert states == ["decided"] * 5 + ["served"] + ["waiting"] * 4
