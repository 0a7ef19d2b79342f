"""A comparison of two runs for reading: as text, as JSON, and as a page."""

import json
from dataclasses import asdict
from html import escape
from typing import Any, Final

from clara_lab.bench.comparing import Changed, Comparison, Difference
from clara_lab.bench.page import figure, page, paragraph, plots, section, table
from clara_lab.bench.plots import shares
from clara_lab.bench.serialising import finite

NOT_CORRECTED: Final = "Each p is of one measure alone: of twenty measures, one is below .05 by chance."
NOT_THE_SAME: Final = (
    "The runs are over DIFFERENT data; only questions with the same id were compared, and means may differ for that alone."
)
HEADS: Final = ("measure", "first", "second", "difference", "95 % interval", "p", "McNemar p", "better", "worse", "questions")
# Below, a p is given as being below: the tests cannot tell much less apart.
LEAST_P: Final = 0.001
# The measures whose gains and losses are drawn, if the runs have them.
DRAWN: Final = ("hit@1", "recall@5", "ndcg@10", "mrr", "f1", "accuracy")


def comparison_text(compared: Comparison) -> str:
    """Give the table of differences, the settings that differ and how many questions changed side, as plain text."""
    rows = [HEADS, *(_cells(one) for one in compared.differences)]
    widths = [max(len(row[at]) for row in rows) for at in range(len(HEADS))]
    lines = [*_notes(compared), ""]
    for row in rows:
        cells = [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        lines.append("  ".join([row[0].ljust(widths[0]), *cells]).rstrip())
    lines += ["", NOT_CORRECTED, ""]
    lines += [f"{name}: {_value(first)} -> {_value(second)}" for name, (first, second) in compared.settings.items()]
    for name in dict.fromkeys(one.measure for one in compared.changed):
        found = [one for one in compared.changed if one.measure == name]
        gained = " ".join(one.question for one in found if one.second > one.first) or "none"
        lost = " ".join(one.question for one in found if one.second < one.first) or "none"
        lines += ["", f"{name}: gained {gained}", f"{name}: lost {lost}"]
    return "\n".join(lines) + "\n"


def comparison_json(compared: Comparison) -> str:
    """Give everything of the comparison as JSON."""
    return json.dumps(finite(asdict(compared)), indent=1) + "\n"


def comparison_page(compared: Comparison) -> str:
    """Give the comparison as a page that stands alone."""
    drawn = {
        one.name: (one.worse, one.count - one.worse - one.better, one.better)
        for one in compared.differences
        if one.name in DRAWN
    }
    note = "From left to right: questions for which the second run is worse, the same, and better."
    title = "Gains and losses"
    settings = [[name, _value(first), _value(second)] for name, (first, second) in compared.settings.items()]
    first, *others = _notes(compared)
    return page(
        first,
        [
            f"<header><h1>{escape(first)}</h1>",
            *(paragraph(words, "notice") for words in others),
            "</header>",
            section("Differences", plots(figure(title, note, shares(title, drawn)) if drawn else ""), _table(compared)),
            section("Settings that differ", table("Settings that differ", ("setting", "first", "second"), settings)),
            section("Questions that changed side", _changed_tables(compared)),
        ],
    )


def _table(compared: Comparison) -> str:
    return paragraph(NOT_CORRECTED, "muted") + table(
        "Means and paired differences", HEADS, [_cells(one) for one in compared.differences]
    )


def _changed_tables(compared: Comparison) -> str:
    """Give one folded table a measure: all together they may be long."""
    heads = ("question", "asked", "first", "second", "first gold, first", "first gold, second")
    told = []
    for name in dict.fromkeys(one.measure for one in compared.changed):
        found = [one for one in compared.changed if one.measure == name]
        gained = sum(one.second > one.first for one in found)
        rows = table(f"Questions that changed side in {name}", heads, [_changed_cells(one) for one in found], wide=("asked",))
        told.append(f"<details><summary>{escape(name)}: {gained} gained, {len(found) - gained} lost</summary>{rows}</details>")
    return "".join(told) or paragraph("No question changed side.")


def _changed_cells(one: Changed) -> list[str]:
    ranks = (str(rank or "–") for rank in (one.first_rank, one.second_rank))
    return [one.question, one.text, f"{one.first:.2f}", f"{one.second:.2f}", *ranks]


def _notes(compared: Comparison) -> list[str]:
    notes = [f"{compared.second} against {compared.first}: {compared.count} questions"]
    if not compared.same_data:
        notes.append(NOT_THE_SAME)
    if compared.only_first or compared.only_second:
        notes.append(
            f"Left out: {compared.only_first} questions of the first run alone, {compared.only_second} of the second alone."
        )
    if compared.relative_only:
        notes.append("Relative only: the figures compare these runs with each other, and with nothing published.")
    return notes


def _cells(one: Difference) -> tuple[str, ...]:
    mcnemar = "–" if one.mcnemar is None else _p(one.mcnemar)
    bounds = f"{one.difference.low:+.4f} to {one.difference.high:+.4f}"
    means = (f"{one.first:.4f}", f"{one.second:.4f}", f"{one.difference.mean:+.4f}")
    return (one.name, *means, bounds, _p(one.p), mcnemar, str(one.better), str(one.worse), str(one.count))


def _p(value: float) -> str:
    return f"<{LEAST_P}" if value < LEAST_P else f"{value:.3f}"


def _value(value: Any) -> str:  # noqa: ANN401  whatever a plan holds
    return value if isinstance(value, str) else json.dumps(value)
