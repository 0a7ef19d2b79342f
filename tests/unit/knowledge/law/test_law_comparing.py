"""Two states of a norm: exactly what changed, and which figures."""

import pytest
from tests.unit.knowledge.law.law_samples import sample, written

from clara.knowledge.law.comparison import compare
from clara.language.figures.figure import Figure, FigureKind

EARLIER = "legislation_2026-04-25"


def test_real_drift_is_found_exactly() -> None:
    """Of the trimmed norms as of April and of August, the changed provisions are those that a line-by-line comparison shows."""
    health = compare(sample("BOE-A-2003-10715", EARLIER), sample("BOE-A-2003-10715"))
    assert [(change.key, change.weight) for change in health] == [("a21", "substantive")]
    assert health[0].figures_new == {Figure(FigureKind.PERIOD, 1.0, "year")}
    security = compare(sample("BOE-A-2015-11724", EARLIER), sample("BOE-A-2015-11724"))
    assert [change.key for change in security] == ["da18", "da19", "danueva", "danueva-2", "dt46"]
    assert {change.weight for change in security} == {"substantive"}
    assert [change.key for change in security if change.before is None] == ["danueva", "danueva-2", "dt46"]
    gone = {str(figure) for figure in security[1].figures_gone}
    assert gone == {"percentage 60", "percentage 80"}
    assert Figure(FigureKind.PERCENTAGE, 100.0) in security[1].figures_new


def test_a_norm_does_not_differ_from_itself() -> None:
    """Nothing is found where nothing changed."""
    assert compare(sample("BOE-A-2024-24099"), sample("BOE-A-2024-24099")) == ()


@pytest.mark.parametrize(
    ("before", "after", "weight"),
    [
        ("El plazo es de 3 meses.", "El plazo es  de «3» meses", "cosmetic"),
        ("Según el art. 5 de la Ley.", "Según el artículo 5 de la ley.", "cosmetic"),
        ("El 20 por ciento.", "El 20 %.", "cosmetic"),
        ("El apartado 1.º", "El apartado 1.ª", "cosmetic"),
        ("El plazo es de 3 meses.", "El plazo es de 4 meses.", "substantive"),
        ("La cuantía es de 1.500 euros.", "La cuantía es de 15,00 euros.", "substantive"),
        ("No podrá pedirse.", "Podrá pedirse.", "substantive"),
    ],
)
def test_only_a_changed_word_or_figure_is_substantive(before: str, after: str, weight: str) -> None:
    """Blanks, quotes, punctuation and the form of references are cosmetic."""
    changes = compare(written("##### Artículo 1.", before), written("##### Artículo 1.", after))
    assert [(change.key, change.weight) for change in changes] == [("a1", weight)]


def test_a_figure_that_stays_elsewhere_has_gone_from_its_paragraph() -> None:
    """Figures are compared in the paragraphs that changed, not in the whole article."""
    before = written("##### Artículo 1.", "1. El plazo es de 3 meses.", "2. Otro plazo es de 3 meses.")
    after = written("##### Artículo 1.", "1. El plazo es de 3 meses.", "2. Otro plazo es de 6 meses.")
    (change,) = compare(before, after)
    assert change.figures_gone == {Figure(FigureKind.PERIOD, 3.0, "month")}
    assert change.figures_new == {Figure(FigureKind.PERIOD, 6.0, "month")}


def test_coming_going_and_repealing_are_told_apart() -> None:
    """A new provision has no before, one that is gone no after, and a repealed one an empty text."""
    before = written("##### Artículo 1.", "Uno.", "##### Artículo 2.", "Dos.")
    after = written("##### Artículo 1.", "**(Derogado)**", "##### Artículo 3.", "Tres.")
    assert [(change.key, change.before, change.after) for change in compare(before, after)] == [
        ("a1", "Uno.", ""), ("a3", None, "Tres."), ("a2", "Dos.", None),
    ]  # fmt: skip


def test_tables_count_only_where_both_sources_give_them() -> None:
    """A collection without tables says nothing about them; where both have tables, a changed cell is substantive."""

    def table(cell: str) -> str:
        return f"| Días | Meses |\n| --- | --- |\n| 360 | {cell} |"

    bare, four, five = (written("##### Artículo 1.", "Escala:", *rows) for rows in ((), (table("4"),), (table("5"),)))
    assert compare(bare, four) == ()
    assert [change.weight for change in compare(four, five)] == ["substantive"]
