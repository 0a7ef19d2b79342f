"""Names say one thing: a class name stands for one class, a module's name is a noun."""

import ast
from collections import defaultdict
from pathlib import Path

SOURCES = Path(__file__).parents[2] / "src"
# Nouns of the field that end as gerunds do.
NOUNS = {"answering", "masking", "query_rewriting", "ranking", "rewording", "spelling", "training", "writing"}


def modules() -> list[Path]:
    return sorted(SOURCES.rglob("*.py"))


def test_every_class_name_is_unique() -> None:
    """Whoever reads a name knows which class it is, in the product and the laboratory together."""
    places: dict[str, list[str]] = defaultdict(list)
    for path in modules():
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(str(path.relative_to(SOURCES)))
    assert len(places) > 500
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_no_module_is_named_by_a_gerund() -> None:
    """A newcomer searches for the thing, not for the doing."""
    names = {path.stem for path in modules()} | {path.parent.name for path in modules()}
    assert {name for name in names if name.endswith("ing")} - NOUNS == set()
