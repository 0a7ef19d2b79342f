"""The ablation's figures as a Markdown table and as a plot."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from matplotlib.figure import Figure

from clara_lab.bench.summary import Estimate
from clara_lab.templates import rendered

Goals = Mapping[str, Mapping[str, float]]
PANEL_INCHES = (7.5, 0.28)
COLOUR, BEST_COLOUR, GOAL_COLOUR = "#8aa1b8", "#1f5fa8", "#c0392b"


@dataclass(frozen=True, slots=True)
class AblationRow:
    """One variant on one benchmark. Latencies are of one question, in milliseconds, memory is the process's peak in MB."""

    benchmark: str
    variant: str
    questions: int
    measures: Mapping[str, Estimate]
    p50: float
    p95: float
    memory: float


def markdown(rows: Sequence[AblationRow], goals: Goals) -> str:
    """Write one table a benchmark; the best of each measure is bold."""
    groups = _groups(rows)
    wanted = {name: ", ".join(f"{measure} {goal:.2f}" for measure, goal in goals.get(name, {}).items()) for name in groups}
    return rendered("ablation.md", groups=groups.items(), wanted=wanted).rstrip("\n") + "\n"


def plot(rows: Sequence[AblationRow], goals: Goals, folder: Path) -> None:
    """Draw each benchmark's first measure with its intervals, as PNG and SVG."""
    groups = _groups(rows)
    heights = [len(group) + 3 for group in groups.values()]
    figure = Figure(figsize=(PANEL_INCHES[0], PANEL_INCHES[1] * sum(heights)), layout="constrained")
    panels = figure.subplots(len(groups), 1, squeeze=False, gridspec_kw={"height_ratios": heights})
    for panel, (benchmark, group) in zip(panels[:, 0], groups.items(), strict=True):
        name = next(iter(group[0].measures))
        values = [row.measures[name] for row in group]
        best = max(value.mean for value in values)
        panel.barh(
            [row.variant for row in group],
            [value.mean for value in values],
            xerr=[[value.mean - value.low for value in values], [value.high - value.mean for value in values]],
            color=[BEST_COLOUR if value.mean == best else COLOUR for value in values],
            error_kw={"elinewidth": 0.8, "capsize": 2},
        )
        for place, value in enumerate(values):
            panel.annotate(f"{value.mean:.3f}", (0.005, place), va="center", fontsize=7, color="white", xycoords="data")
        if name in goals.get(benchmark, {}):
            panel.axvline(goals[benchmark][name], color=GOAL_COLOUR, linewidth=1, linestyle="--", label="goal")
            panel.legend(loc="lower right", fontsize=7)
        panel.invert_yaxis()
        panel.set_xlim(0, 1)
        panel.set_title(f"{benchmark}: {name}, 95 % interval", fontsize=9, loc="left")
        panel.tick_params(labelsize=7)
    for kind in ("png", "svg"):
        figure.savefig(folder / f"ablation.{kind}", dpi=150)


def _groups(rows: Sequence[AblationRow]) -> dict[str, list[AblationRow]]:
    groups: dict[str, list[AblationRow]] = {}
    for row in rows:
        groups.setdefault(row.benchmark, []).append(row)
    return groups
