"""The parts of the grounded writer, on real data, for its tests."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from clara.answering.ports import ModelUnavailableError, Prompt
from clara.answering.verification.prover import Prover
from clara.answering.verification.statements import Subjects, read_bodies
from clara.answering.writing.frame import citation_of
from clara.answering.writing.gates import Gates, read_sensitive
from clara.answering.writing.prompt import Evidence, Prompts, evidence_of, read_prompts
from clara.answering.writing.reviewer import Reviewer
from clara.knowledge.catalogue import Catalogue
from clara.language.detection import LanguageDetector
from clara.language.figures.lexicon import read_lexicons
from clara.language.figures.reader import Reader
from clara.retrieval.passage import Passage


@dataclass(frozen=True)
class Parts:
    """What reviews drafts."""

    prompts: Prompts
    gates: Gates
    reviewer: Reviewer


def parts_on(data: Path, catalogue: Catalogue, detector: LanguageDetector) -> Parts:
    """Build what reviews drafts, as the container does."""
    prompts, reader = read_prompts(data), Reader(read_lexicons(data))
    gates = Gates(read_sensitive(data), f"{prompts.instruction}\n{prompts.rewrite}")
    prover = Prover(reader, Subjects(catalogue, read_bodies(data)))
    return Parts(prompts, gates, Reviewer(gates, prover, detector))


def evidence(*passages: Passage, limits: Mapping[str, Sequence[str]] | None = None) -> Evidence:
    """Cite the passages as C1, C2 and on; the first is the main one."""
    cited = [(citation_of(number, passage), passage) for number, passage in enumerate(passages, 1)]
    return evidence_of(cited, limits or {}, passages[0].id, {"ES": "España"})


@dataclass
class Dictated:
    """A model that gives these drafts, one a call; "" means that it is not there. It keeps what it was asked."""

    drafts: Sequence[str]
    took: float = 0.0
    pass_time: Callable[[float], Any] = lambda _seconds: None
    asked: list[tuple[Prompt, float]] = field(default_factory=list)
    name: str = "dictated"

    def write(self, prompt: Prompt, seconds: float) -> str:
        self.asked.append((prompt, seconds))
        self.pass_time(self.took)
        draft = self.drafts[len(self.asked) - 1]
        if not draft:
            raise ModelUnavailableError("is not there")
        return draft
