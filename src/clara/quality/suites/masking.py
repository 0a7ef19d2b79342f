"""Whether identity data is hidden, and what people need to ask is kept.

Each case holds a text, the pieces that must go (`hidden`) and those that must stay (`kept`).
"""

from collections.abc import Mapping
from typing import Final

from clara.answering.snapshot import KnowledgeSnapshot
from clara.language.identity_data import masked
from clara.quality.answers import Judged
from clara.quality.suites.journeys import cases_of

NAME: Final = "masking"
GOALS: Final[Mapping[str, float]] = {"hidden": 0.98, "kept": 0.98}


def judged(snapshot: KnowledgeSnapshot, split: str) -> list[Judged]:
    """Judge each piece of each text on its own."""
    del snapshot  # pure: the same everywhere
    found: list[Judged] = []
    for case in cases_of(NAME, split, ("text", "hidden", "kept")):
        shown = masked(case["text"])
        for group, wanted in (("hidden", False), ("kept", True)):
            for number, piece in enumerate(case[group], 1):
                passed = (piece in shown) is wanted
                note = "" if passed else f"piece {number} of {len(case[group])}: {case.get('kind', '')}"
                found.append(Judged(f"{case['id']}/{number}", case["language"], group, passed, note))
    return found
