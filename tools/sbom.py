"""What Clara runs on: an SBOM (CycloneDX 1.5) and the table of licences in docs/third-party.md, from what is installed.

`python tools/sbom.py --out build/sbom.cdx.json`; `--write` renews the table. Hashes are those that requirements.lock admits for
a version: one for each file that the package index has of it.
"""

import argparse
import json
import re
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any, Final

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT: Final = Path(__file__).parents[1]
PRODUCT: Final = "clara-tramites"
PAGE: Final = ROOT / "docs" / "third-party.md"
BEGIN: Final = "<!-- dependencies: made by `python tools/sbom.py --write` -->"
END: Final = "<!-- end of dependencies -->"
UNDECLARED: Final = "not declared"


def reached(name: str) -> Iterator[Distribution]:
    """Give a distribution and all that it needs here, itself first; extras only where somebody asks for them."""
    seen: set[tuple[str, str]] = set()
    left = [(name, "")]
    while left:
        one, extra = left.pop(0)
        if (canonicalize_name(one), extra) in seen:
            continue
        try:
            found = distribution(one)
        except PackageNotFoundError:
            continue  # the Docker image leaves the embedded PostgreSQL out
        if not any(canonicalize_name(one) == name for name, _extra in seen):
            yield found
        seen.add((canonicalize_name(one), extra))
        for need in map(Requirement, found.requires or ()):
            if need.marker is None or need.marker.evaluate({"extra": extra}):
                left += [(need.name, part) for part in ("", *sorted(need.extras))]


def licence(found: Distribution) -> str:
    """Give the licence as its metadata says: the SPDX expression, else the short name, else the classifiers."""
    said = found.metadata.json
    # Some put the whole text of the licence where its name belongs; then its first line is the name, or says whose it is.
    first, *rest = str(said.get("license", "")).strip().splitlines() or [""]
    named = first if not rest or "license" in first.lower() else ""
    classified = [line.split(" :: ")[-1] for line in said.get("classifier", ()) if line.startswith("License :: ")]
    return str(said.get("license_expression", "")) or named or ", ".join(classified) or UNDECLARED


def admitted(lock: str) -> dict[str, list[str]]:
    """Give the SHA-256 hashes that a lock admits, by `name==version`."""
    entries = re.findall(r"^([\w.-]+)(?:\[[\w,-]+\])?==([^\s;\\]+)(.*?)(?=^\S|\Z)", lock, re.MULTILINE | re.DOTALL)
    hashes = re.compile(r"sha256:([0-9a-f]{64})")
    return {f"{canonicalize_name(name)}=={version}": hashes.findall(rest) for name, version, rest in entries}


def component(found: Distribution, hashes: dict[str, list[str]]) -> dict[str, Any]:
    """Give the entry of one distribution."""
    name, said = canonicalize_name(found.name), licence(found)
    purl = f"pkg:pypi/{name}@{found.version}"
    entry: dict[str, Any] = {"type": "library", "bom-ref": purl, "name": name, "version": found.version, "purl": purl}
    entry["licenses"] = [{"expression": said} if "license_expression" in found.metadata.json else {"license": {"name": said}}]
    if known := hashes.get(f"{name}=={found.version}"):
        entry["hashes"] = [{"alg": "SHA-256", "content": one} for one in known]
    return entry


def bom() -> dict[str, Any]:
    """Give the bill of materials: the product, and what it runs on by name."""
    hashes = admitted((ROOT / "requirements.lock").read_text("utf-8"))
    product, *needed = [component(one, hashes) for one in reached(PRODUCT)]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": product | {"type": "application"}},
        "components": sorted(needed, key=lambda one: str(one["name"])),
    }


def table() -> str:
    """Give the table of licences by name."""
    rows = sorted((canonicalize_name(one.name), licence(one)) for one in reached(PRODUCT) if one.name != PRODUCT)
    lines = [f"| {name} | {said} |" for name, said in (("package", "licence, as it declares"), ("---", "---"), *rows)]
    return "\n".join(lines)


def main() -> None:
    """Write the bill of materials, or the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, help="write the bill of materials there")
    parser.add_argument("--write", action="store_true", help="renew the table in docs/third-party.md")
    options = parser.parse_args()
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(json.dumps(bom(), indent=2) + "\n", "utf-8")
    if options.write:
        before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n{table()}\n{END}{rest.partition(END)[2]}", "utf-8")


if __name__ == "__main__":
    main()
