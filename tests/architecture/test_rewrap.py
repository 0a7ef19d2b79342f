"""What wraps the documents changes where lines end, and nothing else."""

from textwrap import dedent

import pytest
from tools.rewrap import WIDTH, rewrapped

LONG = " ".join(["word"] * 60)


@pytest.mark.parametrize(
    "kept",
    [
        pytest.param(f"| {LONG} |\n| --- |\n", id="table"),
        pytest.param(f"```sh\n{LONG}\n```\n", id="code"),
        pytest.param(f"    {LONG}\n", id="indented code"),
        pytest.param(f"## {LONG}\n", id="heading"),
        pytest.param(f"> {LONG}\n", id="quote"),
        pytest.param(f"<!-- {LONG} -->\n", id="comment"),
        pytest.param("A short\nparagraph stays\nas it is.\n", id="short lines"),
        pytest.param(f"A line that is broken on purpose  \n{LONG}\n", id="hard break"),
    ],
)
def test_what_is_no_running_text_stays(kept: str) -> None:
    """Tables, code, headings, quotes, comments, and paragraphs that fit."""
    assert rewrapped(kept) == kept


@pytest.mark.parametrize(("first", "rest"), [("", ""), ("- ", "  "), ("  1. ", "     ")])
def test_running_text_is_wrapped(first: str, rest: str) -> None:
    """Lines that follow stand under the text of their item, no line is too wide, and every word is there."""
    made = rewrapped(f"{first}{LONG}\n")
    assert all(len(line) <= WIDTH for line in made.splitlines())
    assert [line[: len(rest)] for line in made.splitlines()[1:]] == [rest]
    assert made.split() == f"{first}{LONG}".split()
    assert rewrapped(made) == made


def test_code_in_a_line_stays_in_one_piece() -> None:
    """A command would not be found, and not be copied, across two lines."""
    text = f"{LONG[:148]} `clara index recall NAME` {LONG}\n"
    assert "`clara index recall NAME`" in rewrapped(text).replace("\n", "|")


@pytest.mark.parametrize("sign", ["-", "+", "1.", "#", "|", ">"])
def test_no_line_begins_with_a_sign(sign: str) -> None:
    """It would become an item, a heading, a table or a quote."""
    for place in range(140, 166):
        text = f"{'x' * place} {sign} {LONG}\n"
        assert not any(line.startswith(sign) for line in rewrapped(text).splitlines())


def test_items_stay_apart() -> None:
    """Each item is wrapped by itself; one that fits is not touched."""
    text = dedent(f"""\
        - short
          item
        - {LONG}
        - last
        """)
    made = rewrapped(text)
    assert made.startswith("- short\n  item\n- word")
    assert made.endswith("\n- last\n")
