"""Cutting long replies: every part fits, nothing is lost, and the cuts are where a reader would pause."""

import random

import pytest

from clara.delivery.message import split, units

MOST = 1_600

WORDS = ("trámite", "NIE", "الموعد", "签证", "👩‍👩‍👧‍👦", "🇪🇸", "e\u0301l", "https://sede.example.es/a?b=c", "9,84 €")


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        pytest.param("", (), id="nothing"),
        pytest.param(" \n\t", (), id="blank"),
        pytest.param(" hola\n", ("hola",), id="edges-go"),
        pytest.param("x" * MOST, ("x" * MOST,), id="just-fits"),
        pytest.param("x" * MOST + " y", ("x" * MOST, "y"), id="one-word-too-many"),
        pytest.param("x" * (MOST + 1), ("x" * MOST, "x"), id="one-word-without-end"),
        pytest.param("😀" * 801, ("😀" * 800, "😀"), id="an-emoji-counts-twice"),
        pytest.param("a" * 1_000 + "\n\n" + "b" * 1_000, ("a" * 1_000, "b" * 1_000), id="between-paragraphs"),
        pytest.param(f"{'a ' * 500}a.\n{'b ' * 500}b.", (f"{'a ' * 500}a.", f"{'b ' * 500}b."), id="between-lines"),
        pytest.param(f"{'a ' * 500}a. {'B ' * 500}b.", (f"{'a ' * 500}a.", f"{'B ' * 500}b."), id="between-sentences"),
    ],
)
def test_where_it_is_cut(text: str, parts: tuple[str, ...]) -> None:
    """Between paragraphs, else lines, sentences, words; in a word only when it does not fit."""
    assert split(text, MOST) == parts


@pytest.mark.parametrize("most", [40, 160, MOST])
def test_whatever_is_cut_every_part_fits_and_nothing_is_lost(most: int) -> None:
    """Texts in several scripts, with emoji of several characters and long addresses."""
    drawn = random.Random(most)
    for _ in range(40):
        text = "".join(drawn.choice(WORDS) + drawn.choice((" ", " ", ". ", "\n", "\n\n")) for _ in range(drawn.randrange(most)))
        parts = split(text, most)
        assert all(0 < units(part) <= most for part in parts)
        assert "".join("".join(parts).split()) == "".join(text.split())


def test_what_is_no_text_is_cut_too() -> None:
    """Half of a surrogate pair, as a broken client may send it, counts as one unit and breaks nothing."""
    assert units("\ud83d") == 1
    assert split("\ud83d", MOST) == ("\ud83d",)
