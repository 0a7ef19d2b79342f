"""Tests of figures as values and as they stand in data."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clara.language.figures.figure import Figure, FigureKind, as_json, figure_from

NUMERIC = [FigureKind.AMOUNT, FigureKind.PERCENTAGE, FigureKind.PERIOD, FigureKind.AGE, FigureKind.COUNT]
TEXTUAL = [kind for kind in FigureKind if kind not in NUMERIC]
UNITS = st.sampled_from(["EUR", "EUR/month", "working_day", "m2", None])
FIGURES = st.builds(Figure, st.sampled_from(NUMERIC), st.floats(0, 1e12), UNITS) | st.builds(
    Figure, st.sampled_from(TEXTUAL), st.text(min_size=1), st.none()
)

WRITTEN = [
    pytest.param(Figure(FigureKind.AMOUNT, 38.28, "EUR"), '{"kind": "amount", "value": 38.28, "unit": "EUR"}', id="decimals"),
    pytest.param(Figure(FigureKind.PERIOD, 3.0, "month"), '{"kind": "period", "value": 3, "unit": "month"}', id="whole-number"),
    pytest.param(Figure(FigureKind.COUNT, 53.0), '{"kind": "count", "value": 53}', id="no-unit"),
    pytest.param(Figure(FigureKind.PHONE, "016"), '{"kind": "phone", "value": "016"}', id="text-keeps-its-zero"),
    pytest.param(Figure(FigureKind.NORM, "Decisión 1/2025"), '{"kind": "norm", "value": "Decisión 1/2025"}', id="accent"),
]


@pytest.mark.parametrize(("figure", "written"), WRITTEN)
def test_written(figure: Figure, written: str) -> None:
    """A figure is written on one line: whole numbers without decimals, letters as they are, no unit where there is none."""
    assert as_json(figure) == written


@pytest.mark.parametrize(("figure", "written"), WRITTEN)
def test_read(figure: Figure, written: str) -> None:
    """A written figure is read as the same value, a whole number as a float."""
    read = figure_from(json.loads(written))
    assert read == figure
    assert type(read.value) is type(figure.value)


@given(FIGURES)
def test_round_trip(figure: Figure) -> None:
    """Whatever is written is read back as it was."""
    assert figure_from(json.loads(as_json(figure))) == figure


def test_unknown_kind() -> None:
    """A kind that is not in the list is refused by its name."""
    with pytest.raises(ValueError, match="'weight' is not a valid FigureKind"):
        figure_from({"kind": "weight", "value": 3})


@pytest.mark.parametrize(
    ("figure", "shown"),
    [
        pytest.param(Figure(FigureKind.AMOUNT, 1115.07, "EUR/month"), "amount 1115.07 EUR/month", id="decimals"),
        pytest.param(Figure(FigureKind.COUNT, 123456789012.0), "count 123456789012", id="every-digit-of-a-long-one"),
        pytest.param(Figure(FigureKind.DATE, "--06-30"), "date --06-30", id="text"),
    ],
)
def test_shown(figure: Figure, shown: str) -> None:
    """An editor sees the kind, the value and the unit."""
    assert str(figure) == shown
