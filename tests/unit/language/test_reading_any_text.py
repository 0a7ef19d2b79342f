"""What holds for reading any text in any language: nothing numeric escapes, and nothing breaks."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.languages import LANGUAGES

from clara.language.figures.lexicon import read_lexicons
from clara.language.figures.reader import Reader
from clara.language.fold import fold

PIECES = st.sampled_from(
    [
        *"0123456789.,-–/:;%€$@ªº+()[]\n\0'٣٫٬３②½²",
        *("12", "016", "2026", "1.234", "1 234,5", "600 000 016", "790", "+34", "9:30", "EX-", "TA.", "art. ", "Ley ", "EX15"),
        *(" ", " a ", " y ", " de ", " meses", " días", " mayo", " of ", "th ", "年", "月", "个月", "三", "百分之", "第", "条"),
        *(" و", " أشهر", " يوم", "شهران", " лет", " мая", "п'ять", " euros al mes", "https://a.es/1", "a1@b.es", "IV", "１２"),
    ]
)


@pytest.fixture(scope="module")
def reader(data: Path) -> Reader:
    """The reader with the real words."""
    return Reader(read_lexicons(data))


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.one_of(PIECES, st.text(max_size=3)), max_size=25).map("".join), st.sampled_from(LANGUAGES))
def test_every_digit_belongs_to_a_figure(reader: Reader, text: str, language: str) -> None:
    """Every digit of any script stands inside a figure that was read, and every figure has a reading."""
    found = reader.figures_in(text, language)
    read = {place for figure in found for place in range(figure.start, figure.end)}
    assert [character for place, character in enumerate(text) if character.isdigit() and place not in read] == []
    assert all(figure.readings and text[figure.start : figure.end] == figure.text for figure in found)


@given(st.text(max_size=60))
def test_folding_keeps_places(text: str) -> None:
    """Each folded character knows where it stood, in order, and capitals change nothing else."""
    folded = fold(text)
    assert len(folded.origins) == len(folded.text) + 1 == len(folded.cased) + 1
    assert list(folded.origins) == sorted(folded.origins)
