"""Everything read from data/."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from zipfile import BadZipFile

from clara.data_files import DataError, Fault, read_schema
from clara.knowledge.catalogue import Catalogue, read_catalogue
from clara.knowledge.keyword_tier import NamedProcedures
from clara.knowledge.passages import passages_of
from clara.knowledge.question_analysis import understanding
from clara.knowledge.retriever_wrappers import madrid_today
from clara.knowledge.revisions import Revised, Revision, revised
from clara.retrieval.calibration import Calibration
from clara.retrieval.hybrid import Understand
from clara.retrieval.intent import IntentModel, read_intent
from clara.retrieval.passage import Passage
from clara.retrieval.profile import Profile
from clara.retrieval.vocabulary import Vocabulary, read_vocabulary
from clara.settings import resources


@dataclass(frozen=True, slots=True, eq=False)
class Knowledge:
    """Everything read from data/, checked. `released` is what it was before people corrected it, None when nobody did."""

    catalogue: Catalogue
    passages: tuple[Passage, ...]
    named: NamedProcedures
    intent: IntentModel
    released: "Knowledge | None" = None

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


@lru_cache(maxsize=2)
def read_knowledge(*, with_questions: bool = False) -> Knowledge:
    """Read and check data/; typical questions only when asked for. Once a process. Raises DataError."""
    data = resources() / "data"
    catalogue = read_catalogue(data, with_questions=with_questions)
    passages = [passage for procedure in catalogue.procedures.values() for passage in passages_of(procedure, madrid_today())]
    try:
        intent = read_intent(data / "intent.npz")
    except (OSError, ValueError, KeyError, BadZipFile) as error:
        remedy = f"no usable model ({error}); restore it from the repository, or run `python -m clara_lab.training.intents`"
        raise DataError([Fault("intent.npz", "file", remedy)]) from error
    return Knowledge(catalogue, tuple(passages), NamedProcedures(catalogue), intent)


def laid_over(knowledge: Knowledge, revisions: Sequence[Revision]) -> tuple[Knowledge, Revised]:
    """Lay corrections over what was released, and say what became of each. Raises DataError.

    Names, vocabulary and the model of intents stay: only facts can be corrected.
    """
    done = revised(knowledge.catalogue, revisions, read_schema(resources() / "data" / "schema" / "procedure.schema.json"))
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


def read_calibration(tier: str) -> Calibration:
    """Read the model that decides whether the evidence of a tier is good enough."""
    stored = json.loads((resources() / "data" / "calibration.json").read_text("utf-8"))["tiers"][tier]
    return Calibration(stored["weights"], stored["intercept"], stored["threshold"])


def subject_of(profile: Profile) -> Vocabulary:
    """Read the words of what a corpus is about: programs, or public procedures. Raises VocabularyError."""
    name = "code" if profile.language == "code" else "tramites"
    return read_vocabulary(resources() / "data" / "vocabulary" / f"{name}.json")
