"""Suite: an answer that says the facts otherwise is delivered. A case passes when the proof finds nothing wrong."""

from collections.abc import Mapping
from typing import Final

from clara.answering.snapshot import KnowledgeSnapshot
from clara.quality.answers import Judged
from clara.quality.suites.proof_cases import proved

NAME: Final = "faithful"
GOALS: Final[Mapping[str, float]] = {"faithful": 0.99}


def judged(snapshot: KnowledgeSnapshot, split: str) -> list[Judged]:
    """Prove every faithful answer of a split."""
    return [
        Judged(
            id=f"faithful-{case['id']}",
            language=case["language"],
            group="faithful",
            passed=not faults,
            note=", ".join(f"{fault.kind.value}: {fault.what}" for fault in faults[:2]),
        )
        for case, faults in proved(snapshot, NAME, split)
    ]
