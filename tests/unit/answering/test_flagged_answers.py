"""Tests of warning of facts in doubt: the warning is said, and never costs the fact that was asked for."""

from typing import Any

import pytest
from tests.languages import LANGUAGES
from unit_builders import Catalogued, hit_of

from clara.answering.texts import Texts
from clara.answering.writing.extractive import ExtractiveWriter
from clara.answering.writing.frame import Framing
from clara.knowledge.passages import marked
from clara.retrieval.passage import Hit

SINCE = "2026-11-20"
ROOM = 1_600


def doubting(texts: Texts, real: Any, *names: str) -> Catalogued:
    """Build a writer that knows these facts to be in doubt, all of them without a name."""
    doubts = dict.fromkeys(names or [passage.id for passage in real.passages], SINCE)
    return Catalogued(texts, real.names, real.passages, {"flagged": lambda: doubts})


def doubted(*hits: Hit) -> list[Hit]:
    return [Hit(marked(hit.passage, {hit.passage.id: SINCE}), hit.score) for hit in hits]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_fact_in_doubt_is_said_with_the_warning(texts: Texts, real: Any, language: str) -> None:
    """The warning stands once, with the marks of the facts it is about, and the fact and its source stay."""
    hits = [*doubted(hit_of("nie-plazos-01", 1.0, "Uno."), hit_of("nie-plazos-02", 0.9, "Dos."))]
    hits.append(hit_of("nie-plazos-03", 0.8, "Tres."))
    text, citations = doubting(texts, real, "none").write(hits, language, ROOM)
    assert text.count(texts.say(language, "caution_flagged", marks="[C1] [C2]")) == 1
    assert [citation.passage_id for citation in citations] == ["nie-plazos-01", "nie-plazos-02", "nie-plazos-03"]
    assert citations[0].source_url in text


def test_a_limit_in_doubt_is_warned_of(texts: Texts, real: Any) -> None:
    """A fact that stands behind another one because it limits it is told with its own warning."""
    fact = next(passage for passage in real.passages if passage.fact.conditions)
    limit = fact.fact.conditions[0]
    text, citations = doubting(texts, real, limit).write([Hit(fact, 1.0)], "es", ROOM)
    mark = next(citation.mark for citation in citations if citation.passage_id == limit)
    assert texts.say("es", "caution_flagged", marks=f"[{mark}]") in text


def test_the_grounded_writers_facts_are_warned_of(texts: Texts, real: Any) -> None:
    """Facts that are taken from the catalogue instead of from the search keep their flag."""
    passage = real.passages[0]
    known = doubting(texts, real, passage.id).framing.known([Hit(passage, 1.0)])
    assert known[0].passage.flagged == SINCE


def test_a_warning_never_costs_the_fact(texts: Texts, real: Any) -> None:
    """Of every fact in every language: where it was said without the warning, it is said with it, within the room."""
    plain = ExtractiveWriter(Framing(texts, real.names, real.passages))
    warning = doubting(texts, real)
    lost = []
    for language in LANGUAGES:
        first = texts.say(language, "first_contact", human=texts.say(language, "human_default"))
        for room in (ROOM, ROOM - len(first) - 2):
            for passage in real.passages:
                before, cited = plain.write([Hit(passage, 1.0)], language, room)
                text, still = warning.write(doubted(Hit(passage, 1.0)), language, room)
                told = {one.passage_id for one in still} == {one.passage_id for one in cited}
                if len(before) <= room and not (told and len(text) <= room):
                    lost.append((language, room, passage.id))
    assert lost == []


def test_without_room_the_warning_is_short(texts: Texts, real: Any) -> None:
    """It takes the place of the advice to check, which says the same."""
    hits = doubted(hit_of("nie-plazos-01", 1.0, "x" * 900))
    texts_at = [doubting(texts, real, "none").write(hits, "es", room)[0] for room in (1_600, 1_250)]
    short, advice = texts.say("es", "caution_flagged_short", marks="[C1]"), texts.say("es", "verify")
    assert [(short in text, advice in text) for text in texts_at] == [(False, True), (True, False)]
