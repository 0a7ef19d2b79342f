"""Draw the code as it is: which package imports which, and every module with its first sentence.

    python tools/code_map.py           says whether the pages are current; exit code 1 when they are not
    python tools/code_map.py --write   writes them

The drawing stands in docs/architecture.md between two marks; the modules are docs/modules.md. Nothing is imported: the
source is read, so the drawing holds for what is imported late and for types alone as well.
"""

import ast
import re
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from textwrap import wrap
from typing import Final

import click

ROOT: Final = Path(__file__).parents[1]
PACKAGES: Final = ("clara", "clara_lab")
PAGE: Final = ROOT / "docs" / "architecture.md"
MODULES: Final = ROOT / "docs" / "modules.md"
MARKS: Final = ("<!-- drawn by tools/code_map.py: begin -->\n", "<!-- drawn by tools/code_map.py: end -->")
WIDTH: Final = 158


@dataclass(frozen=True, slots=True)
class Module:
    """A file of Python. `name` is dotted, without `.__init__`; `code` counts lines that are not blank, comment or docstring."""

    name: str
    path: Path
    says: str
    code: int
    imports: frozenset[str]

    @property
    def folder(self) -> str:
        """The folder, from src/, with slashes."""
        return str(self.path.parent.relative_to(ROOT / "src"))


def docstrings(tree: ast.Module) -> Iterator[ast.Expr]:
    """Give the expressions that are docstrings."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.body:
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
                yield first


def lines_of_code(text: str, tree: ast.Module) -> int:
    """Count lines that are neither blank nor comment nor docstring."""
    told = {line for node in docstrings(tree) for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)}
    return sum(
        1
        for number, line in enumerate(text.splitlines(), 1)
        if line.strip() and not line.lstrip().startswith("#") and number not in told
    )


def read_module(path: Path) -> Module:
    """Read one file."""
    text = path.read_text("utf-8")
    tree = ast.parse(text)
    name = str(path.relative_to(ROOT / "src").with_suffix("")).replace("/", ".").removesuffix(".__init__")
    imports = frozenset(
        f"{node.module}.{alias.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] in PACKAGES
        for alias in node.names
    )
    return Module(name, path, (ast.get_docstring(tree) or "").split("\n")[0], lines_of_code(text, tree), imports)


@cache
def modules() -> Mapping[str, Module]:
    """Read every module of the packages, by name."""
    paths = sorted(path for package in PACKAGES for path in (ROOT / "src" / package).rglob("*.py"))
    return {module.name: module for module in map(read_module, paths)}


def targets(module: Module) -> set[str]:
    """Give the modules that a module imports: `from a import b` is a.b where that is a module, else a."""
    names = set()
    for dotted in module.imports:
        parent = dotted.rpartition(".")[0]
        names.add(dotted if dotted in modules() else parent)
    return names & modules().keys() - {module.name}


def ring() -> list[str]:
    """Give modules that import each other in a ring, imports for types included; none: an empty list."""
    try:
        TopologicalSorter({module.name: targets(module) for module in modules().values()}).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def layers() -> Sequence[Sequence[str]]:
    """Give the layers of clara as the contract of imports says them, outermost first."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    (contract,) = (entry for entry in contracts if entry["type"] == "layers" and entry["containers"] == ["clara"])
    return [[name.strip(" ()") for name in layer.split("|")] for layer in contract["layers"]]


def top(name: str) -> str:
    """Give the part of clara that a module belongs to: its second name."""
    return (name.split(".")[1:] or [""])[0]


def edges() -> Mapping[str, set[str]]:
    """Give for each part of clara the parts that it imports."""
    found: dict[str, set[str]] = defaultdict(set)
    for module in modules().values():
        if module.name.startswith("clara."):
            found[top(module.name)] |= {top(name) for name in targets(module) if name.startswith("clara.")} - {top(module.name)}
    return found


def reduced(graph: Mapping[str, set[str]]) -> Iterator[tuple[str, str]]:
    """Give the edges that no path of others stands for."""

    def reach(start: str) -> set[str]:
        seen: set[str] = set()
        waiting = list(graph.get(start, ()))
        while waiting:
            name = waiting.pop()
            if name not in seen:
                seen.add(name)
                waiting += graph.get(name, ())
        return seen

    for name in sorted(graph):
        for target in sorted(graph[name]):
            if not any(target in reach(other) for other in graph[name] - {target}):
                yield name, target


def counted(chosen: Sequence[Module]) -> str:
    """Say how many files and lines of code there are."""
    files = f"{len(chosen)} file" + ("s" if len(chosen) != 1 else "")
    return f"{files}, {sum(module.code for module in chosen):,} lines"


def part_of(name: str) -> list[Module]:
    """Give the modules of one part of clara."""
    return [module for module in modules().values() if module.name.startswith("clara.") and top(module.name) == name]


def drawing() -> str:
    """Draw the parts of clara, layer by layer, with their imports; then name each folder."""
    lines = ["```mermaid", "flowchart TD"]
    for number, layer in enumerate(layers()):
        lines.append(f"  subgraph layer{number} [ ]")
        lines.append("    direction LR")
        lines += [f'    {name.strip("_")}["{name}"]' for name in layer if part_of(name)]
        lines.append("  end")
    lines += [f"  {name.strip('_')} --> {target.strip('_')}" for name, target in reduced(edges())]
    lines += ["```", "", "| folder | files, lines of code | what it is |", "|---|---|---|"]
    for package in PACKAGES:
        whole = [module for module in modules().values() if module.name.split(".")[0] == package]
        lines.append(f"| **`src/{package}`** | **{counted(whole)}** | {modules()[package].says} |")
        for folder in sorted({module.folder for module in whole} - {package}):
            inside = [module for module in whole if module.folder == folder]
            lines.append(f"| `{folder}/` | {counted(inside)} | {modules()[folder.replace('/', '.')].says} |")
    return "\n".join(lines) + "\n"


def listing() -> str:
    """List every module with its first sentence."""
    lines = ["# Modules", ""]
    lines += wrap(
        "Every file of the program with the first sentence of its own description, made by `tools/code_map.py`.", WIDTH
    )
    for folder in sorted({module.folder for module in modules().values()}):
        inside = [module for module in modules().values() if module.folder == folder]
        lines += ["", f"## {folder}"]
        for module in inside:
            name = "" if module.path.stem == "__init__" else f"- `{module.path.stem}`: "
            lines += wrap(f"{name}{module.says}", WIDTH, subsequent_indent="  " if name else "", break_long_words=False)
            if not name:
                lines.append("")
        if lines[-1] == "":
            lines.pop()
    return "\n".join(lines) + "\n"


def drawn(page: str) -> str:
    """Give the page of the architecture with the drawing in its place. Raises ValueError without the marks."""
    begin, end = MARKS
    if begin not in page or end not in page:
        raise ValueError(f"{PAGE.name} has lost the marks of the drawing; put {begin.strip()} and {end} where it belongs")
    return re.sub(re.escape(begin) + ".*?" + re.escape(end), lambda _match: begin + drawing() + end, page, flags=re.DOTALL)


def main(arguments: Sequence[str]) -> int:
    """Write the pages, or say whether they are current."""
    wanted = {PAGE: drawn(PAGE.read_text("utf-8")), MODULES: listing()}
    stale = [path for path, text in wanted.items() if not path.exists() or path.read_text("utf-8") != text]
    if "--write" in arguments:
        for path in stale:
            path.write_text(wanted[path], "utf-8")
    names = ", ".join(str(path.relative_to(ROOT)) for path in stale)
    if "--write" in arguments or not stale:
        click.echo(f"written: {names}" if stale else "the map is current")
        return 0
    click.echo(f"not as the code is: {names}; run `python tools/code_map.py --write`")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
