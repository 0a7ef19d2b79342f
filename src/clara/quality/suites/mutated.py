"""Suite: an answer with one wrong thing in it is not delivered. A case passes when the proof finds a fault."""

from collections.abc import Mapping
from typing import Final

from clara.answering.snapshot import KnowledgeSnapshot
from clara.quality.answers import Judged
from clara.quality.suites.proof_cases import proved

NAME: Final = "mutated"
# Changes of a figure, as the cases name them.
FIGURES: Final = ("digit", "swap", "decimal", "unit", "currency", "month", "phone", "url", "norm", "added", "other", "word")
# Figures: none may pass. The sense of a sentence is judged without a model, by what it denies and by its words.
GOALS: Final[Mapping[str, float]] = {"figure": 1.0, "sense": 0.99}


def judged(snapshot: KnowledgeSnapshot, split: str) -> list[Judged]:
    """Prove every mutated answer of a split."""
    return [
        Judged(
            id=f"mutated-{case['id']}",
            language=case["language"],
            group="figure" if case["change"] in {*FIGURES, "figure"} else "sense",
            passed=bool(faults),
            note=case["change"],
        )
        for case, faults in proved(snapshot, NAME, split)
    ]
