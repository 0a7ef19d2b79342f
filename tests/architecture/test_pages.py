"""Links between the documents lead to a file and to a heading that is there, and the notes fit the version."""

import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

import pytest
from tools.rewrap import WIDTH

ROOT: Final = Path(__file__).parents[2]
PLACES: Final = ("*.md", ".github/**/*.md", "data/**/*.md", "docs/**/*.md", "eval/**/*.md", "tests/**/*.md")
# Recorded texts of others: links in them are theirs.
FOREIGN: Final = ("tests/data/legislation", "tests/data/code")
DOCUMENTS: Final = sorted(
    path for place in PLACES for path in ROOT.glob(place) if not str(path.relative_to(ROOT)).startswith(FOREIGN)
)
# Pages that are wider for now, or for a reason.
WIDE: Final = {
    "docs/answers.md": "made by `clara examples`: each line is one that a person gets",
}
BLOCK: Final = re.compile(r"^( *)(`{3,})[^\n]*\n.*?^ *\2", re.MULTILINE | re.DOTALL)
CODE: Final = re.compile(r"(`+)(?!`)(?:(?!\n *\n).)*?(?<!`)\1(?!`)", re.DOTALL)
LINK: Final = re.compile(r"\]\(([^)\s]+)\)|^\[[^\]]+\]: (\S+)|<img src=\"([^\"]+)\"", re.MULTILINE)


@cache
def prose(path: Path) -> str:
    """Give a document without its blocks of code."""
    return BLOCK.sub("", path.read_text("utf-8"))


@cache
def anchors(path: Path) -> frozenset[str]:
    """Give the anchors of headings as GitHub makes them: lower case, without punctuation, numbered when repeated."""
    seen: Counter[str] = Counter()
    found = set()
    for heading in re.findall(r"^#{1,6} +(.+?) *$", prose(path), re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        name = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        found.add(f"{name}-{seen[name]}" if seen[name] else name)
        seen[name] += 1
    return frozenset(found)


def links(path: Path) -> Iterator[str]:
    for groups in LINK.findall(CODE.sub("", prose(path))):
        yield from filter(None, groups)


def fault_of(document: Path, link: str) -> str | None:
    """Say what is wrong with a link; None: nothing, or it leads out of the repository."""
    if re.match(r"[a-z]+:", link):
        return None if link.startswith(("https://", "http://127.0.0.1", "mailto:")) else f"{link} is no address"
    name, _, anchor = link.partition("#")
    target = (document.parent / name).resolve() if name else document
    if not target.exists():
        return f"{link} leads nowhere"
    if not target.is_relative_to(ROOT):
        return f"{link} leads out of the repository"
    if anchor and (target.suffix != ".md" or anchor not in anchors(target)):
        return f"{link} names no heading"
    return None


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path: Path) -> None:
    """Every file and every heading that a document links to is there."""
    assert [fault for link in links(path) if (fault := fault_of(path, link))] == []


def test_there_are_links() -> None:
    """The documents are found, and a link that is wrong is noticed."""
    assert len(DOCUMENTS) > 60
    assert sum(len(list(links(path))) for path in DOCUMENTS) > 150
    readme = ROOT / "README.md"
    wrong = (
        "docs/no-such-page.md",
        "docs/operations.md#no-such-heading",
        "#no-such-heading",
        "../outside",
        "ftp://x",
        "Makefile#run",
    )
    assert [link for link in wrong if fault_of(readme, link) is None] == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_lines_fit_a_screen(path: Path) -> None:
    """Lines can be read beside others, but for rows of tables and code: `python tools/rewrap.py FILE` wraps them."""
    if str(path.relative_to(ROOT)) in WIDE:
        return
    lines = [line for line in prose(path).splitlines() if not line.lstrip().startswith("|")]
    assert [line for line in lines if len(line) > WIDTH] == []


def test_the_changelog_has_a_section_for_this_version() -> None:
    """Unreleased first, then versions with their days, the newest of them the one of pyproject.toml."""
    headings = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    assert headings[0] == "[Unreleased]"
    assert all(re.fullmatch(r"\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d", heading) for heading in headings[1:])
    assert headings[1].startswith(f"[{version}] ")
    assert f"image: clara-tramites:{version}\n" in (ROOT / "compose.yaml").read_text("utf-8")
