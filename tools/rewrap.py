"""Wrap paragraphs and list items of Markdown at 160 characters: `python tools/rewrap.py FILE ...`.

Only those are touched that have a wider line. Tables, code, headings, quotes and HTML stay as they are.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

WIDTH: Final = 160
FENCE: Final = re.compile(r" *(`{3,}|~{3,})")
ITEM: Final = re.compile(r" *(?:[-*+]|\d+[.)]) +")
# What is no running text: tables, headings, quotes, HTML, rules, lines that are indented as code.
KEPT: Final = re.compile(r" *(?:\||#{1,6} |>|<[!/a-zA-Z]|(?:-{3,}|\*{3,}|={3,}) *$)|$")
# Code in a line stays in one piece.
WORD: Final = re.compile(r"(?:(`+)(?!`).*?(?<!`)\1(?!`)|\S)+")
# A line that began like this would become an item, a heading, a table or a quote.
MEANS: Final = re.compile(r"(?:[-*+]|\d+[.)]|#{1,6}|=+|-+)$|[>|<]|`{3}|~{3}")


def wrapped(text: str, first: str, rest: str) -> Iterator[str]:
    """Give the lines of one paragraph behind its indentations."""
    line, words = first, [match[0] for match in WORD.finditer(text)]
    for place, word in enumerate(words):
        following = words[place + 1] if place + 1 < len(words) else ""
        joined = line + word if line in {first, rest} else f"{line} {word}"
        # A word that may not begin a line is brought down together with the one before it.
        tied = f"{joined} {following}" if MEANS.match(following) else joined
        if len(tied) > WIDTH and line not in {first, rest} and not MEANS.match(word):
            yield line
            joined = rest + word
        line = joined
    yield line


def rewrapped(text: str) -> str:
    """Give a document with its wide paragraphs and items wrapped."""
    done: list[str] = []
    held: list[str] = []
    fence = ""

    def release() -> None:
        if any(len(line) > WIDTH for line in held) and not any(line.endswith(("  ", "\\")) for line in held[:-1]):
            marker = ITEM.match(held[0])
            first = marker[0] if marker else re.match(r" *", held[0])[0]  # type: ignore[index]  # it always matches
            body = " ".join([held[0][len(first) :], *(line.strip() for line in held[1:])])
            done.extend(wrapped(body, first, " " * len(first)))
        else:
            done.extend(held)
        held.clear()

    for line in text.splitlines():
        mark = FENCE.match(line)
        if fence or mark or KEPT.match(line) or (not held and re.match(r" {4}", line) and not ITEM.match(line)):
            release()
            done.append(line)
            if mark and (not fence or mark[1].startswith(fence)):
                fence = "" if fence else mark[1]
        else:
            if ITEM.match(line):
                release()
            held.append(line)
    release()
    return "\n".join(done) + "\n"


if __name__ == "__main__":
    for name in sys.argv[1:]:
        Path(name).write_text(rewrapped(Path(name).read_text("utf-8")), "utf-8")
