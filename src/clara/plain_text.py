"""Plain text for a terminal: tables, wrapped paragraphs, two columns beside each other."""

import textwrap
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Final

# Lines are wrapped for a terminal; identifiers and addresses are never cut, so that they can be copied and searched.
WIDTH: Final = 110
# Two columns and what is between them fill a terminal of 120.
COLUMN: Final = 57


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Align the cells of rows, the first of which is the heading; a line each."""
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def wrapped(text: str, first: str = "", rest: str = "") -> str:
    """Wrap a paragraph; its first line begins with `first`, the others with `rest`."""
    return textwrap.fill(
        text, WIDTH, initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False
    )


def columns(left: Sequence[str], right: Sequence[str]) -> Iterator[str]:
    """Write paragraphs beside each other, wrapped."""
    for one, other in zip_longest(_in_column(left), _in_column(right), fillvalue=""):
        yield f"{one:<{COLUMN}} | {other}".rstrip()


def counted(number: int, noun: str) -> str:
    """Write a number with its noun."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _in_column(paragraphs: Sequence[str]) -> list[str]:
    return [line for paragraph in paragraphs for line in textwrap.wrap(paragraph, COLUMN) or [""]]
