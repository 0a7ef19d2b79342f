"""What is installed with Clara: the product, and nothing that only the laboratory reads."""

import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WHEEL = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"]["targets"]["wheel"]


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The names in a wheel as it is shipped."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True, timeout=200)
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
        return [re.sub(r"^[^/]*\.data/data/", "", name) for name in wheel.namelist()]


def test_the_wheel_has_the_product_alone(held: list[str]) -> None:
    """Every module of clara is there, and none of the laboratory."""
    modules = {str(path.relative_to(ROOT / "src")) for path in (ROOT / "src" / "clara").rglob("*.py")}
    assert modules == {name for name in held if name.endswith(".py") and not name.startswith("share/")}


def test_the_wheel_lacks_what_only_the_laboratory_reads(held: list[str]) -> None:
    """Each exclusion names something that exists, and keeps it out; what the gate reads is in."""
    for excluded in WHEEL["exclude"]:
        assert (ROOT / excluded.removeprefix("share/clara/")).exists(), excluded
        assert [name for name in held if name.startswith(excluded)] == []
    needed = {
        "data/danger/model.npz",
        "data/languages/es/rights.json",
        "eval/answers/danger.jsonl",
        "eval/clara/gate.toml",
        "eval/vectors.npz",
    }
    assert {f"share/clara/{name}" for name in needed} <= set(held)
