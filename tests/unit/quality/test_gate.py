"""Tests of the gate: reading it, and what a run falls short of."""

from pathlib import Path

import pytest

from clara.data_files import DataError
from clara.quality.gate import Gate, Shortfall, read_gate, shortfalls
from clara.quality.measures import MEASURES

GOOD = """
[chain.test]
"hit@1" = 0.9
"hit@1:cross_lingual" = 0.8

[chain.dev]
auroc = 1

[pgvector.test]
mrr = 0
"""
NO_TABLE = "must hold tables such as [chain.test]; correct it"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where the gate is."""
    return tmp_path / "gate.toml"


def faults_of(file: Path) -> list[str]:
    """Read a gate with faults and give them as they are told."""
    with pytest.raises(DataError) as caught:
        read_gate(file)
    return str(caught.value).splitlines()


@pytest.mark.parametrize(
    ("tier", "split", "expected"),
    [
        pytest.param("chain", "test", {"hit@1": 0.9, "hit@1:cross_lingual": 0.8}, id="two"),
        pytest.param("chain", "dev", {"auroc": 1}, id="other-split"),
        pytest.param("pgvector", "test", {"mrr": 0}, id="other-tier"),
        pytest.param("pgvector", "dev", {}, id="split-without-gate"),
        pytest.param("json_fallback", "test", {}, id="tier-without-gate"),
    ],
)
def test_wanted(file: Path, tier: str, split: str, expected: dict[str, float]) -> None:
    """The least values are those of the tier and the split, and of nothing else."""
    file.write_text(GOOD, "utf-8")
    assert read_gate(file).wanted(tier, split) == expected


def test_no_gate(file: Path) -> None:
    """An empty file wants nothing."""
    file.write_text("", "utf-8")
    assert read_gate(file) == Gate({})


@pytest.mark.parametrize(
    ("content", "place", "remedy"),
    [
        pytest.param(
            '[chain.test]\n"hit@2" = 0.5', "chain.test.hit@2", "no such measure; use one of hit@1, hit@3", id="measure"
        ),
        pytest.param(
            '[chain.test]\n"hit@2:plazos" = 0.5', "chain.test.hit@2:plazos", "no such measure", id="measure-of-category"
        ),
        pytest.param("[chain.test]\nmrr = 1.01", "chain.test.mrr", "'1.01' is no share of 0..1; correct it", id="above-1"),
        pytest.param("[chain.test]\nmrr = 90", "chain.test.mrr", "'90' is no share", id="percent"),
        pytest.param("[chain.test]\nmrr = -0.1", "chain.test.mrr", "'-0.1' is no share", id="below-0"),
        pytest.param("[chain.test]\nmrr = nan", "chain.test.mrr", "'nan' is no share", id="not-a-number"),
        pytest.param('[chain.test]\nmrr = "0.9"', "chain.test.mrr", "'0.9' is no share", id="text"),
        pytest.param("[chain.test]\nmrr = true", "chain.test.mrr", "'True' is no share", id="truth"),
        pytest.param("[chain.test]\nmrr = [0.9]", "chain.test.mrr", "'[0.9]' is no share", id="list"),
        pytest.param("[chain.tset]\nmrr = 0.9", "chain.tset", "no such split; use one of dev, test", id="split"),
        pytest.param("[chain]\nmrr = 0.9", "chain.mrr", NO_TABLE, id="no-split"),
        pytest.param("mrr = 0.9", "mrr", NO_TABLE, id="no-tier"),
        pytest.param("[[chain]]\nmrr = 0.9", "chain", NO_TABLE, id="list-of-tables"),
    ],
)
def test_fault(file: Path, content: str, place: str, remedy: str) -> None:
    """What the gate cannot hold against a run is named with its place and remedy."""
    file.write_text(content, "utf-8")
    (fault,) = faults_of(file)
    assert fault.startswith(f"gate.toml: {place}: {remedy}")


def test_all_faults_at_once(file: Path) -> None:
    """Every fault of the gate is named by one reading, and a name may have two."""
    file.write_text('x = 1\n[chain.test]\n"hit@2" = 2\n[pgvector.all]\nmrr = 0.5', "utf-8")
    places = [fault.split(": ")[1] for fault in faults_of(file)]
    assert places == ["x", "chain.test.hit@2", "chain.test.hit@2", "pgvector.all"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        pytest.param(None, "No such file", id="missing"),
        pytest.param(b"[chain.test\nmrr = 1", "line 1", id="not-toml"),
        pytest.param(b"[chain.test]\nmrr = 1\nmrr = 0", "overwrite", id="named-twice"),
        pytest.param(b"# \xe9", "utf-8", id="not-utf-8"),
        pytest.param(b"x = " + b"[" * 100_000, "", id="too-deep"),
    ],
)
def test_unreadable(file: Path, content: bytes | None, said: str) -> None:
    """A gate that is missing or no TOML is named with the cause and the remedy."""
    if content is not None:
        file.write_bytes(content)
    (fault,) = faults_of(file)
    assert fault.startswith("gate.toml: file: cannot be read (")
    assert said in fault
    assert fault.endswith("; restore it from the repository")


@pytest.mark.parametrize(
    ("reached", "short"),
    [
        pytest.param(0.95, False, id="above"),
        pytest.param(0.9, False, id="exactly"),
        pytest.param(0.9 - 1e-9, False, id="but-for-rounding"),
        pytest.param(0.8999, True, id="just-below"),
        pytest.param(0.0, True, id="zero"),
        pytest.param(None, True, id="not-measured"),
    ],
)
def test_shortfalls(reached: float | None, short: bool) -> None:
    """A measure falls short below its least value, and when it could not be taken."""
    expected = [Shortfall("hit@1", 0.9, reached)] if short else []
    assert shortfalls({"hit@1": 0.9}, {"hit@1": reached, "mrr": 0.0}) == expected


def test_a_measure_that_a_run_lacks_falls_short() -> None:
    """A gate on a category that no question has is not passed."""
    wanted = {"hit@1:plazo": 0.0}
    assert shortfalls(wanted, {"hit@1:plazos": 1.0}) == [Shortfall("hit@1:plazo", 0.0, None)]


@pytest.mark.parametrize(
    ("reached", "said"),
    [
        pytest.param(0.8744, "mrr: 0.874, wanted at least 0.900", id="below"),
        pytest.param(None, "mrr: not measured, wanted at least 0.900", id="not-measured"),
    ],
)
def test_told(reached: float | None, said: str) -> None:
    """A shortfall tells the measure, what was reached and what was wanted."""
    assert str(Shortfall("mrr", 0.9, reached)) == said


def test_every_measure_can_be_gated(file: Path) -> None:
    """Each measure may stand in the gate, over all questions and over a category."""
    lines = [f'"{name}" = 0.5\n"{name}:plazos" = 0.5\n' for name in MEASURES]
    file.write_text(f"[chain.test]\n{''.join(lines)}", "utf-8")
    assert len(read_gate(file).wanted("chain", "test")) == 2 * len(MEASURES)
