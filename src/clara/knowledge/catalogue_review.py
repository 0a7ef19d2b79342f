"""What an editor should know about the catalogue: what is thin, what is about to end, what has ended."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from clara.knowledge.catalogue import Catalogue
from clara.knowledge.procedure import Certainty, Fact, Procedure
from clara.knowledge.questions import TypicalQuestion

# People look for these in every procedure; each needs questions in every language.
MAIN_SECTIONS = ("identidad", "requisitos", "documentos", "como_solicitar", "plazos", "cuantias")
LEAST_QUESTIONS = {"es": 10}
LEAST_FOREIGN_QUESTIONS = 3
# Long enough for an editor to find the new figures: most of them change on the first of January.
SOON = timedelta(days=60)


@dataclass(frozen=True, slots=True)
class ProcedureReview:
    """The state of one procedure. `expired` is what makes a check fail; the rest is for the editor to weigh."""

    procedure: Procedure
    certainty: dict[Certainty, int]
    untold_sections: tuple[str, ...]
    missing_sections: tuple[str, ...]
    expiring: tuple[Fact, ...]
    expired: tuple[Fact, ...]
    without_basis: tuple[Fact, ...]
    untranslated: tuple[str, ...]
    thin_questions: tuple[str, ...]


def review(catalogue: Catalogue, today: date, languages: Sequence[str]) -> list[ProcedureReview]:
    """Review every procedure, in order."""
    return [
        _review(procedure, [one for one in catalogue.questions if one.procedure == procedure.id], today, languages)
        for procedure in catalogue.procedures.values()
    ]


def _review(
    procedure: Procedure, questions: Sequence[TypicalQuestion], today: date, languages: Sequence[str]
) -> ProcedureReview:
    facts = procedure.facts
    told = {section.id for section in procedure.sections if any(fact.published(today) for fact in section.facts)}
    return ProcedureReview(
        procedure=procedure,
        certainty=dict(Counter(fact.certainty for fact in facts)),
        untold_sections=tuple(section.id for section in procedure.sections if section.id not in told),
        missing_sections=tuple(name for name in MAIN_SECTIONS if name not in {section.id for section in procedure.sections}),
        expiring=tuple(_ending(facts, today, today + SOON)),
        expired=tuple(fact for fact in facts if fact.validity.ended(today)) if procedure.closed_on is None else (),
        without_basis=tuple(fact for fact in facts if fact.certainty is Certainty.OFFICIAL and not fact.legal_basis),
        untranslated=tuple(name for name in languages if not procedure.vocabulary.get(name) or name not in procedure.name),
        thin_questions=tuple(_thin(procedure, questions, languages)),
    )


def _ending(facts: Iterable[Fact], today: date, until: date) -> Iterator[Fact]:
    return (fact for fact in facts if fact.validity.last is not None and today <= fact.validity.last <= until)


def _thin(procedure: Procedure, questions: Sequence[TypicalQuestion], languages: Sequence[str]) -> Iterator[str]:
    have = Counter((question.section, question.language) for question in questions)
    sections = {section.id for section in procedure.sections} & set(MAIN_SECTIONS)
    for section in sorted(sections):
        for language in languages:
            if have[section, language] < LEAST_QUESTIONS.get(language, LEAST_FOREIGN_QUESTIONS):
                yield f"{section} ({language}: {have[section, language]})"
