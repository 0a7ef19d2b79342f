"""The container is opened at the edge and seen by nobody else: a use case receives what it uses."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2] / "src"
PACKAGES = ("clara", "clara_lab")
NAMES = {"container", "services"}
TYPE = re.compile(r"\bContainer\b(?!\[)")  # that of collections.abc has a parameter
# Who opens one: the command line, the processes, and the laboratory, which measures the parts.
OPENING = ("clara/__main__.py", "clara/cli/", "clara/container/", "clara/processes/", "clara_lab/")
# Who is made of one.
TAKING = ("clara/container/", "clara/processes/")


def modules() -> Iterator[tuple[str, ast.Module]]:
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            yield str(path.relative_to(ROOT)), ast.parse(path.read_text("utf-8"))


def takes_the_container(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a parameter is named as the container, or its annotation names the class."""
    arguments = function.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return any(one.arg in NAMES or (one.annotation and TYPE.search(ast.unparse(one.annotation))) for one in every)


def imports_the_container(tree: ast.Module) -> bool:
    """Whether a module imports it, for types alone or late as well."""
    named = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    named += [name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names]
    return any(name == "clara.container" or name.startswith("clara.container.") for name in named)


def test_the_container_is_opened_at_the_edge() -> None:
    """No use case imports it, not even for a type."""
    found = [name for name, tree in modules() if imports_the_container(tree) and not name.startswith(OPENING)]
    assert found == []


def test_nobody_is_handed_the_container() -> None:
    """A function that takes it could use anything; only processes and the container itself do."""
    found = [
        f"{name}:{node.name}"
        for name, tree in modules()
        if not name.startswith(TAKING)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and takes_the_container(node)
    ]
    assert found == []
