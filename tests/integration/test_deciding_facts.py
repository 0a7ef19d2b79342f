"""Accepting a change decides about no fact: from a new IPREM to corrected, held and undecided facts, on a real database."""

import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest
from tests.integration.changing_norms import LAW, RAISED, look, numbers, one_of, serve
from tests.integration.correcting import run_publish
from tests.integration.editing import accept, one, waiting
from tests.integration.wired import CommandLine, wired

from clara.adapters.postgres.editorial.findings import PostgresFindings
from clara.adapters.postgres.statements import AtOnce
from clara.container import Container
from clara.data_files import DataError
from clara.editorial.pages import page
from clara.editorial.records import Corrected, DecidedFindingError, Holds
from clara.editorial.review import Verdicts
from clara.knowledge.law.markdown import read_markdown
from clara.knowledge.law.norm import Norm

BASE_FACT, LIGHT = "justicia_gratuita-requisitos-03", "bono_social_electrico-requisitos-02"
# States 16,800 € and cites neither the law of budgets nor any page of it: it is touched by its formula alone.
FAMILY = "bono_social_electrico-requisitos-06"
RENT = "ayuda_alquiler-requisitos-01"


def norm(text: str) -> Norm:
    return read_markdown(text)


def quiet(_line: str) -> None:
    """Say nothing."""


@pytest.fixture
def services(empty_url: str, services_on: Callable[..., Container]) -> Container:
    made = services_on(empty_url)
    serve(made, norm(LAW))
    return made


@pytest.fixture
def number(services: Container) -> int:
    """The finding that the IPREM rose to 620 €."""
    return numbers(look(services, norm(RAISED)))[0]


def facts(services: Container, number: int) -> dict[str, dict[str, object]]:
    return {fact["fact"]: fact for fact in one(services, number)["facts"]}


def in_doubt(services: Container) -> set[str]:
    """The facts that a process which starts now warns of; asked without the second's patience that a busy machine exceeds."""
    return {row.fact_id for row in AtOnce(services.engine).rows("fact.flags")}


def test_a_new_base_proposes_every_figure_that_derives_from_it(services: Container, number: int) -> None:
    """One new IPREM gives the new figures of each fact by its formula, of those too that cite another norm."""
    told = facts(services, number)
    proposed = {name: fact["proposal"]["text"] for name, fact in told.items() if fact["proposal"]}  # type: ignore[index]
    assert "12.600" not in proposed[LIGHT]
    assert "13.020 € al año" in proposed[LIGHT]
    assert (told[FAMILY]["relation"], "17.360 €" in proposed[FAMILY]) == ("formula", True)
    assert "620 € al mes, 7.440 € al año o 8.680 €" in proposed[BASE_FACT]
    subsidy = proposed["subsidio_desempleo-cuantias-01"]
    assert all(figure in subsidy for figure in ("620 €", "589 €", "558 €", "496 €"))
    rent = proposed[RENT]  # its rent of 600 € is no IPREM
    assert ("26.040 €" in rent, "hasta 600 €" in rent) == (True, True)
    derived = json.loads((Path(__file__).parents[2] / "data" / "derivations.json").read_text("utf-8"))["derived"]
    following = {name for name, formulas in derived.items() if any("iprem" in formula for formula in formulas.values())}
    published = {one.id for one in services.snapshot().knowledge.passages}
    assert following & published <= proposed.keys()


def test_accepting_blesses_nothing(services: Container, number: int) -> None:
    """All touched facts keep their warning, none is corrected, and they are named with what to do."""
    touched = set(facts(services, number))
    said: list[str] = []
    settled = accept(services, number, say=said.append)
    assert (settled.snapshot, set(settled.finding.undecided)) == ("served", touched)
    assert services.revisions().drafts() == []
    assert in_doubt(services) == touched
    assert said[1].startswith(f"Undecided, and told with the warning: {len(touched)} facts: ")
    assert [entry["id"] for entry in waiting(services)] == [number]


def test_each_fact_is_decided_by_itself(services: Container, number: int) -> None:
    """The corrected is a draft, the held loses its warning and its reason is in the audit log, all others stay in doubt."""
    touched = set(facts(services, number))
    decisions = [
        Corrected(LIGHT),
        Corrected(BASE_FACT, {"text": "El IPREM de 2026 es de 620 € al mes."}),
        Holds(RENT, "otro año"),
    ]
    settled = accept(services, number, Verdicts(decisions), say=quiet)
    drafts = {draft.fact_id: draft.fields for draft in services.revisions().drafts()}
    assert drafts.keys() == {LIGHT, BASE_FACT}
    assert {"kind": "amount", "value": 620, "unit": "EUR/month"} in drafts[BASE_FACT]["values"]
    assert in_doubt(services) == touched - {RENT}
    assert set(settled.finding.undecided) == touched - {RENT, LIGHT, BASE_FACT}
    kept = one_of(services, "select details -> 'held' ->> 'ayuda_alquiler-requisitos-01' from audit_log")
    assert kept == "otro año"
    states = {name: fact["state"] for name, fact in facts(services, number).items()}
    assert (states[RENT], states[LIGHT], states[FAMILY]) == ("holds", "drafted", "undecided")


def test_more_can_be_decided_later(services: Container, number: int) -> None:
    """An accepted finding takes decisions until none is left; the later of two about one fact counts."""
    accept(services, number, Verdicts([Holds(LIGHT, "de momento")]), say=quiet)
    accept(services, number, Verdicts([Corrected(LIGHT)]), say=quiet)
    accept(services, number, Verdicts([Corrected(LIGHT, {"text": "Hasta 13.020 € al año."})]), say=quiet)
    assert [draft.fields["text"] for draft in services.revisions().drafts()] == ["Hasta 13.020 € al año."]
    accept(services, number, Verdicts([Holds(LIGHT, "leído")]), say=quiet)
    assert services.revisions().drafts() == []
    accept(services, number, Verdicts(every_proposal=True), say=quiet)
    rest = PostgresFindings(services.engine).find(number).undecided
    accept(services, number, Verdicts([Holds(name, "no cambia") for name in rest]), say=quiet)
    assert waiting(services) == []
    with pytest.raises(DecidedFindingError, match="accepted already; `clara review list`"):
        accept(services, number, say=quiet)


def test_a_withdrawn_correction_is_undecided_again(services: Container, number: int) -> None:
    """Taking a draft back does not bless the old figure."""
    accept(services, number, Verdicts([Corrected(LIGHT)]), say=quiet)
    services.revisions().withdraw(LIGHT)
    assert LIGHT in in_doubt(services)
    assert LIGHT in PostgresFindings(services.engine).find(number).undecided


def test_a_base_that_the_law_leaves_open_is_given(services: Container) -> None:
    """Where the new words do not say for certain which figure is the base, nothing is proposed until a person names it."""
    rewritten = RAISED.replace("b) El IPREM mensual, 620 euros.", "b) Por meses, 620 euros, y 610 en los meses de 2026.")
    (number,) = numbers(look(services, norm(rewritten)))
    open_ = one(services, number)
    assert open_["bases"] == [{"base": "iprem", "title": "IPREM, al mes", "old": "600", "new": None}]
    assert not any(fact["proposal"] for fact in open_["facts"] if fact["fact"] == LIGHT)
    given = {fact["fact"]: fact["proposal"] for fact in one(services, number, {"iprem": Decimal(620)})["facts"]}
    assert "13.020 €" in given[LIGHT]["text"]
    with pytest.raises(DataError, match="ipren: is no base figure; there are iprem, smi, pnc"):
        one(services, number, {"ipren": Decimal(620)})


def test_the_page_shows_facts_beside_the_law(services: Container, number: int) -> None:
    """Old and new words of the law, then each fact as it is told with its figures, beside what is proposed."""
    lines = page("finding", one(services, number)).split("\n")
    text = "\n".join(lines)
    assert any("600 euros" in line.partition("|")[0] and "620 euros" in line.partition("|")[2] for line in lines)
    assert "iprem (IPREM, al mes): 600 -> 620" in text
    place = next(at for at, line in enumerate(lines) if line.startswith(f"  {LIGHT}, touched by its provision"))
    of_fact = lines[place : place + 12]
    assert any("12.600 €" in line.partition("|")[0] and "13.020 €" in line.partition("|")[2] for line in of_fact)
    assert any("amount 12600 EUR/year" in line.partition("|")[0] for line in of_fact)


def test_the_walk_at_the_command_line(services: Container, empty_url: str, number: int, tmp_path: Path) -> None:
    """An operator prints the decisions, corrects the file, accepts with it, and decides the rest by options."""
    line = CommandLine(empty_url)
    printed = json.loads(line("review", "show", str(number), "--decisions").out)
    touched = set(facts(services, number))
    assert {entry["fact"] for entry in printed} == touched
    for entry in printed:
        if entry["fact"] == RENT:
            entry.pop("corrected")
            entry["holds"] = "El Bono Joven sigue con el IPREM de 2023."
    file = tmp_path / "decisions.json"
    file.write_text(json.dumps(printed), "utf-8")
    ran = line("review", "accept", str(number), "--decisions", str(file))
    assert (ran.code, ran.err) == (0, "")
    left = {entry["fact"] for entry in printed if "undecided" in entry}
    assert left
    assert all(name in ran.out.splitlines()[-1] for name in left)
    assert in_doubt(services) == touched - {RENT}
    some, *others = sorted(left)
    options = [word for name in others for word in ("--holds", name, "--reason", "Solo dice el porcentaje.")]
    assert line("review", "accept", str(number), *options).code == 0
    again = line("review", "accept", str(number), "--corrected", some)
    assert (again.code, "Give one --text for each --corrected" in again.err) == (2, True)
    line.close()


OTHER = [{"kind": "amount", "value": 1, "unit": "EUR"}]
GOOD = {"fact": LIGHT, "corrected": "proposed"}


@pytest.mark.parametrize(
    ("document", "said"),
    [
        pytest.param("{", "is no JSON that can be read", id="no-json"),
        pytest.param({"facts": []}, "is no list of decisions", id="no-list"),
        pytest.param([GOOD, {"fact": "nie-cuantias-01", "holds": "sí"}], "nie-cuantias-01: is not touched", id="untouched"),
        pytest.param([GOOD, {"fact": "nada-nada-99", "holds": "sí"}], "nada-nada-99: is not touched", id="unknown"),
        pytest.param([GOOD, GOOD], f"{LIGHT}: is decided twice", id="twice"),
        pytest.param([GOOD, {"fact": FAMILY, "holds": " "}], f"{FAMILY}: holds for no reason", id="no-reason"),
        pytest.param([GOOD, {"fact": FAMILY}], f"{FAMILY}: must have one of", id="no-decision"),
        pytest.param([GOOD, {"fact": FAMILY, "holds": "a", "corrected": "proposed"}], "must have one of", id="two-decisions"),
        pytest.param(
            [GOOD, {"fact": FAMILY, "corrected": {"text": "Hasta 17.3.60 €."}}], "'17.3.60' is no number", id="unread"
        ),
        pytest.param(
            [GOOD, {"fact": LIGHT.replace("02", "03"), "corrected": {"text": "Sube con la familia."}}],
            "a fact of kind 'amount' needs a value",
            id="no-figure",
        ),
        pytest.param(
            [GOOD, {"fact": FAMILY, "corrected": {"text": "Son 17.360 €.", "values": OTHER}}],
            "the text says 'amount 17360 EUR' and the values do not",
            id="other-values",
        ),
        pytest.param(
            [GOOD, {"fact": FAMILY, "corrected": {"text": "x", "id": "y"}}], "id cannot be corrected", id="strange-field"
        ),
        pytest.param([GOOD, {"fact": FAMILY, "corrected": {}}], f"{FAMILY}: is corrected by no text", id="no-text"),
        pytest.param([GOOD, {"fact": FAMILY, "holds": "Lo dijo 12345678Z."}], "holds a number of somebody", id="identity"),
        pytest.param([GOOD, "a word"], "is no decision about a fact", id="a-word"),
    ],
)
def test_bad_decisions_are_one_error(
    services: Container, empty_url: str, number: int, tmp_path: Path, document: object, said: str
) -> None:
    """Place and remedy are named, the exit code is 2, and nothing is written: not the good decision beside it either."""
    file = tmp_path / "decisions.json"
    file.write_text(document if isinstance(document, str) else json.dumps(document), "utf-8")
    line = CommandLine(empty_url)
    ran = line("review", "accept", str(number), "--decisions", str(file))
    line.close()
    assert (ran.code, said in ran.err, "Traceback" in ran.err) == (2, True, False), ran.err
    assert PostgresFindings(services.engine).find(number).state == "open"
    assert one_of(services, "select count(*) from revisions") == 0
    assert one_of(services, "select count(*) from audit_log") == 0


def test_what_does_not_change_a_fact_is_no_correction(services: Container, number: int) -> None:
    """The same text as a correction is refused: that a fact holds is said with a reason."""
    same = facts(services, number)[LIGHT]["text"]
    with pytest.raises(DataError, match="says already; say that it holds"):
        accept(services, number, Verdicts([Corrected(LIGHT, {"text": same})]), say=quiet)


def test_a_second_rise_builds_on_what_is_served(knowledge_url: str, services_on: Callable[..., Container]) -> None:
    """A later change of the same law proposes from the figures as they are told then."""
    services = services_on(knowledge_url)
    serve(services, norm(LAW))
    (first,) = numbers(look(services, norm(RAISED)))
    accept(services, first, Verdicts(every_proposal=True), say=quiet)
    assert LIGHT in in_doubt(services)
    run_publish(services)
    assert LIGHT not in in_doubt(services)
    with wired(services.database_url) as later:
        (second,) = numbers(look(later, norm(RAISED.replace("620 euros", "640 euros"))))
        assert "13.440 €" in str(facts(later, second)[LIGHT]["proposal"])
