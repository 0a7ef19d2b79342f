"""The walks that docs/architecture.md tells go inward, and climb back once at most: by a port, to what implements it."""

import re
import tomllib
from importlib import import_module
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parents[2]
LAYERS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"][0]["layers"]
# The outermost layer is 0.
LEVELS = {name: level for level, layer in enumerate(LAYERS) for name in layer.split(" | ")}
TOLD = re.compile(r"`clara ([^`]+)` walks: (.+?)(?=\n\n|\n\d+\. )", re.DOTALL)
STEP = re.compile(r"`([a-z_/]+)\.py`(?:\s+\(port `(\w+)`\))?")
WALKS = {
    name: [(f"clara.{path.replace('/', '.')}".removesuffix(".__init__"), port) for path, port in STEP.findall(walk)]
    for name, walk in TOLD.findall((ROOT / "docs" / "architecture.md").read_text("utf-8"))
}


def level(module: str) -> int:
    return LEVELS[module.split(".")[1]]


def implements(module: str, ports: str, port: str) -> bool:
    """Whether a class of the module has every method of the port."""
    wanted = {name for name in vars(getattr(import_module(ports), port)) if not name.startswith("_")}
    classes = [one for one in vars(import_module(module)).values() if isinstance(one, type) and one.__module__ == module]
    return any(wanted <= set(dir(one)) for one in classes)


def steps(walk: list[tuple[str, str]], graph: grimp.ImportGraph) -> list[tuple[str, str]]:
    """Give each step as (who calls, who is called): the last before it that imports it, or the last port that it implements."""
    taken = []
    for place, (module, _) in enumerate(walk[1:], 1):
        before = list(reversed(walk[:place]))
        callers = [one for one, _ in before if graph.direct_import_exists(importer=one, imported=module)]
        callers += [one for one, port in before if port and implements(module, one, port)]
        assert callers, f"nothing before it leads to {module}: {' -> '.join(name for name, _ in walk)}"
        taken.append((callers[0], module))
    return taken


def test_the_walks_are_told() -> None:
    """One correction and one question about the past are told from the command line to the database and back."""
    assert list(WALKS) == ["review accept N", "ask --as-of DAY"]
    assert all(len(walk) >= 6 for walk in WALKS.values())


@pytest.mark.parametrize("name", WALKS)
def test_a_walk_climbs_back_once_at_most(name: str) -> None:
    """Each step is an import or the implementation of a port, and one of them at most goes from an inner layer to an outer."""
    taken = steps(WALKS[name], grimp.build_graph("clara", cache_dir=None))
    climbs = [(caller, called) for caller, called in taken if level(called) < level(caller)]
    assert len(climbs) <= 1, climbs
