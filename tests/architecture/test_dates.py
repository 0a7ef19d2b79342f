"""A date is read once, where it comes in; from there on it is a date."""

import ast
from pathlib import Path

SOURCE = Path("src/clara")
READERS = {
    "adapters/boe/item.py": "what the gazette sends",
    "data_files.py": "files of data/, and what is stored as they are written",
    "delivery/records.py": "lines of the spool",
    "knowledge/law/markdown.py": "norms as Markdown",
    "knowledge/law/norm.py": "norms as they are kept",
    "knowledge/law/references.py": "the list of norms in data/",
    "retrieval/options/strategies.py": "metadata of an operator's own corpus",
    "retrieval/validity.py": "rows of passages",
}


def test_dates_are_read_in_few_places() -> None:
    """Only readers of what comes from outside turn text into dates, each of them one kind of it."""
    reading = set()
    for file in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Attribute) and node.attr in {"fromisoformat", "strptime"}:
                reading.add(file.relative_to(SOURCE).as_posix())
    assert reading == READERS.keys()
