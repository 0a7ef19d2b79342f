"""The sizes and habits that keep the code readable, held as numbers. Each allow-list starts empty and needs a reason."""

import ast
import statistics
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("clara", "clara_lab")
SOURCES = sorted(path for package in PACKAGES for path in (ROOT / "src" / package).rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("test_*.py"))
BUILDERS = ("container/__init__", "container/corpora", "container/served_models")
CHANNELS = ("local", "telegram", "twilio")
COMMANDS = ("ask", "command", "corpora", "editorial", "evaluation", "facts", "operations")
Function = ast.FunctionDef | ast.AsyncFunctionDef


def trees() -> Iterator[tuple[Path, ast.Module]]:
    for path in SOURCES:
        yield path, ast.parse(path.read_text("utf-8"))


def functions() -> Iterator[tuple[Path, Function]]:
    for path, tree in trees():
        for node in ast.walk(tree):
            if isinstance(node, Function):
                yield path, node


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT / "src")).removeprefix("clara/")


def length(node: Function) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def test_files_are_short() -> None:
    """No file is above 400 lines, one thing a file; a folder of small files is one file, so the median is at least 80."""
    sizes = {name_of(path): len(path.read_text("utf-8").splitlines()) for path in SOURCES}
    assert {name: size for name, size in sizes.items() if size > 400} == {}
    assert statistics.median(sizes.values()) >= 80


def test_functions_are_short() -> None:
    """No function is above 50 lines; nine of ten are at most 30."""
    sizes = sorted((length(node), f"{name_of(path)}:{node.name}") for path, node in functions())
    assert [entry for entry in sizes if entry[0] > 50] == []
    assert sizes[int(len(sizes) * 0.9)][0] <= 30


def test_exceptions_are_caught_by_name() -> None:
    """`except Exception` stands only where whatever fails must be reported, or counted and passed on."""
    found = [
        name_of(path)
        for path, tree in trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or (isinstance(node.type, ast.Name) and node.type.id in {"Exception", "BaseException"}))
    ]
    assert sorted(found) == ["retrieval/metrics.py", "web/health.py"]


def test_there_is_no_global_state_by_statement() -> None:
    """No `global` anywhere."""
    assert [name_of(path) for path, tree in trees() if any(isinstance(node, ast.Global) for node in ast.walk(tree))] == []


def test_imports_stand_at_the_top() -> None:
    """Late imports are for the command line and the place that chooses implementations."""
    allowed = {
        **{f"cli/{name}.py": "a command imports its job when it runs, so that --help is instant" for name in COMMANDS},
        **{f"{name}.py": "imports an implementation when it is chosen" for name in BUILDERS},
        "clara_lab/cli.py": "as those of clara",
        "processes/web.py": "what watches holds nothing of what serves: 25 MB",
        "processes/web_app.py": "an operator's decision needs readers of pages and norms: 8 MB",
        **{f"channels/{name}/channel.py": "the web builds one half, the worker the other" for name in CHANNELS},
    }
    late = {
        name_of(path) for path, node in functions() for part in ast.walk(node) if isinstance(part, ast.Import | ast.ImportFrom)
    }
    assert late <= allowed.keys()


def test_one_file_reads_the_environment() -> None:
    """os.environ and os.getenv appear in settings.py only."""
    readers = [name_of(path) for path in SOURCES if "os.environ" in path.read_text() or "getenv" in path.read_text()]
    assert readers == ["settings.py"]


def test_everything_public_says_what_it_does() -> None:
    """Modules, public classes and public functions have docstrings; ruff holds the annotations."""
    silent = []
    for path, tree in trees():
        if ast.get_docstring(tree) is None:
            silent.append(name_of(path))
        silent += [
            f"{name_of(path)}:{node.name}"
            for node in tree.body
            if isinstance(node, Function | ast.ClassDef) and not node.name.startswith("_") and ast.get_docstring(node) is None
        ]
    assert silent == []


def test_every_port_with_more_than_one_adapter_has_a_contract_suite() -> None:
    """A port that a fake stands in for is run against every adapter of it."""
    suites = "".join(path.read_text("utf-8") for path in (ROOT / "tests" / "contracts").glob("test_*.py"))
    assert "PassageStore" in suites
    assert "Embedder" in suites
    assert "Sender" in suites
    assert "Channel" in suites


@pytest.mark.parametrize("path", TESTS, ids=lambda path: str(path.relative_to(ROOT / "tests")))
def test_tests_state_facts_and_patch_nothing(path: Path) -> None:
    """Every test has a sentence; none patches, skips without a reason, or asserts True."""
    source = path.read_text("utf-8")
    if path == Path(__file__):
        return
    tree = ast.parse(source)
    tests = [node for node in ast.walk(tree) if isinstance(node, Function) and node.name.startswith("test_")]
    assert tests
    assert [node.name for node in tests if ast.get_docstring(node) is None] == []
    for forbidden in ("mock.patch", "monkeypatch.setattr", "assert True", "time.sleep(1"):
        assert forbidden not in source
