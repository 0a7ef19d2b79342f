"""Tests of the engine's values."""

import pytest
from unit_builders import passage_of


@pytest.mark.parametrize(
    ("heading", "expected"),
    [
        pytest.param((), "El texto.", id="no-heading"),
        pytest.param(("NIE",), "NIE\nEl texto.", id="one-title"),
        pytest.param(("NIE", "Plazos"), "NIE > Plazos\nEl texto.", id="two-titles"),
    ],
)
def test_indexed_text(heading: tuple[str, ...], expected: str) -> None:
    """The indexed text is the path of titles, outermost first, above the text."""
    assert passage_of(text="El texto.", heading=heading).indexed_text == expected
