"""Tests of the record of the second reading of the facts beside the law: what it says is what the catalogue does."""

import json
from collections import Counter
from collections.abc import Mapping

import pytest

from clara.knowledge.catalogue import Catalogue, read_catalogue
from clara.knowledge.procedure import Certainty
from clara.settings import resources

FOLDER = resources() / "docs" / "readings" / "2026-11-23"
LATER = FOLDER.with_name("2026-11-26")
REFUSED = {"corrected", "withheld"}
Readings = Mapping[str, list[dict[str, str]]]
VERDICTS = {"applied", "changed", "withheld", "kept", "added"}
HARMS = {"high", "medium", "low", "none"}


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return read_catalogue(resources() / "data")


@pytest.fixture(scope="module")
def readings() -> Readings:
    """The lines by procedure."""
    return {
        file.stem: [json.loads(line) for line in file.read_text("utf-8").splitlines()]
        for file in sorted(FOLDER.glob("*.jsonl"))
    }


def test_every_procedure_of_the_reading_has_its_record(catalogue: Catalogue, readings: Readings) -> None:
    """Each line names a fact of its procedure once, what was decided, the harm it could do, the article and why."""
    assert readings.keys() <= catalogue.procedures.keys()
    assert len(readings) == 23
    for procedure, lines in readings.items():
        facts = {fact.id for fact in catalogue.procedures[procedure].facts}
        named = Counter(line["fact"] for line in lines)
        assert {name: count for name, count in named.items() if count > 1} == {}
        assert named.keys() <= facts, procedure
        for line in lines:
            assert line["verdict"] in VERDICTS, line
            assert line["harm"] in HARMS, line
            assert line["norm"] or line["verdict"] in ("withheld", "kept"), line
            assert line["why"], line


def test_what_is_withheld_is_not_told(catalogue: Catalogue, readings: Readings) -> None:
    """A fact that somebody must look at first is in the data, unpublished, and named among the gaps of its procedure."""
    withheld = [
        (procedure, line["fact"]) for procedure, lines in readings.items() for line in lines if line["verdict"] == "withheld"
    ]
    assert withheld
    for procedure, name in withheld:
        fact = next(one for one in catalogue.procedures[procedure].facts if one.id == name)
        assert fact.certainty is Certainty.UNVERIFIED, name


def test_what_was_mended_is_told_with_its_article(catalogue: Catalogue, readings: Readings) -> None:
    """What could cost somebody money, a deadline or a right, and was mended, is published with a source.

    Unless a later reader found that it does not stand.
    """
    later = LATER.glob("*.jsonl")
    lines = [json.loads(line) for file in later for line in file.read_text("utf-8").splitlines()]
    refused = {name for name, verdict in {line["fact"]: line["verdict"] for line in lines}.items() if verdict in REFUSED}
    mended = [
        (procedure, line["fact"])
        for procedure, lines in readings.items()
        for line in lines
        if line["verdict"] in ("applied", "changed") and line["harm"] == "high"
    ]
    assert len(mended) > 100
    for procedure, name in mended:
        fact = next(one for one in catalogue.procedures[procedure].facts if one.id == name)
        if name in refused:
            continue
        assert fact.certainty is not Certainty.UNVERIFIED, name
        assert fact.sources, name
