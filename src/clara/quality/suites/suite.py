"""The one shape of a suite: cases read from JSON lines, a judge over them, and the stage on which real code answers."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from clara.adapters.models.scripted import ScriptedWriter
from clara.answering.journey import converse
from clara.answering.message import Message, Reply
from clara.answering.snapshot import KnowledgeSnapshot
from clara.answering.tool_factory import grounded_writer
from clara.answering.writing.extractive import ExtractiveWriter
from clara.answering.writing.frame import Framing
from clara.answering.writing.grounded import GroundedWriter
from clara.data_files import TEXT, Fields, one_of, read_lines
from clara.once import Once
from clara.quality.dataset import SPLITS
from clara.settings import resources

Case = Mapping[str, Any]
# The language of a case that does not say its own.
UNSAID: Final = "-"


@dataclass(frozen=True, slots=True)
class Judged:
    """A case and whether it passed. `group` is what its figure is counted under, such as "danger" or "near miss".

    `note` says in short what was wrong, without repeating a whole text.
    """

    id: str
    language: str
    group: str
    passed: bool
    note: str = ""


def judged(case: Case, group: str, passed: bool, note: str = "") -> Judged:
    """Give the judgement of a case."""
    return Judged(case["id"], case.get("language", UNSAID), group, passed, note)


class Stage:
    """What judges share: the snapshot, and the writer around a hostile model, built once."""

    def __init__(self, snapshot: KnowledgeSnapshot) -> None:
        self.snapshot = snapshot
        self.passages = snapshot.knowledge.passages

    @Once
    def writer(self) -> GroundedWriter:
        """The writer, whoever the model is."""
        snapshot = self.snapshot
        extractive = ExtractiveWriter(Framing(snapshot.texts, snapshot.knowledge.names, self.passages))
        return grounded_writer(snapshot.knowledge, extractive, snapshot.safe_tools.detector, snapshot.prover, ScriptedWriter())

    def reply_to(self, text: str) -> Reply:
        """Answer a message of somebody who has written before, and of whom nothing is remembered."""
        return converse(Message(text), self.snapshot.tools)


Judge = Callable[[Stage, Sequence[Case]], Iterable[Judged]]


@dataclass(frozen=True, slots=True)
class Suite:
    """A suite: what a case must hold, the least share that should pass by group, and what judges the cases of one split."""

    name: str
    fields: Fields
    goals: Mapping[str, float]
    judge: Judge

    def judged(self, snapshot: KnowledgeSnapshot, split: str) -> list[Judged]:
        """Run the cases of one split of eval/answers through real code. Raises BatchError, DataError."""
        file = resources() / "eval" / "answers" / f"{self.name.replace(' ', '_')}.jsonl"
        return [*self.judge(Stage(snapshot), read_cases(file, split, self.fields))]


def each(judge: Callable[[Stage, Case], Iterable[Judged]]) -> Judge:
    """Judge every case by itself."""

    def over_all(stage: Stage, cases: Sequence[Case]) -> Iterator[Judged]:
        for case in cases:
            yield from judge(stage, case)

    return over_all


def read_cases(file: Path, split: str, fields: Fields) -> list[dict[str, Any]]:
    """Read the cases of one split from JSON lines; each needs "id", "language", "split" and `fields`.

    Raises BatchError naming every fault of the file.
    """
    cases = read_lines(file, {"id": TEXT, "language": TEXT, "split": one_of(SPLITS), **fields})
    return [case for case in cases if case["split"] == split]
