"""Plots as inline SVG, drawn by matplotlib in the colours of the page, light or dark.

Each is 3.8 inches wide and scales with its column; at 380 pixels of a phone its letters are about 11 pixels high. What it shows
is told in words in its <desc>, and all figures stand in a table beside it.
"""

import io
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Final

import numpy as np
from markupsafe import Markup
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from clara_lab.bench.summary import Estimate

# Colours that nothing else has are written as the page's variables of the same meaning.
_NAMES: Final = ("ink", "muted", "rule", "bar", "good", "bad", "same", "s0", "s1", "s2")
_VARIABLES: Final = {f"#0000{number:02x}": name for number, name in enumerate(_NAMES, 1)}
INK, MUTED, RULE, BAR, GOOD, BAD, SAME, *LINES = _VARIABLES
# Lines that differ by more than their colour.
_STROKES: Final = ("-", "--", ":")
_STYLE: Final = Path(__file__).with_name("plots.mplstyle")
INCHES: Final = 3.8
ROW: Final = 0.34
LABEL_LETTERS: Final = 18
BINS: Final = 24


@dataclass(frozen=True, slots=True)
class Bar:
    """One row of a plot of intervals: what it is of, its mean and interval, and of how many questions."""

    label: str
    estimate: Estimate
    count: int


@rc_context(fname=_STYLE)
def intervals(title: str, bars: Sequence[Bar]) -> Markup:
    """Draw a mean and its interval for each row, on a scale of 0 to 1."""
    figure, axes = _axes(ROW * len(bars) + 0.3)
    found = [bar.estimate for bar in bars]
    errors = [[one.mean - one.low for one in found], [one.high - one.mean for one in found]]
    strokes = {"elinewidth": 1, "capsize": 2}
    axes.barh(range(len(bars)), [one.mean for one in found], 0.55, xerr=errors, color=BAR, ecolor=INK, error_kw=strokes)
    _rows(axes, [f"{_cut(bar.label)}\n{bar.count} questions" for bar in bars])
    for place, one in enumerate(found):
        axes.annotate(f"{one.mean:.3f}", (1.02, place), xycoords=("axes fraction", "data"), va="center", annotation_clip=False)
    axes.set_xlim(0, 1)
    axes.grid(axis="x")
    told = (f"{bar.label}: {bar.estimate.mean:.3f} ({bar.estimate.low:.3f} to {bar.estimate.high:.3f})" for bar in bars)
    return _svg(figure, title, "; ".join(told))


@rc_context(fname=_STYLE)
def lines(title: str, depths: Sequence[int], series: Mapping[str, Sequence[Estimate]]) -> Markup:
    """Draw one line a measure over the depths 1, 3, 5, ..., with a band for its interval, on a scale of 0 to 1."""
    places = range(len(depths))
    figure, axes = _axes(2.4)
    for (name, values), colour, stroke in zip(series.items(), LINES, _STROKES, strict=False):
        means = [one.mean for one in values]
        axes.fill_between(places, [one.low for one in values], [one.high for one in values], color=colour, alpha=0.14, lw=0)
        axes.plot(places, means, stroke, marker="o", markersize=3, color=colour, label=f"{name} {means[-1]:.2f}")
    axes.set_xticks(places, [str(depth) for depth in depths])
    axes.set_xlabel("documents looked at (k)")
    axes.set_ylim(0, 1)
    axes.grid(axis="y")
    axes.legend(loc="lower right", labelcolor="linecolor")
    told = (
        f"{name}: " + ", ".join(f"{one.mean:.3f} at {depth}" for one, depth in zip(values, depths, strict=True))
        for name, values in series.items()
    )
    return _svg(figure, title, "; ".join(told))


@rc_context(fname=_STYLE)
def histogram(title: str, ordered: Sequence[float], marks: Mapping[str, float], unit: str) -> Markup:
    """Draw how often values occurred, up to a little beyond the last mark; what is larger is gathered in the last bar."""
    most = max(*marks.values(), 1e-9) * 1.25
    figure, axes = _axes(1.7)
    axes.hist(np.minimum(ordered, most), BINS, range=(0, most), rwidth=0.9, color=BAR)
    for (name, value), stroke in zip(marks.items(), ("--", ":"), strict=True):
        axes.axvline(value, color=BAD, linestyle=stroke, label=f"{name} {value:.3g} {unit}")
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.set_xlim(0, most)
    axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=len(marks))
    told = f"{len(ordered)} values; " + ", ".join(f"{name} {value:.1f} {unit}" for name, value in marks.items())
    return _svg(figure, title, f"{told}; largest {ordered[-1]:.1f} {unit}")


@rc_context(fname=_STYLE)
def shares(title: str, rows: Mapping[str, tuple[int, int, int]]) -> Markup:
    """Draw for each row how many questions lost, stayed and gained, as parts of one bar, with the numbers in them."""
    counts = np.array(list(rows.values()))
    wide = counts.sum(axis=1).max() / 12
    figure, axes = _axes(ROW * len(rows) + 0.05)
    for part, colour, letters in zip(range(3), (BAD, SAME, GOOD), ("white", INK, "white"), strict=True):
        bars = axes.barh(range(len(rows)), counts[:, part], 0.75, counts[:, :part].sum(axis=1), color=colour)
        numbers = [str(count) if count > wide else "" for count in counts[:, part]]
        axes.bar_label(bars, numbers, label_type="center", color=letters)
    _rows(axes, [_cut(label) for label in rows])
    axes.set_xticks([])
    axes.spines["bottom"].set_visible(False)
    axes.margins(x=0)
    told = (f"{label}: {lost} lost, {same} the same, {gained} gained" for label, (lost, same, gained) in rows.items())
    return _svg(figure, title, "; ".join(told))


def _axes(height: float) -> tuple[Figure, Axes]:
    figure = Figure((INCHES, height), layout="constrained")
    axes = figure.subplots()
    axes.tick_params(length=0)
    return figure, axes


def _rows(axes: Axes, labels: Sequence[str]) -> None:
    axes.set_yticks(range(len(labels)), labels)
    axes.invert_yaxis()
    axes.spines["left"].set_visible(False)


def _svg(figure: Figure, title: str, told: str) -> Markup:
    """Give the drawing as a part of a page: its size, letters and colours are the page's, and it names no address."""
    written = io.StringIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")  # measured without it; the browser has a font that has it
        figure.savefig(written, format="svg", metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")))
    drawn = written.getvalue()
    opening, _, rest = drawn[drawn.index("<svg") :].partition(">")
    box = re.search(r'viewBox="[^"]*"', opening)
    rest = re.sub(r"font: ([\d.]+)px [^;\"]+", r"font: \1px system-ui, sans-serif", rest).replace("xlink:href", "href")
    rest = re.sub("#0000(?:0[1-9]|0a)", lambda found: f"var(--{_VARIABLES[found[0]]})", rest)
    said = f"<title>{escape(title)}</title><desc>{escape(told)}</desc>"
    return Markup(f'<svg {box[0] if box else ""} role="img">{said}{rest}')  # noqa: S704  drawn here, its words escaped


def _cut(label: str) -> str:
    """Cut a label to fit; half a surrogate pair, which no font can measure, becomes a question mark."""
    whole = label.encode("utf-8", "replace").decode()
    return whole if len(whole) <= LABEL_LETTERS else whole[: LABEL_LETTERS - 1] + "…"
