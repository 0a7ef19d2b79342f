"""The headings of a Markdown text, and the path of them that leads to a place in it."""

import re
from bisect import bisect_right
from dataclasses import dataclass

# CommonMark 0.31: "# Title ##", or a paragraph of one line underlined with = or -. A line of dashes right under other lines
# is a rule or the end of a preamble, so an underlined title must follow a blank line.
_HASHES = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$")
_UNDERLINE = re.compile(r" {0,3}(=+|-{2,})[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")


@dataclass(frozen=True, slots=True)
class Outline:
    """Where headings start, in characters, and the path of titles in force from there, outermost first."""

    starts: tuple[int, ...]
    paths: tuple[tuple[str, ...], ...]

    def at(self, place: int) -> tuple[str, ...]:
        """Give the path in force at this character; a heading is in force from its own line on."""
        index = bisect_right(self.starts, place) - 1
        return self.paths[index] if index >= 0 else ()


def outline(text: str) -> Outline:
    """Read the headings of a text; what stands in a fenced block of code is none."""
    starts: list[int] = []
    paths: list[tuple[str, ...]] = []
    open_levels: list[tuple[int, str]] = []
    for start, level, title in _headings(text):
        open_levels = [outer for outer in open_levels if outer[0] < level] + [(level, title)]
        starts.append(start)
        paths.append(tuple(name for _, name in open_levels))
    return Outline(tuple(starts), tuple(paths))


def _headings(text: str) -> list[tuple[int, int, str]]:
    found: list[tuple[int, int, str]] = []
    fence = ""
    before = [(0, ""), (0, "")]
    place = 0
    for whole in text.splitlines(keepends=True):
        line = whole.rstrip("\r\n")
        mark = _FENCE.match(line)
        if fence:
            fence = "" if _closes(line, fence) else fence
        elif mark:
            fence = mark[1]
        elif hashes := _HASHES.match(line):
            found += [(place, len(hashes[1]), hashes[2])] if hashes[2] else []
        elif (under := _UNDERLINE.match(line)) and before[1][1].strip() and not before[0][1].strip():
            found.append((before[1][0], 1 if under[1][0] == "=" else 2, before[1][1].strip()))
        before = [before[1], (place, line)]
        place += len(whole)
    return found


def _closes(line: str, fence: str) -> bool:
    bare = line.strip()
    return len(bare) >= len(fence) and not bare.strip(fence[0])
