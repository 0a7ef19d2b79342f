"""The passages of norms: short, under their titles, in the right collection, with the days on which they hold."""

from dataclasses import replace
from datetime import date

from tests.unit.knowledge.law.law_samples import sample, written

from clara.knowledge.law.passages import LARGEST, LAW_CORPUS, collection_of, passages_of_norm


def test_an_article_is_found_under_its_path() -> None:
    """Norm, titles and article lead to the text, and the metadata point to the gazette."""
    first = next(one for one in passages_of_norm(sample("BOE-A-2024-24099")) if one.section == "a127")
    assert first.heading[0].startswith("Real Decreto 1155/2024, de 19 de noviembre")
    assert first.heading[-1] == "Artículo 127. Requisitos específicos"
    assert (first.corpus, first.collection, first.document_id, first.territory) == (
        LAW_CORPUS,
        "normativa",
        "BOE-A-2024-24099",
        "ES",
    )
    assert first.metadata["version"] == "2026-04-15"
    assert first.metadata["eli"] == "https://www.boe.es/eli/es/rd/2024/11/19/1155"


def test_long_articles_are_cut_and_lose_nothing() -> None:
    """No passage is over the size, ids are unique, and together they hold every word of what is in force."""
    norm = sample("BOE-A-2015-11724")
    passages = passages_of_norm(norm)
    assert max(len(one.text) for one in passages) <= LARGEST
    assert len({one.id for one in passages}) == len(passages)
    for provision in norm.provisions:
        if provision.key != "preambulo":
            held = " ".join(one.text for one in passages if one.section == provision.key)
            assert held.split() == provision.text.split()


def test_what_does_not_hold_is_no_passage() -> None:
    """Preamble and repealed articles are left out; a norm that was repealed is not found from its day on."""
    assert {"preambulo", "dt10"}.isdisjoint(one.section for one in passages_of_norm(sample("BOE-A-2015-11724")))
    ended = passages_of_norm(sample("BOE-A-2010-12710"))
    assert ended[0].holds(date(2017, 6, 28))
    assert not ended[0].holds(date(2017, 6, 29))


def test_common_procedure_has_a_collection_of_its_own() -> None:
    """The law of common administrative procedure is in `comun`, another norm in `normativa`."""
    norm = written("##### Artículo 1.", "Uno.")
    assert collection_of(norm) == "normativa"
    assert collection_of(replace(norm, id="BOE-A-2015-10565")) == "comun"


def test_a_sentence_without_end_is_cut_between_words() -> None:
    """Even a paragraph without a full stop stays under the size."""
    passages = passages_of_norm(written("##### Artículo 1.", "palabra " * 1_000))
    assert max(len(one.text) for one in passages) <= LARGEST
    assert sum(one.text.count("palabra") for one in passages) == 1_000
