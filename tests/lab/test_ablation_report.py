"""Tests of the ablation's table and plot."""

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from clara_lab.ablation import AblationRow, markdown, plot
from clara_lab.bench.summary import Estimate

SVG = "{http://www.w3.org/2000/svg}"


def row(benchmark: str, variant: str, recall: float, rank: float = 0.5) -> AblationRow:
    measures = {"R@2": Estimate(recall, max(0.0, recall - 0.05), min(1.0, recall + 0.05)), "MRR": Estimate(rank, rank, rank)}
    return AblationRow(benchmark, variant, 200, measures, 4.25, 9.0, 512.6)


ROWS = [
    row("articles", "dense only", 0.7),
    row("articles", "both, .7 + .3", 0.8, 0.4),
    row("articles", "with links", 0.8),
    row("code", "dense only", 0.0),
]
GOALS = {"articles": {"R@2": 0.75}}


def test_table() -> None:
    """One table a benchmark in the order of the rows, with its goal; the best of each measure is bold, ties too."""
    assert markdown(ROWS, GOALS).splitlines() == [
        "## articles, 200 questions",
        "",
        "Goal: R@2 0.75.",
        "",
        "| variant | R@2 | MRR | p50 ms | p95 ms | peak MB |",
        "|---|---|---|---|---|---|",
        "| dense only | 0.700 (0.650-0.750) | **0.500 (0.500-0.500)** | 4.2 | 9.0 | 513 |",
        "| both, .7 + .3 | **0.800 (0.750-0.850)** | 0.400 (0.400-0.400) | 4.2 | 9.0 | 513 |",
        "| with links | **0.800 (0.750-0.850)** | **0.500 (0.500-0.500)** | 4.2 | 9.0 | 513 |",
        "",
        "## code, 200 questions",
        "",
        "Goal: none.",
        "",
        "| variant | R@2 | MRR | p50 ms | p95 ms | peak MB |",
        "|---|---|---|---|---|---|",
        "| dense only | **0.000 (0.000-0.050)** | **0.500 (0.500-0.500)** | 4.2 | 9.0 | 513 |",
    ]


@pytest.mark.parametrize("count", [1, 2, 4], ids=["one-row", "two-rows", "two-benchmarks"])
def test_plot(tmp_path: Path, count: int) -> None:
    """The plot is a PNG and a well-formed SVG of the same shape, with a panel for each benchmark."""
    plot(ROWS[:count], GOALS, tmp_path)
    png = (tmp_path / "ablation.png").read_bytes()
    svg = ET.parse(tmp_path / "ablation.svg").getroot()  # noqa: S314  written a moment ago
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    assert svg.tag == f"{SVG}svg"
    wide, high = int.from_bytes(png[16:20], "big"), int.from_bytes(png[20:24], "big")
    assert float(svg.attrib["width"].removesuffix("pt")) / float(svg.attrib["height"].removesuffix("pt")) == pytest.approx(
        wide / high, rel=0.02
    )
    panels = [group for group in svg.iter(f"{SVG}g") if group.get("id", "").startswith("axes_")]
    assert len(panels) == len({one.benchmark for one in ROWS[:count]})
