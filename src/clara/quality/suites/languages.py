"""The same question in several languages gets the same facts: what a person learns must not hang on her language.

Cases of one `group` ask the same. Each is compared with the Spanish one: the procedure of the first citation, and the cited
facts, which are the same when at least half of all that either reply cites is in both.
"""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any, Final

from clara.answering.message import Reply
from clara.answering.snapshot import KnowledgeSnapshot
from clara.data_files import DataError, Fault
from clara.quality.answers import Judged
from clara.quality.suites.journeys import cases_of, reply_to

NAME: Final = "languages"
GOALS: Final[Mapping[str, float]] = {"same procedure": 0.95, "same facts": 0.85}
HALF: Final = 0.5
REFERENCE: Final = "es"


def judged(snapshot: KnowledgeSnapshot, split: str) -> list[Judged]:
    """Ask each group in all its languages and compare with Spanish. Raises DataError."""
    groups: dict[str, list[tuple[Mapping[str, Any], Reply]]] = defaultdict(list)
    for asked in cases_of(NAME, split, ("group", "question")):
        groups[asked["group"]].append((asked, reply_to(snapshot, asked["question"])))
    found: list[Judged] = []
    for name, answers in groups.items():
        spanish = next((reply for case, reply in answers if case["language"] == REFERENCE), None)
        if spanish is None:
            raise DataError([Fault("languages.jsonl", name, f"has no question in '{REFERENCE}'; add one")])
        for case, reply in answers:
            if case["language"] != REFERENCE:
                found += _compared(case, reply, spanish)
    return found


def _compared(case: Mapping[str, Any], reply: Reply, spanish: Reply) -> list[Judged]:
    here, there = ({citation.passage_id for citation in one.citations} for one in (reply, spanish))
    procedures = [[citation.document_id for citation in one.citations][:1] for one in (reply, spanish)]
    shared = len(here & there) / len(here | there) if here and there else 0.0
    note = f"{reply.status.value} {' '.join(procedures[0])} / {spanish.status.value} {' '.join(procedures[1])}"
    return [
        Judged(case["id"], case["language"], "same procedure", bool(here) and procedures[0] == procedures[1], note),
        Judged(case["id"], case["language"], "same facts", shared >= HALF, f"{note} shared {shared:.2f}"),
    ]
