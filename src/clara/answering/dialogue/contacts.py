"""Ways to reach a person: who is responsible for a procedure, and its contact facts, for the place where the person lives."""

from collections.abc import Mapping, Sequence
from datetime import date

from clara.answering.message import Citation
from clara.answering.writing.extractive import ExtractiveWriter
from clara.answering.writing.frame import CONTACTS, Framing
from clara.knowledge.places import STATE, Place, Places
from clara.knowledge.procedure import Procedure
from clara.retrieval.passage import Hit, Passage


class Reaching:
    """Says how to reach a person, as far as the facts know it. `contact` is the operator's own, from the settings."""

    def __init__(
        self,
        framing: Framing,
        procedures: Mapping[str, Procedure],
        passages: Sequence[Passage],
        places: Places,
        contact: str | None,
    ) -> None:
        self._texts = framing.texts
        self._procedures = procedures
        self._contacts = [passage for passage in passages if passage.section == CONTACTS]
        self._writer = ExtractiveWriter(framing)
        self._places = places
        self._contact = contact

    def people(self, language: str) -> str:
        """Say who helps in person, whatever the matter."""
        if self._contact:
            return self._texts.say(language, "human_contact", contact=self._contact)
        return self._texts.say(language, "human_default")

    def ways(
        self, document: str | None, place: Place | None, language: str, room: int, today: date
    ) -> tuple[str, tuple[Citation, ...]]:
        """Give the text, of `room` characters at most, and the evidence of its contact facts."""
        said = self._texts.say(language, "human", human=self.people(language))
        if document is None or document not in self._procedures:
            return said, ()
        procedure = self._procedures[document]
        who = self._texts.say(language, "human_procedure", procedure=procedure.name[language], authority=procedure.authority)
        said = f"{said}\n\n{who}"
        hits = [Hit(passage, 1.0) for passage in self._of(document, place, today)]
        if not hits:
            return said, ()
        facts, citations = self._writer.write(hits, language, room - len(said) - 2)
        return (f"{said}\n\n{facts}", citations) if len(said) + 2 + len(facts) <= room else (said, ())

    def _of(self, document: str, place: Place | None, today: date) -> list[Passage]:
        """Give the contact facts that hold where the person lives, or everywhere when that is not known."""
        around = self._places.around(place.code) if place else [STATE]
        return [
            passage
            for passage in self._contacts
            if passage.document_id == document and passage.territory in around and passage.holds(today)
        ]
