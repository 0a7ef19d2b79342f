"""What is known: everything read from data/, corrections laid over it, and which version of it is served."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import lru_cache
from pathlib import Path
from zipfile import BadZipFile

from clara.data_files import DataError, Fault, read_schema
from clara.knowledge.catalogue import Catalogue, read_catalogue
from clara.knowledge.keyword_tier import NamedProcedures, understanding
from clara.knowledge.next_steps import NextSteps, read_next_steps
from clara.knowledge.passages import CORPUS, Flagged, passages_of
from clara.knowledge.procedure import madrid_today
from clara.knowledge.revisions import Revised, Revision, revised
from clara.retrieval.hybrid import Understand
from clara.retrieval.intent import IntentModel, read_intent
from clara.retrieval.passage import Passage


@dataclass(frozen=True, slots=True, eq=False)
class Knowledge:
    """Everything read from a folder, checked. `released` is what it was before people corrected it, None when nobody did."""

    data: Path
    catalogue: Catalogue
    passages: tuple[Passage, ...]
    named: NamedProcedures
    intent: IntentModel
    released: "Knowledge | None" = None
    next_steps: Mapping[str, NextSteps] = field(default_factory=dict)

    @property
    def base(self) -> "Knowledge":
        """Give the same as it was released: what no correction changes is built from it once."""
        return self.released or self

    @property
    def corrected(self) -> frozenset[str]:
        """Give the facts that say something else than when they were released, or are not told any more."""
        told = {passage.id: passage.text for passage in self.passages}
        return frozenset(passage.id for passage in self.base.passages if told.get(passage.id) != passage.text)

    @property
    def understand(self) -> Understand:
        """Give what tells which procedures and sections a question is about."""
        return understanding(self.intent.intent, self.named)

    @property
    def names(self) -> dict[str, dict[str, str]]:
        """Give the procedures' names by id and language."""
        return {procedure.id: dict(procedure.name) for procedure in self.catalogue.procedures.values()}


@dataclass(frozen=True, slots=True)
class KnowledgeVersion:
    """One version of the knowledge: what is known, and which corpora are searched under which names (others: as served).

    `publication` is the number of what is served, None for what is not. `today` decides what is valid, `flagged` what is in
    doubt.
    """

    knowledge: Knowledge
    corpora: Mapping[str, str] = field(default_factory=dict)
    publication: int | None = None
    today: Callable[[], date] = madrid_today
    flagged: Flagged = dict

    @property
    def physical(self) -> str:
        """Give the corpus of Clara's own knowledge."""
        return self.corpora.get(CORPUS, CORPUS)


@lru_cache(maxsize=2)
def read_knowledge(data: Path, *, with_questions: bool = False) -> Knowledge:
    """Read and check data/; typical questions only when asked for. Once a process. Raises DataError."""
    catalogue = read_catalogue(data, with_questions=with_questions)
    passages = [passage for procedure in catalogue.procedures.values() for passage in passages_of(procedure, madrid_today())]
    try:
        intent = read_intent(data / "intent.npz")
    except (OSError, ValueError, KeyError, BadZipFile) as error:
        remedy = f"no usable model ({error}); restore it from the repository, or run `python -m clara_lab.training.intents`"
        raise DataError([Fault("intent.npz", "file", remedy)]) from error
    steps = read_next_steps(data, catalogue)
    return Knowledge(data, catalogue, tuple(passages), NamedProcedures(catalogue), intent, next_steps=steps)


def laid_over(knowledge: Knowledge, revisions: Sequence[Revision]) -> tuple[Knowledge, Revised]:
    """Lay corrections over what was released, and say what became of each. Raises DataError.

    Names, vocabulary and the model of intents stay: only facts can be corrected.
    """
    done = revised(knowledge.catalogue, revisions, read_schema(knowledge.data / "schema" / "procedure.schema.json"))
    if not done.applied:
        return knowledge, done
    passages = [
        passage
        for name, procedure in done.catalogue.procedures.items()
        for passage in (
            passages_of(procedure, madrid_today())
            if name in done.procedures
            else [held for held in knowledge.passages if held.document_id == name]
        )
    ]
    return replace(knowledge, catalogue=done.catalogue, passages=tuple(passages), released=knowledge.base), done


def digest_of_release(data: Path) -> str:
    """Name everything in data/ that shapes a result besides the corpus: remembered results of another release are void."""
    digest = hashlib.sha256()
    parts = ("calibration.json", "intent.npz", "profiles.json", "places.json", "vocabulary/*.json", "tramites/*.json")
    for file in sorted(file for part in parts for file in data.glob(part)):
        digest.update(file.read_bytes())
    return digest.hexdigest()
