"""The first of January: figures of the old year are told only as such, and what sets new ones is noticed on its day.

`make new-year` prints what is played here, a line a week.
"""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta

import pytest
from gazette_days import Runs, entry, ordinary, publish

from clara.answering.journey import Tools
from clara.answering.questions import ask
from clara.container import Container
from clara.knowledge.knowledge_base import laid_over, read_knowledge
from clara.knowledge.procedure import Fact
from clara.knowledge.revisions import Revision, fact_digest
from clara.language.figures.figure import figures_as_json
from clara.language.figures.reader import spanish
from clara.quality.renewal_pages import what_ends
from clara.settings import resources
from clara_lab.stand_ins.boe_server import GazetteStandIn

EVE, FIRST, LAST = date(2026, 12, 31), date(2027, 1, 1), date(2027, 2, 28)
# The days on which such norms came out in 2026, and their titles with the year after.
DECREES = {
    date(2027, 2, 3): "Real Decreto-ley 2/2027, de 2 de febrero, para la revalorización de las pensiones públicas",
    date(
        2027, 2, 18
    ): "Real Decreto 90/2027, de 17 de febrero, por el que se fija el salario mínimo interprofesional para 2027",
}
# What people ask in January, and the figure of the old year that must not pass for the new one.
ASKED = {
    "¿Cuánto se cobra de ingreso mínimo vital una persona sola?": "733,60",
    "¿Cuánto es la pensión no contributiva al mes?": "628,80",
    "How much is the minimum vital income for one person?": "733",
    "¿Cuál es el límite de ingresos propios para el subsidio por desempleo?": "915,75",
    "¿Cuánto cobro de CAPI por un bebé?": "115 €",
}
# How a line says so, in Spanish and English.
ENDED = ("Ya no vale", "No longer valid")


@dataclass
class Played:
    """What came of the days: ids of alerts by day, facts told by day, and lines that tell an old figure as if it held."""

    alerts: dict[date, list[str]] = field(default_factory=dict)
    told: dict[date, int] = field(default_factory=dict)
    old: list[tuple[date, str]] = field(default_factory=list)
    ended: int = 0


@pytest.fixture
def site() -> Iterator[GazetteStandIn]:
    stand_in = GazetteStandIn().serve()
    yield stand_in
    stand_in.close()


def days() -> Iterator[date]:
    yield from (FIRST + timedelta(number) for number in range((LAST - FIRST).days + 1))


def play(services: Container, site: GazetteStandIn, decrees: dict[date, str]) -> Played:
    """Go through the days: read the gazette on each, and ask on the first, in the middle and on the last."""
    catalogue = read_knowledge(resources() / "data").catalogue
    runs, played = Runs(services), Played(ended=len(what_ends(catalogue, EVE, EVE)))
    for number, day in enumerate(days()):
        if day.weekday() < 6:
            published = [entry(900 + number, decrees[day])] if day in decrees else []
            publish(site, day, {**ordinary(10 + 3 * number), "1": published + ordinary(10 + 3 * number)["1"]})
        found = runs(at=datetime(day.year, day.month, day.day, 10, tzinfo=UTC), day=day)
        if ids := [alert["id"] for alert in found.report["alerts"]]:
            played.alerts[day] = ids
        played.told[day] = sum(fact.published(day) for each in catalogue.procedures.values() for fact in each.facts)
        if day in (FIRST, FIRST + timedelta(30), LAST):
            tools = services.snapshot(day).tools
            played.old += [(day, line) for question, figure in ASKED.items() for line in told_as_new(tools, question, figure)]
    return played


def told_as_new(tools: Tools, question: str, figure: str) -> list[str]:
    """Give the lines of a reply that tell a figure and do not say that it has ended."""
    return [
        line for line in ask(tools, question)["text"].splitlines() if figure in line and not any(map(line.__contains__, ENDED))
    ]


def shown(name: str, played: Played) -> Iterator[str]:
    yield f"\n{name}: {played.ended} facts ended on {EVE}; old figures told as if they held: {len(played.old)}"
    for day in days():
        if day.weekday() == 0 or day in played.alerts or day in (FIRST, LAST):
            yield f"  {day}  {played.told[day]} facts told  {', '.join(played.alerts.get(day, ())) or '-'}"


@pytest.mark.parametrize("decrees", [{}, DECREES], ids=["without new decrees", "with new decrees"])
def test_nobody_takes_last_years_figures_for_new_ones(
    decrees: dict[date, str], knowledge_url: str, services_on: Callable[..., Container], site: GazetteStandIn
) -> None:
    """From the first of January on; each decree is told on the day on which it is out, and no other day alarms."""
    services = services_on(knowledge_url, boe_base_url=site.url)
    played = play(services, site, decrees)
    sys.stdout.write("\n".join(shown("with" if decrees else "without", played)) + "\n")
    assert played.old == []
    assert played.ended > 30
    assert list(played.alerts) == list(decrees)


def test_old_figures_are_told_until_the_last_day(knowledge_url: str, services_on: Callable[..., Container]) -> None:
    """On New Year's Eve the questions are answered with the figures, as such: else the other test would prove nothing."""
    tools = services_on(knowledge_url).snapshot(EVE).tools
    told = [figure for question, figure in ASKED.items() if told_as_new(tools, question, figure)]
    assert len(told) >= len(ASKED) - 1, told


def test_a_correction_tells_the_new_figure_from_its_day_on() -> None:
    """What an editor drafts on the decree's day holds from the first of January, beside everything that did not change."""
    released = read_knowledge(resources() / "data")
    before = next(fact for fact in released.catalogue.procedures["imv"].facts if fact.id == "imv-cuantias-01")
    text = before.text.replace("2026", "2027").replace("8.803,20", "9.067,20").replace("733,60", "755,60")
    fields = {
        "text": text,
        "values": figures_as_json(spanish().values_in(text)),
        "valid": {"from": "2027-01-01", "until": "2027-12-31"},
    }
    knowledge, done = laid_over(released, [Revision(1, before.id, fields, fact_digest(before))])
    assert not done.lost
    after: Fact = next(fact for fact in knowledge.catalogue.procedures["imv"].facts if fact.id == before.id)
    assert (before.published(FIRST), after.published(FIRST), after.published(EVE)) == (False, True, False)
    assert replace(after, text=before.text, values=before.values, validity=before.validity) == before
