"""Tests of what stands around the facts of an answer."""

from datetime import date
from typing import Any

import pytest
from tests.languages import LANGUAGES
from unit_builders import SOURCE, Catalogued, hit_of, passage_of

from clara.answering.texts import Texts
from clara.answering.writing.extractive import ExtractiveWriter
from clara.answering.writing.frame import Framing, citation_of, doubts_of, is_old
from clara.data_files import partial_date
from clara.knowledge.procedure import FactKind

TODAY = date(2026, 11, 21)
NEWSPAPER = {**SOURCE, "official": False}


@pytest.mark.parametrize(
    ("kind", "seen_on", "expected"),
    [
        pytest.param("amount", "2026-06-01", False, id="amount-of-this-half-year"),
        pytest.param("amount", "2026-05-01", True, id="amount-older-than-half-a-year"),
        pytest.param("statement", "2026-05-01", False, id="law-of-this-year"),
        pytest.param("statement", "2025-11-20", True, id="law-older-than-a-year"),
        pytest.param("statement", "2025-11", True, id="a-month-counts-from-its-first-day"),
        pytest.param("fee", "2026-06", False, id="month-of-this-half-year"),
    ],
)
def test_old(kind: str, seen_on: str, expected: bool) -> None:
    """What authorities set each year grows old in half a year, the rest in a year."""
    assert is_old(FactKind(kind), partial_date(seen_on).first, TODAY) is expected


def test_every_doubt_is_named() -> None:
    """Second-hand, flagged and ending facts are told apart; a sound fact has no doubt."""
    passage = passage_of(certainty="secondary", sources=[NEWSPAPER], valid_until="2026-12-31")
    assert doubts_of(passage) == [("secondary", ""), ("ends", "2026-12-31")]
    assert doubts_of(passage_of(flagged="2026-11-20")) == [("flagged", "")]
    assert doubts_of(passage_of()) == []


@pytest.mark.parametrize("certainty", ["official", "two_sources", "secondary"])
def test_a_fact_is_labelled_by_the_source_that_is_shown(certainty: str) -> None:
    """Two newspapers are no public body; where one source is of a public body, that one is shown and nothing is said."""
    assert doubts_of(passage_of(certainty=certainty, sources=[NEWSPAPER, NEWSPAPER])) == [("secondary", "")]
    both = passage_of(certainty=certainty, sources=[{**NEWSPAPER, "url": "https://news.example/a"}, SOURCE])
    assert doubts_of(both) == []
    assert citation_of(1, both).source_url == SOURCE["url"]


def test_a_reply_says_which_of_its_facts_no_public_body_says(texts: Texts, real: Any) -> None:
    """A fact that two newspapers say is introduced as such, by its own line; the one beside it is not."""
    papers = hit_of("nie-plazos-02", 0.9, "Dicen dos diarios.", certainty="two_sources", sources=[NEWSPAPER, NEWSPAPER])
    known = hit_of("nie-plazos-01")
    writer = ExtractiveWriter(Framing(texts, real.names, [known.passage, papers.passage], lambda: TODAY))
    text, _ = writer.write([known, papers], "es", 1_600)
    assert "• La cita dura diez minutos. [C1]\n• Según una fuente no oficial: Dicen dos diarios. [C2]" in text


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_answer_warns(texts: Texts, real: Any, language: str) -> None:
    """Behind an old day stands that it is long ago, and of what ends its last day is said, in the person's language."""
    hits = [hit_of("nie-plazos-01"), hit_of("nie-plazos-02", 0.9, "Otra cosa.", valid_until="2028-12-31")]
    shown = "2028-12-31" if language == "zh" else "31/12/2028"
    for year, old in ((2026, 0), (2028, 1)):
        writer = Catalogued(texts, real.names, told={"today": lambda year=year: date(year, 11, 1)})
        text, _ = writer.write(hits, language, 1_600)
        assert text.count(f") {texts.say(language, 'caution_old')}\n") == old
        assert text.count(texts.say(language, "caution_ends", marks="[C2]", date=shown)) == 1


def test_the_best_fact_is_never_dropped(texts: Texts, real: Any) -> None:
    """Where there is no room for all facts, the one that was found first stays, whatever place its editor gave it."""
    hits = [hit_of("nie-plazos-09", 1.0, "La mejor."), *(hit_of(f"nie-plazos-0{n}", 0.9, "x" * 300) for n in (1, 2, 3))]
    writer = Catalogued(texts, real.names, told={"today": lambda: TODAY})
    for room in (1_600, 1_200, 800, 500):
        text, citations = writer.write(hits, "es", room)
        assert "La mejor." in text
        assert "nie-plazos-09" in {citation.passage_id for citation in citations}


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_has_ended_is_said_as_such(texts: Texts, real: Any, language: str) -> None:
    """Its last day stands before it and a warning behind; who is responsible and where to ask follow; the rest is as ever."""
    over = hit_of("nie-plazos-01", 1.0, "Cuesta 9 €.", valid_until="2026-11-20")
    held = hit_of("nie-plazos-02", 0.9, "Dura un mes.", valid_until="2026-11-21")
    asks = hit_of("nie-contactos-01", 0.1, "El teléfono es el 060.")
    coming = hit_of("nie-plazos-03", 0.8, "Cuesta 11 €.", valid_from="2026-11-22")
    hits = [over, held, coming]
    framing = Framing(texts, real.names, [hit.passage for hit in (*hits, asks)], lambda: TODAY)
    text, citations = ExtractiveWriter(framing, {"nie": "Policía Nacional"}).write(hits, language, 1_600)
    day = "2026-11-20" if language == "zh" else "20/11/2026"
    assert f"• {texts.say(language, 'ended', date=day)} {framing.quoted('Cuesta 9 €.', language)} [C1]" in text
    assert f"• {framing.quoted('Dura un mes.', language)} [C2]" in text
    assert texts.say(language, "caution_ended", marks="[C1]") in text
    assert framing.responsible("nie", "Policía Nacional", language) in text
    assert [citation.passage_id for citation in citations] == [hit.passage.id for hit in (over, held, asks)]
    assert "11 €" not in text


def test_a_comparison_goes_with_its_year(texts: Texts, real: Any) -> None:
    """A fact that names an earlier year is said with the figure of the year, and not at all once that has ended."""
    years = {"valid_from": "2026-01-01", "valid_until": "2026-12-31"}
    figure = hit_of("nie-plazos-01", 0.9, "Son 9 € en 2026.", **years)
    values = [{"kind": "date", "value": "2025"}, {"kind": "amount", "value": 8, "unit": "EUR"}]
    earlier = hit_of("nie-plazos-02", 1.0, "En 2025 eran 8 €.", values=values, conditions=["nie-plazos-01"], **years)
    for day, said in ((date(2026, 12, 31), {"nie-plazos-01", "nie-plazos-02"}), (date(2027, 1, 1), {"nie-plazos-01"})):
        framing = Framing(texts, real.names, [figure.passage, earlier.passage], lambda day=day: day)
        _, citations = ExtractiveWriter(framing).write([earlier, figure], "es", 1_600)
        assert {citation.passage_id for citation in citations} == said
    assert ExtractiveWriter(framing).write([earlier], "es", 1_600) == ("", ())
