"""Compare the figures of all facts with their texts, and mark the files of which that is true.

    python tools/mark_facts.py

Writes data/compared.json. A start trusts a marked file and compares any other.
"""

import json
import sys

from clara.data_files import DataError, package_folder
from clara.knowledge.catalogue import MARKS, mark_of, procedure_faults, read_catalogue


def main() -> None:
    """Check all of data/ without its marks, then mark every file. Raises DataError naming every fault."""
    folder = package_folder() / "data"
    files = sorted((folder / "tramites").glob("*.json"))
    procedures = read_catalogue(folder).procedures
    faults = [fault for path in files for fault in procedure_faults(path, procedures[path.stem])]
    if faults:
        raise DataError(faults)
    marks = {path.name: mark_of(path) for path in files}
    (folder / MARKS).write_text(json.dumps(marks, indent=2) + "\n", "utf-8")
    sys.stdout.write(f"{len(marks)} files compared and marked in {MARKS}\n")


if __name__ == "__main__":
    main()
