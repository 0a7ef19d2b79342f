"""Tests of the extractive writer."""

import re
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.languages import LANGUAGES
from unit_builders import SOURCE, Catalogued, hit_of

from clara.answering.texts import Texts
from clara.answering.writing.extractive import MAX_FACTS, choose
from clara.answering.writing.frame import END_ISOLATE, ISOLATE, shown_date
from clara.retrieval.passage import Hit

ROOM = 1_600
NEWSPAPER = {**SOURCE, "url": "https://diario.example/tramite", "official": False}


@pytest.fixture
def writer(texts: Texts, real: Any) -> Catalogued:
    """The writer with the real texts, names and passages."""
    return Catalogued(texts, real.names, real.passages)


def quoted(text: str, language: str) -> str:
    """Write a Spanish text as an answer in this language holds it."""
    return f"\u2068{text}\u2069" if language == "ar" else text


def ids(hits: list[Hit]) -> list[str]:
    """Give the ids of the hits' passages."""
    return [hit.passage.id for hit in hits]


@pytest.mark.parametrize(
    ("hits", "expected"),
    [
        pytest.param([hit_of("nie-plazos-03")], ["nie-plazos-03"], id="only-one"),
        pytest.param([hit_of("nie-plazos-01", 1.0), hit_of("tie-plazos-01", 0.99)], ["nie-plazos-01"], id="one-procedure-only"),
        pytest.param([hit_of("nie-plazos-01", 1.0), hit_of("nie-plazos-02", 0.59)], ["nie-plazos-01"], id="far-score-left-out"),
        pytest.param(
            [hit_of("nie-plazos-01", 1.0), hit_of("nie-plazos-02", 0.6)],
            ["nie-plazos-01", "nie-plazos-02"],
            id="just-near-enough",
        ),
        pytest.param(
            [hit_of("nie-plazos-03", 1.0), hit_of("nie-plazos-01", 0.9), hit_of("nie-plazos-02", 0.8)],
            ["nie-plazos-03", "nie-plazos-01", "nie-plazos-02"],
            id="best-first-then-the-editors-order",
        ),
        pytest.param(
            [hit_of("nie-plazos-02", 1.0), hit_of("nie-cuantias-01", 0.95), hit_of("nie-plazos-01", 0.7)],
            ["nie-plazos-02", "nie-plazos-01", "nie-cuantias-01"],
            id="other-sections-last",
        ),
        pytest.param(
            [hit_of(f"nie-plazos-0{place}", 1.0 - place / 100) for place in range(1, 8)],
            [f"nie-plazos-0{place}" for place in range(1, 5)],
            id="four-at-most",
        ),
        pytest.param(
            [
                *[hit_of(f"nie-plazos-0{place}", 1.0 - place / 100) for place in range(2, 7)],
                hit_of("nie-plazos-01", 0.8),
            ],
            ["nie-plazos-02", "nie-plazos-01", "nie-plazos-03", "nie-plazos-04"],
            id="first-fact-is-worth-more",
        ),
    ],
)
def test_choose(hits: list[Hit], expected: list[str]) -> None:
    """The facts shown are near the best one and of its procedure: it, its section in the editor's order, four at most."""
    assert ids(choose(hits)) == expected


@given(
    st.lists(
        st.tuples(st.sampled_from(["nie", "tie"]), st.sampled_from(["plazos", "cuantias"]), st.integers(1, 9)),
        min_size=1,
        max_size=12,
        unique=True,
    ),
    st.data(),
)
def test_choose_anything(names: list[tuple[str, str, int]], draw: st.DataObject) -> None:
    """Whatever was found: one to four of the hits are chosen, each once, of the best one's procedure and near its score."""
    scores = sorted((draw.draw(st.floats(0.01, 1.8)) for _ in names), reverse=True)
    hits = [hit_of(f"{name[0]}-{name[1]}-0{name[2]}", score) for name, score in zip(names, scores, strict=True)]
    chosen = choose(hits)
    assert 1 <= len(chosen) <= MAX_FACTS
    assert len(set(ids(chosen))) == len(chosen)
    assert set(ids(chosen)) <= set(ids(hits))
    assert {hit.passage.document_id for hit in chosen} == {hits[0].passage.document_id}
    assert chosen[0].passage.section == hits[0].passage.section
    assert all(hit.score >= 0.6 * hits[0].score for hit in chosen)


@pytest.mark.parametrize("language", LANGUAGES)
def test_marks_and_citations_agree(texts: Texts, writer: Catalogued, language: str) -> None:
    """Each fact carries a mark, the same mark stands before its source and date, and each has its citation."""
    sources = [{**SOURCE, "url": f"https://sede.example/{place}", "seen_on": f"2026-07-0{place}"} for place in (1, 2)]
    hits = [
        hit_of("nie-plazos-01", 1.0, "La cita dura diez minutos.", sources=[sources[0]]),
        hit_of("nie-plazos-02", 0.9, "El número llega en cinco días.", sources=sources[::-1]),
    ]
    text, citations = writer.write(hits, language, ROOM)
    assert [(citation.mark, citation.passage_id) for citation in citations] == [
        ("C1", "nie-plazos-01"),
        ("C2", "nie-plazos-02"),
    ]
    assert [(citation.document_id, citation.section) for citation in citations] == [("nie", "plazos")] * 2
    assert [(citation.source_url, citation.verified_on) for citation in citations] == [
        ("https://sede.example/1", "2026-07-01"),
        ("https://sede.example/2", "2026-07-02"),
    ]
    first, second = quoted("La cita dura diez minutos.", language), quoted("El número llega en cinco días.", language)
    assert f"• {first} [C1]\n• {second} [C2]" in text
    for citation in citations:
        checked = texts.say(language, "checked_on", date=shown_date(citation.verified_on, language))
        assert f"[{citation.mark}] {texts.say(language, 'source')}: {quoted(citation.source_url, language)} ({checked})" in text


@pytest.mark.parametrize("language", LANGUAGES)
def test_frame(texts: Texts, real: Any, writer: Catalogued, language: str) -> None:
    """The answer begins with the procedure's name and ends with the advice to check; Spanish quotes are explained."""
    text, _ = writer.write([hit_of("nie-plazos-01")], language, ROOM)
    assert text.startswith(f"*{real.names['nie'][language]}*")
    assert text.endswith(f"_{texts.say(language, 'verify')}_")
    assert "\n\n\n" not in text
    if language != "es":
        assert texts.say(language, "spanish_quotes") in text


@pytest.mark.parametrize("language", LANGUAGES)
def test_secondary_is_introduced(texts: Texts, writer: Catalogued, language: str) -> None:
    """A fact of which only sources that are not official speak is introduced as such, however many; no other is."""
    hits = [
        hit_of("nie-plazos-01", 1.0, "Dato oficial.", certainty="official"),
        hit_of("nie-plazos-02", 0.9, "Dato de segunda mano.", certainty="secondary", sources=[NEWSPAPER]),
        hit_of("nie-plazos-03", 0.8, "Dato de dos fuentes.", certainty="two_sources", sources=[NEWSPAPER, NEWSPAPER]),
        hit_of("nie-plazos-04", 0.7, "Dato publicado.", certainty="secondary", sources=[NEWSPAPER, SOURCE]),
    ]
    text, citations = writer.write(hits, language, ROOM)
    caution = texts.say(language, "secondary")
    assert len(citations) == 4
    assert f"• {caution} {quoted('Dato de segunda mano.', language)} [C2]" in text
    assert f"• {caution} {quoted('Dato de dos fuentes.', language)} [C3]" in text
    assert text.count(caution) == 2


@pytest.mark.parametrize(
    ("certainty", "sources", "cautious"),
    [
        pytest.param("secondary", [NEWSPAPER], True, id="secondary"),
        pytest.param("secondary", [NEWSPAPER, NEWSPAPER], True, id="secondary-twice"),
        pytest.param("secondary", [SOURCE], False, id="secondary-with-official-source"),
        pytest.param("secondary", [NEWSPAPER, SOURCE], False, id="secondary-with-one-official-source"),
        pytest.param("two_sources", [NEWSPAPER, NEWSPAPER], True, id="two-sources"),
        pytest.param("official", [SOURCE], False, id="official"),
        pytest.param("official", [NEWSPAPER], True, id="official-by-the-editor-only"),
    ],
)
def test_caution(texts: Texts, writer: Catalogued, certainty: str, sources: list[Any], cautious: bool) -> None:
    """Caution is advised exactly when no source of the fact is official, whatever its certainty."""
    text, _ = writer.write([hit_of("nie-plazos-01", certainty=certainty, sources=sources)], "es", ROOM)
    assert (texts.say("es", "secondary") in text) is cautious


@pytest.mark.parametrize("language", LANGUAGES)
def test_isolates(real: Any, writer: Catalogued, language: str) -> None:
    """In Arabic each Spanish fact and each address is isolated, never one in another; elsewhere nothing is."""
    by_id = {passage.id: passage for passage in real.passages}
    for passage in real.passages:
        text, citations = writer.write([Hit(passage, 1.0)], language, ROOM)
        isolated = re.findall(f"{ISOLATE}([^{ISOLATE}{END_ISOLATE}]*){END_ISOLATE}", text)
        facts = [by_id[citation.passage_id].text for citation in citations]
        pages = dict.fromkeys((citation.source_url, citation.verified_on) for citation in citations)
        expected = [*facts, *(url for url, _ in pages)] if language == "ar" else []
        assert isolated == expected, passage.id
        assert (text.count(ISOLATE), text.count(END_ISOLATE)) == (len(expected), len(expected)), passage.id


@pytest.mark.parametrize("language", LANGUAGES)
def test_unverified_is_never_written(real: Any, texts: Texts, writer: Catalogued, language: str) -> None:
    """No text of an unverified fact is in any answer that the real passages can give."""
    unverified = [
        fact.text
        for procedure in real.catalogue.procedures.values()
        for section in procedure.sections
        for fact in section.facts
        if fact.certainty == "unverified"
    ]
    assert unverified
    written = "\n".join(writer.write([Hit(passage, 1.0)], language, ROOM)[0] for passage in real.passages)
    assert [text for text in unverified if f"{quoted(text, language)} [" in written] == []
    assert texts.say(language, "secondary") in written


def test_facts_are_dropped_from_the_end(writer: Catalogued) -> None:
    """Where there is no room for all facts, the last ones go, and what remains is as much as fits."""
    hits = [hit_of(f"nie-plazos-0{place}", 1.0 - place / 100, f"Hecho {place} " + "x" * 150) for place in range(1, 5)]
    lengths = {}
    for room in range(200, 1_700, 10):
        text, citations = writer.write(hits, "es", room)
        assert [citation.passage_id for citation in citations] == [
            f"nie-plazos-0{place + 1}" for place in range(len(citations))
        ]
        assert len(text) <= room or len(citations) == 1
        lengths.setdefault(len(citations), len(text))
        assert all(room < length for count, length in lengths.items() if count > len(citations))
    assert sorted(lengths) == [1, 2, 3, 4]


def test_exact_room(writer: Catalogued) -> None:
    """A text that fills its room to the last character keeps all its facts, and one character less costs the last."""
    hits = [hit_of("nie-plazos-01", 1.0), hit_of("nie-plazos-02", 0.9, "Otra cosa.")]
    text, citations = writer.write(hits, "es", ROOM)
    assert writer.write(hits, "es", len(text)) == (text, citations)
    assert len(writer.write(hits, "es", len(text) - 1)[1]) == len(citations) - 1


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_page_is_named_once(writer: Catalogued, language: str) -> None:
    """Facts from the same page, seen on the same day, share one line; another day or page has its own."""
    later = {**SOURCE, "seen_on": "2026-07-09"}
    hits = [
        hit_of("nie-plazos-01", 1.0, "Uno."),
        hit_of("nie-plazos-02", 0.9, "Dos.", sources=[later]),
        hit_of("nie-plazos-03", 0.8, "Tres."),
    ]
    text, _ = writer.write(hits, language, ROOM)
    lines = [line.split(" ")[:3] for line in text.splitlines() if SOURCE["url"] in line]
    assert [line[0] for line in lines] == ["[C1]", "[C2]"]
    assert [line[1] == "[C3]" for line in lines] == [True, False]


@pytest.mark.parametrize(
    ("sources", "cited"),
    [
        pytest.param([NEWSPAPER, SOURCE], SOURCE, id="official-second"),
        pytest.param([SOURCE, NEWSPAPER], SOURCE, id="official-first"),
        pytest.param([NEWSPAPER, {**NEWSPAPER, "url": "https://otro.example"}], NEWSPAPER, id="none-official"),
        pytest.param([{**SOURCE, "url": "https://boe.example"}, SOURCE], {**SOURCE, "url": "https://boe.example"}, id="two"),
    ],
)
def test_official_source_is_cited(writer: Catalogued, sources: list[Any], cited: Any) -> None:
    """The source cited is the first official one; where there is none, the first."""
    _, (citation,) = writer.write([hit_of("nie-plazos-01", sources=sources)], "es", ROOM)
    assert (citation.source_url, citation.verified_on) == (cited["url"], cited["seen_on"])


def test_one_fact_always_stays(writer: Catalogued) -> None:
    """A fact is written even where there is no room at all: an answer without a fact is none."""
    text, citations = writer.write([hit_of("nie-plazos-01", text="Es gratis.")], "es", 0)
    assert "Es gratis." in text
    assert len(citations) == 1


@pytest.mark.parametrize(
    ("iso", "language", "expected"),
    [
        pytest.param("2026-08-07", "es", "07/08/2026", id="day"),
        pytest.param("2026-07", "en", "07/2026", id="month"),
        pytest.param("2026-08-07", "zh", "2026-08-07", id="day-zh"),
        pytest.param("2026-07", "zh", "2026-07", id="month-zh"),
        pytest.param("2026-08-07", "ar", "07/08/2026", id="day-ar"),
    ],
)
def test_shown_date(iso: str, language: str, expected: str) -> None:
    """A date is written as people read it: the day first, in Chinese the year first."""
    assert shown_date(iso, language) == expected


@given(st.dates(date(1000, 1, 1)), st.sampled_from(LANGUAGES))
def test_any_date_can_be_read_back(day: date, language: str) -> None:
    """Every day is shown with its own year, month and day, and no two days look the same."""
    shown = shown_date(day.isoformat(), language)
    form = "%Y-%m-%d" if language == "zh" else "%d/%m/%Y"
    assert shown == form.replace("%Y", f"{day.year:04}").replace("%m", f"{day.month:02}").replace("%d", f"{day.day:02}")
