"""The passages of a procedure: one for each fact that is known today, under the heading path of its section.

A fact is the smallest thing with evidence of its own, so a citation points at exactly what was said. It is also what is
found best: docs/decisions/0003 has the figures against groups of 300, 600 and 1,000 characters.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from datetime import date, timedelta
from typing import Any, Final

from clara.knowledge.procedure import Certainty, Fact, Procedure, fact_from
from clara.language.figures.figure import figures_as_json
from clara.retrieval.passage import Passage
from clara.retrieval.validity import ALWAYS

CORPUS = "clara"
COLLECTION = "curado"
# How this corpus is searched: a name of data/profiles.json.
PROFILE = "procedures"
# What ended longer ago than this is forgotten. By the middle of the year after next, nobody asks for a year's figures.
KEPT: Final = timedelta(days=548)

# The day on which each fact was found to be in doubt, by fact id.
Flagged = Callable[[], Mapping[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class FactPassage(Passage):
    """The passage of a fact, which is the `place`-th of its section, from 1. `flagged`: the day since which it is in doubt."""

    fact: Fact
    place: int
    flagged: str | None = None

    @property
    def stored_metadata(self) -> dict[str, Any]:
        """What is stored of the fact beside the columns, as JSON."""
        fact = self.fact
        return {
            "place": self.place,
            "kind": fact.kind.value,
            "certainty": fact.certainty.value,
            "values": figures_as_json(fact.values),
            "conditions": list(fact.conditions),
            **fact.validity.stored(),
            "sources": [source.document for source in fact.sources],
            "legal_basis": [asdict(basis) for basis in fact.legal_basis],
        }


def marked(passage: Passage, doubts: Mapping[str, str]) -> Passage:
    """Give a passage with the day since which it is in doubt, the same one when it is not."""
    since = doubts.get(passage.id)
    return replace(passage, flagged=since) if since and isinstance(passage, FactPassage) else passage


def passages_of(procedure: Procedure, today: date) -> list[FactPassage]:
    """Cut a procedure into passages, in the editor's order; unverified facts, and those that ended long ago, are left out.

    Facts that become true later and facts that have ended are in, with their days: the search leaves out the former until
    then, and gives the latter apart.
    """
    return [
        FactPassage(
            id=fact.id,
            corpus=CORPUS,
            collection=COLLECTION,
            document_id=procedure.id,
            section=section.id,
            heading=(procedure.name["es"], section.title),
            text=fact.text,
            language="es",
            territory=fact.territory,
            validity=fact.validity,
            fact=fact,
            place=place,
        )
        for section in procedure.sections
        for place, fact in enumerate(section.facts, 1)
        if fact.certainty is not Certainty.UNVERIFIED and not fact.validity.ended(today - KEPT)
    ]


def fact_of(passage: Passage) -> Fact:
    """Give the fact that a passage tells. Raises TypeError for a passage of anything else."""
    if not isinstance(passage, FactPassage):
        raise TypeError(f"{passage.id} of {passage.corpus} is the passage of no fact")
    return passage.fact


def place_of(passage: Passage) -> int:
    """Give the place of a fact in its section, from 1; a passage of anything else is alone."""
    return passage.place if isinstance(passage, FactPassage) else 1


def fact_passage(stored: Passage) -> FactPassage:
    """Read the fact of a passage as it was stored, by this release or an earlier one."""
    told = {**stored.metadata, "id": stored.id, "text": stored.text, "territory": stored.territory}
    fact = replace(fact_from(told), validity=stored.validity or ALWAYS)
    columns = {one.name: getattr(stored, one.name) for one in fields(Passage)}
    return FactPassage(**{**columns, "validity": fact.validity, "metadata": {}}, fact=fact, place=stored.metadata["place"])
