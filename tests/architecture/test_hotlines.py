"""The numbers that people are told to call stand in one table, and nowhere else."""

import re
from pathlib import Path

from clara.knowledge.hotlines import read_hotlines

ROOT = Path(__file__).parents[2]
FOLDERS = ("texts", "danger", "following", "rights")
TEXTS = [file for folder in FOLDERS for file in (ROOT / "data" / folder).glob("*.json")]
FILES = sorted([*TEXTS, *(ROOT / "src").rglob("*.py"), *(ROOT / "src").rglob("*.html")])
# Places that hold a number for another reason than to tell it.
ALLOWED = {
    "src/clara/language/figures/measures.py": {"112"},  # a short number that is hardly ever anything else
    "src/clara/language/identity_data.py": {"600 000 016"},  # the one with the form of a person's
}
LINES = read_hotlines(ROOT / "data").lines
# Long numbers with or without blanks in them; none as part of a longer number, name or code.
SHORT = 3
NUMBERS = {
    line.number: re.compile(rf"(?<![\w.,#]){(' ?' if len(line.digits) > SHORT else '').join(line.digits)}(?!\w|[.,]\d)")
    for line in LINES
}


def test_no_number_is_typed_elsewhere() -> None:
    """A text, a pattern or a program that types a number would go on telling it after the line has changed."""
    found = {}
    for file in FILES:
        text, name = file.read_text("utf-8"), str(file.relative_to(ROOT))
        typed = {number for number, pattern in NUMBERS.items() if pattern.search(text)}
        typed |= {line.mail for line in LINES if line.mail and line.mail in text}
        if typed - ALLOWED.get(name, set()):
            found[name] = typed
    assert found == {}
