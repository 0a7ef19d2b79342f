"""Tests of the registry of sources: the real one, and every fault of a broken one."""

import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from unit_builders import fact_of, procedure_of

from clara.data_files import DataError, partial_date
from clara.knowledge.catalogue import Catalogue, read_catalogue
from clara.knowledge.law.references import cited_by
from clara.knowledge.places import Places
from clara.knowledge.procedure import LegalBasis, Source
from clara.knowledge.sources import (
    RegisteredSource,
    SourceKind,
    address_of,
    is_norm,
    read_sources,
    source_faults,
    within,
)

ENTRY = """
  - id: interior-nie
    name: "Ministerio del Interior"
    kind: html
    url: https://www.interior.gob.es/nie
    domain: interior.gob.es
    every_days: 14
    pause_seconds: 5
    procedures: [nie]
"""
PAGE = RegisteredSource(
    "interior-nie", "Interior", SourceKind.HTML, "https://interior.example/nie", ("nie",), "interior.example", 14, 5.0
)
NORM = RegisteredSource(
    "BOE-A-2000-544", "Ley", SourceKind.NORM, "https://www.boe.es/buscar/act.php?id=BOE-A-2000-544", ("nie",), "boe.es", 7, 1.0
)


@pytest.fixture(scope="session")
def sources(data: Path) -> dict[str, RegisteredSource]:
    """The real registry."""
    return read_sources(data)


def test_the_registry_agrees_with_the_facts(sources: dict[str, RegisteredSource], data: Path) -> None:
    """Every norm and official page that a fact cites has a source, which names exactly the procedures of those facts."""
    assert source_faults(sources, read_catalogue(data)) == []


def test_every_address_is_within_its_domain(sources: dict[str, RegisteredSource]) -> None:
    """No source leads outside the domain that may be asked for it, and official ones are asked through https."""
    for source in sources.values():
        assert within(urlsplit(source.url).hostname, source.domain), source.id
        assert urlsplit(source.url).scheme == "https" or not source.official


def test_norms_are_named_by_the_gazette(sources: dict[str, RegisteredSource], data: Path) -> None:
    """A norm's address holds its number, and all cited norms are there besides the one that holds for every procedure."""
    norms = [source for source in sources.values() if source.kind is SourceKind.NORM]
    assert all(is_norm(norm.url) and norm.url.endswith(norm.id) for norm in norms)
    assert {norm.id for norm in norms if norm.procedures} == set(cited_by(read_catalogue(data).procedures.values()))
    assert [norm.id for norm in norms if not norm.procedures] == ["BOE-A-2015-10566"]


def written(folder: Path, data: Path, text: str) -> list[str]:
    """Give the faults of a registry of this text, each a line of the message."""
    (folder / "schema").mkdir()
    (folder / "schema" / "sources.schema.json").write_bytes((data / "schema" / "sources.schema.json").read_bytes())
    (folder / "sources.yaml").write_text(text, "utf-8")
    with pytest.raises(DataError) as caught:
        read_sources(folder)
    return str(caught.value).splitlines()


def changed(before: str, after: str) -> Callable[[str], str]:
    """Replace something in the one entry."""
    return lambda text: text.replace(before, after)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param(changed("kind: html", "kind: htm"), '$.sources[0].kind: "htm" is none of norm, html, pdf, xml', id="kind"),
        pytest.param(changed("kind: html", "kind: norm"), "$.sources[0].id: ", id="norm-without-its-number"),
        pytest.param(changed("every_days: 14", "every_days: 0"), "$.sources[0].every_days: 0 is less than", id="never"),
        pytest.param(changed("every_days: 14", "each_days: 14"), "$.sources[0]: ", id="unknown-field"),
        pytest.param(changed("domain: interior", "domain: exterior"), "$.sources[0].url: its host", id="other-domain"),
        pytest.param(changed("domain: interior", "domain: terior"), "$.sources[0].url: its host", id="end-of-a-word"),
        pytest.param(changed("https://", "http://"), "$.sources[0].url: an official source", id="open-to-changes"),
        pytest.param(changed("https://", "ftp://"), "$.sources[0].url: ", id="scheme"),
        pytest.param(changed("https://", "https://me@"), "$.sources[0].url: ", id="user"),
        pytest.param(changed("gob.es/nie", "gob.es:8443/nie"), "$.sources[0].url: names the port", id="port"),
        pytest.param(changed("gob.es/nie", "gob.es:x/nie"), "$.sources[0].url: is no address", id="no-address"),
        pytest.param(lambda text: text + ENTRY, "$.sources[1].id: is that of $.sources[0]", id="twice"),
        pytest.param(changed("kind: html", "kind: html\n    kind: pdf"), "line 5, column 5: not YAML", id="field-twice"),
        pytest.param(changed("[nie]", "[nie"), "not YAML", id="broken"),
        pytest.param(changed("[nie]", "&a [nie]\n    more: *a"), "aliases are not read", id="alias"),
        pytest.param(changed("kind", "? [kind]\n    "), "not YAML", id="strange-name"),
        pytest.param(lambda _text: "sources: []", "$.sources: ", id="empty"),
        pytest.param(lambda _text: "", "$: ", id="nothing"),
        pytest.param(lambda _text: "a: 0x", "$: ", id="other-file"),
        pytest.param(lambda _text: "[" * 5000, "not usable YAML", id="nested"),
    ],
)
def test_faults(change: Callable[[str], str], expected: str, tmp_path: Path, data: Path) -> None:
    """Each fault is named with its place in the file."""
    faults = written(tmp_path, data, change(f"sources:{ENTRY}"))
    assert any(expected in line for line in faults), faults
    assert all(line.startswith("sources.yaml: ") for line in faults)


def test_all_faults_are_named_at_once(tmp_path: Path, data: Path) -> None:
    """Two faults in two entries are two lines."""
    second = ENTRY.replace("interior-nie", "interior-tie").replace("gob.es/nie", "gob.es/tie").replace("https", "http")
    assert len(written(tmp_path, data, f"sources:{ENTRY.replace('domain: i', 'domain: x')}{second}")) == 2


def test_a_file_that_is_not_there(tmp_path: Path, data: Path) -> None:
    """Whoever has no registry is told where it comes from."""
    (tmp_path / "schema").mkdir()
    (tmp_path / "schema" / "sources.schema.json").write_bytes((data / "schema" / "sources.schema.json").read_bytes())
    with pytest.raises(DataError, match="restore it from the repository"):
        read_sources(tmp_path)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param({}, [], id="agrees"),
        pytest.param({PAGE.id: None}, ["facts cite the official page interior.example/nie"], id="page-missing"),
        pytest.param({NORM.id: None}, ["facts cite the norm BOE-A-2000-544"], id="norm-missing"),
        pytest.param({NORM.id: replace(NORM, procedures=())}, ["procedures: its facts are of [nie]"], id="unsaid"),
        pytest.param({PAGE.id: replace(PAGE, procedures=("nie", "tie"))}, ["interior-nie: procedures"], id="too-many"),
    ],
)
def test_comparing_with_facts(change: dict[str, RegisteredSource | None], expected: list[str]) -> None:
    """What facts cite and the registry lacks, or tells otherwise, is a fault; the scheme of a page makes no difference."""
    cited = Source("http://interior.example/nie#plazos", partial_date("2026-07-08"), official=True)
    fact = fact_of(legal_basis=(LegalBasis("BOE-A-2000-544", "art. 4"),), sources=(cited,))
    catalogue = Catalogue({"nie": procedure_of("nie", fact)}, (), Places([]))
    held = {PAGE.id: PAGE, NORM.id: NORM, **change}
    faults = [str(fault) for fault in source_faults({name: one for name, one in held.items() if one}, catalogue)]
    assert len(faults) == len(expected)
    assert all(part in fault for part, fault in zip(expected, faults, strict=True)), faults


@pytest.mark.parametrize(
    ("host", "inside"),
    [
        ("boe.es", True),
        ("www.boe.es", True),
        ("WWW.BOE.ES.", True),
        ("noboe.es", False),
        ("boe.es.evil.example", False),
        (None, False),
    ],
)
def test_within(host: str | None, inside: bool) -> None:
    """A domain holds itself and what is below it, and nothing that only ends or begins like it."""
    assert within(host, "boe.es") is inside


@example("?")
@example("0001-01-01")
@given(st.text(st.characters(codec="utf-8", exclude_characters="\r"), max_size=80))
def test_any_text(text: str) -> None:
    """Whatever the file holds, the answer is its faults: nothing else is raised."""
    schema = Path(__file__).parents[3] / "data" / "schema" / "sources.schema.json"
    with pytest.raises(DataError):
        _read(text, schema)


def _read(text: str, schema: Path) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "schema").mkdir()
        (folder / "schema" / "sources.schema.json").write_bytes(schema.read_bytes())
        (folder / "sources.yaml").write_text(text, "utf-8")
        read_sources(folder)


def test_addresses() -> None:
    """Scheme, fragment and capitals of the host make no other page; the query does."""
    assert address_of("http://A.example/x?y=1#z") == address_of("https://a.example/x?y=1")
    assert address_of("https://a.example/x?y=1") != address_of("https://a.example/x?y=2")
