"""Plots as inline SVG, drawn by hand of rectangles, lines and words; colours come from the page, light or dark.

Each is 380 wide and scales with its column; at 380 pixels of a phone its letters were seen to be 9 to 11 pixels high.
What it shows is told in words in its <desc>, and all figures stand in a table beside it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from typing import Final

from clara_lab.benchmark import Estimate

WIDTH: Final = 380
LETTER: Final = 13
# Where the longest label of the left ends and the plot begins; labels are cut to fit.
LEFT: Final = 116
RIGHT: Final = 54
LABEL_LETTERS: Final = 15
# What the words at a mark need, such as "p95 1234 ms".
MARKED: Final = 86
ROW: Final = 30
BINS: Final = 24


@dataclass(frozen=True, slots=True)
class Bar:
    """One row of a plot of intervals: what it is of, its mean and interval, and of how many questions."""

    label: str
    estimate: Estimate
    count: int


def intervals(title: str, bars: Sequence[Bar]) -> str:
    """Draw a mean and its interval for each row, on a scale of 0 to 1."""
    span = WIDTH - LEFT - RIGHT
    parts = [_grid(LEFT, span, 8, ROW * len(bars) + 8)]
    for row, bar in enumerate(bars):
        y = 8 + ROW * row + ROW / 2
        low, mean, high = (LEFT + span * value for value in (bar.estimate.low, bar.estimate.mean, bar.estimate.high))
        parts += [
            _words(LEFT - 8, y - 2, _cut(bar.label), "label end"),
            _words(LEFT - 8, y + 11, f"{bar.count} questions", "small end"),
            f'<rect class="bar" x="{LEFT}" y="{y - 8:.1f}" width="{mean - LEFT:.1f}" height="16"/>',
            f'<path class="whisker" d="M{low:.1f} {y:.1f}H{high:.1f}M{low:.1f} {y - 4:.1f}v8M{high:.1f} {y - 4:.1f}v8"/>',
            _words(WIDTH - RIGHT + 8, y + 4, f"{bar.estimate.mean:.3f}", "label"),
        ]
    told = "; ".join(
        f"{bar.label}: {bar.estimate.mean:.3f} ({bar.estimate.low:.3f} to {bar.estimate.high:.3f})" for bar in bars
    )
    return _svg(title, told, ROW * len(bars) + 34, parts)


def lines(title: str, depths: Sequence[int], series: Mapping[str, Sequence[Estimate]]) -> str:
    """Draw one line a measure over the depths 1, 3, 5, ..., with a band for its interval, on a scale of 0 to 1."""
    left, top, height = 34, 12, 190
    span = WIDTH - left - 92
    xs = [left + span * place / max(1, len(depths) - 1) for place in range(len(depths))]
    parts = [
        _words(left - 6, top + height * (1 - tick / 4) + 4, f"{tick / 4:.2f}".rstrip("0").rstrip("."), "small end")
        for tick in range(5)
    ]
    parts += [f'<path class="grid" d="M{left} {top + height * tick / 4:.1f}h{span}"/>' for tick in range(5)]
    parts += [_words(x, top + height + 18, str(depth), "small middle") for x, depth in zip(xs, depths, strict=True)]
    parts.append(_words(left + span / 2, top + height + 34, "documents looked at (k)", "small middle"))
    ends = _apart([top + height * (1 - values[-1].mean) for values in series.values()])
    for number, ((name, values), end) in enumerate(zip(series.items(), ends, strict=True)):
        ys = [[top + height * (1 - bound) for bound in (one.low, one.mean, one.high)] for one in values]
        upper = " ".join(f"{x:.1f},{y[2]:.1f}" for x, y in zip(xs, ys, strict=True))
        lower = " ".join(f"{x:.1f},{y[0]:.1f}" for x, y in zip(reversed(xs), reversed(ys), strict=True))
        mean = " ".join(f"{x:.1f},{y[1]:.1f}" for x, y in zip(xs, ys, strict=True))
        parts += [
            f'<polygon class="band s{number}" points="{upper} {lower}"/>',
            f'<polyline class="line s{number}" points="{mean}"/>',
            *(f'<circle class="dot s{number}" cx="{x:.1f}" cy="{y[1]:.1f}" r="3"/>' for x, y in zip(xs, ys, strict=True)),
            _words(left + span + 8, end + 4, f"{name} {values[-1].mean:.2f}", f"label s{number}"),
        ]
    told = "; ".join(
        f"{name}: " + ", ".join(f"{one.mean:.3f} at {depth}" for one, depth in zip(values, depths, strict=True))
        for name, values in series.items()
    )
    return _svg(title, told, top + height + 42, parts)


def histogram(title: str, ordered: Sequence[float], marks: Mapping[str, float], unit: str) -> str:
    """Draw how often values occurred, up to a little beyond the last mark; what is larger is gathered in the last bar."""
    left, top, height = 12, 30, 120
    span = WIDTH - 2 * left
    most = max(*marks.values(), 1e-9) * 1.25
    counts = [0] * BINS
    for value in ordered:
        counts[min(BINS - 1, int(value / most * BINS))] += 1
    width = span / BINS
    parts = [
        f'<rect class="bar" x="{left + width * place + 1:.1f}" y="{top + height * (1 - count / max(counts)):.1f}" '
        f'width="{width - 2:.1f}" height="{height * count / max(counts):.1f}"/>'
        for place, count in enumerate(counts)
        if count
    ]
    places = {name: left + span * value / most for name, value in marks.items()}
    for name, x in places.items():
        # Behind the last mark is a fifth of the width. Words of those before it stand on their other side, where there is room.
        before = x < max(places.values()) and x > MARKED
        words = f"{name} {_short(marks[name])} {unit}"
        parts.append(f'<path class="mark" d="M{x:.1f} {top - 8}V{top + height}"/>')
        parts.append(_words(x - 3 if before else x + 3, top - 12, words, "label end" if before else "label"))
    parts.append(f'<path class="axis" d="M{left} {top + height}h{span}"/>')
    for tick in range(5):
        anchor = "start" if tick == 0 else "end" if tick == 4 else "middle"  # noqa: PLR2004
        more = "+" if tick == 4 and ordered[-1] > most else ""  # noqa: PLR2004
        parts.append(_words(left + span * tick / 4, top + height + 16, _short(most * tick / 4) + more, f"small {anchor}"))
    told = f"{len(ordered)} values; " + ", ".join(f"{name} {value:.1f} {unit}" for name, value in marks.items())
    return _svg(title, f"{told}; largest {ordered[-1]:.1f} {unit}", top + height + 24, parts)


def shares(title: str, rows: Mapping[str, tuple[int, int, int]]) -> str:
    """Draw for each row how many questions lost, stayed and gained, as parts of one bar, with the numbers in them."""
    span = WIDTH - LEFT - 12
    parts = []
    for number, (label, counted) in enumerate(rows.items()):
        y, x = 4 + ROW * number, float(LEFT)
        parts.append(_words(LEFT - 8, y + 18, _cut(label), "label end"))
        for kind, count in zip(("lost", "same", "gained"), counted, strict=True):
            wide = span * count / max(1, sum(counted))
            parts.append(f'<rect class="{kind}" x="{x:.1f}" y="{y + 3}" width="{wide:.1f}" height="22"/>')
            if wide > 9 * len(str(count)):
                parts.append(_words(x + wide / 2, y + 18, str(count), f"middle on-{kind}"))
            x += wide
    told = "; ".join(f"{label}: {lost} lost, {same} the same, {gained} gained" for label, (lost, same, gained) in rows.items())
    return _svg(title, told, ROW * len(rows) + 8, parts)


def _svg(title: str, told: str, height: float, parts: Sequence[str]) -> str:
    return (
        f'<svg viewBox="0 0 {WIDTH} {height:.0f}" role="img" font-size="{LETTER}">'
        f"<title>{escape(title)}</title><desc>{escape(told)}</desc>{''.join(parts)}</svg>"
    )


def _grid(left: float, span: float, top: float, bottom: float) -> str:
    ticks = [(left + span * tick / 4, f"{tick / 4:g}") for tick in range(5)]
    rules = "".join(f'<path class="grid" d="M{x:.1f} {top}V{bottom}"/>' for x, _ in ticks)
    return rules + "".join(_words(x, bottom + 15, label, "small middle") for x, label in ticks)


def _words(x: float, y: float, words: str, kinds: str) -> str:
    return f'<text class="{kinds}" x="{x:.1f}" y="{y:.1f}">{escape(words)}</text>'


def _cut(label: str) -> str:
    return label if len(label) <= LABEL_LETTERS else label[: LABEL_LETTERS - 1] + "…"


def _short(value: float) -> str:
    """Give as many digits as matter: 0, 0.42, 4.2, 42, 4200."""
    if not value:
        return "0"
    return f"{value:.2f}" if value < 1 else f"{value:.1f}" if value < 10 else f"{value:.0f}"  # noqa: PLR2004


def _apart(places: Sequence[float]) -> list[float]:
    """Move lines that are too near to each other so far down that words at them do not overlap; their order stays."""
    order = sorted(range(len(places)), key=lambda number: places[number])
    moved = list(places)
    for before, after in pairwise(order):
        moved[after] = max(moved[after], moved[before] + LETTER + 2)
    return moved
