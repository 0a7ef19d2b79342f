"""Looking at the knowledge as an editor does: is it right, what is thin, what does a procedure say."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from clara.answering.writing.frame import shown_date
from clara.data_files import DataError
from clara.errors import NotFound
from clara.knowledge.catalogue import Catalogue, examples_of
from clara.knowledge.contradictions import contradictions
from clara.knowledge.derivations import derivation_faults, read_derivations
from clara.knowledge.hotlines import read_hotlines
from clara.knowledge.knowledge_base import Knowledge, read_knowledge
from clara.knowledge.next_steps import step_facts
from clara.knowledge.places import STATE, Places
from clara.knowledge.procedure import Certainty, Fact, Procedure, madrid_today
from clara.knowledge.provisions import provision_faults, read_known, read_provisions, unsupported
from clara.knowledge.questions import digest_of
from clara.knowledge.renewals import read_renewals
from clara.knowledge.sources import provenance_faults, read_hosts, read_sources, source_faults
from clara.language.packs import read_languages
from clara.plain_text import wrapped
from clara.settings import resources

Say = Callable[[str], None]

STALE = "data/intent.npz was trained on other questions or names: run `make intent`, then `make eval`"

_CERTAINTY = {
    Certainty.OFFICIAL: "oficial",
    Certainty.TWO_SOURCES: "dos fuentes",
    Certainty.SECONDARY: "una fuente no oficial",
    Certainty.UNVERIFIED: "sin fuente: no se publica",
}

# People look for these in every procedure; each needs questions in every language.
MAIN_SECTIONS = ("identidad", "requisitos", "documentos", "como_solicitar", "plazos", "cuantias")
LEAST_QUESTIONS = {"es": 10}
LEAST_FOREIGN_QUESTIONS = 3
# Of the facts published on one reading, more than a quarter lacked a condition that decides (docs/readings/2026-11-23).
# So many besides whoever wrote it find it right before it is told.
READERS = 1
# Long enough for an editor to find the new figures: most of them change on the first of January.
SOON = timedelta(days=60)


class UnknownProcedureError(NotFound):
    """There is no procedure of that name. The message lists those there are."""


def check(say: Say) -> bool:
    """Validate everything and say, by procedure, what an editor should know; give whether all is clean. Raises DataError."""
    knowledge = read_knowledge(resources() / "data", with_questions=True)
    data = resources() / "data"
    sources, derivations = read_sources(data), read_derivations(data)
    faults = [*source_faults(sources, knowledge.catalogue), *derivation_faults(derivations, knowledge.catalogue)]
    faults += provenance_faults(knowledge.catalogue, sources.values(), read_hosts(data), read_hotlines(data))
    faults += contradictions(knowledge.catalogue)
    astray = list(unsupported(knowledge.catalogue, read_provisions(data), derivations))
    faults += provision_faults(astray, read_known(data))
    if faults:
        raise DataError(faults)
    read_renewals(data, knowledge.catalogue, derivations)
    clean = report(knowledge, madrid_today(), say)
    say(f"{len(sources)} sources; every norm and official page that a fact cites is among them.")
    if astray:
        say(wrapped(f"Figures to find in a provision (data/figures_to_find.json): {', '.join(map(str, astray))}", "", "  "))
    told = {passage.id for passage in knowledge.passages}
    lost = [
        name for name in knowledge.catalogue.procedures if not told.intersection(step_facts(knowledge.next_steps.get(name, {})))
    ]
    if lost:
        say(wrapped(f"No fact that may be told says where to go for: {', '.join(lost)} (data/next_steps)", "", "  "))
    figures = sum(len(formulas) for formulas in derivations.derived.values())
    bases = ", ".join(derivations.bases)
    say(f"{figures} figures of {len(derivations.derived)} facts derive from {bases}, as their formulas say.")
    return clean


def report(knowledge: Knowledge, today: date, say: Say) -> bool:
    """Say by procedure what an editor should know, and at the end what must be mended; give whether nothing must be."""
    catalogue = knowledge.catalogue
    reviews = review(catalogue, today, tuple(read_languages(resources() / "data")))
    for one in reviews:
        say("\n".join(_lines(one)))
    facts = sum(len(procedure.facts) for procedure in catalogue.procedures.values())
    say(
        f"\n{len(reviews)} procedures, {facts} facts, {len(catalogue.questions)} typical questions, "
        f"{len(catalogue.places.by_code)} places. Every figure of every text is among its values."
    )
    told = [fact for procedure in catalogue.procedures.values() for fact in procedure.facts if fact.published(today)]
    read = sum(len(fact.readers) >= READERS for fact in told)
    say(
        f"{len(told)} facts may be told; {read} of them were found right beside the article by somebody else than their writer."
    )
    wrong = [
        f"{fact.id} ended on {fact.validity.last}: give it the new figures and days, or remove it"
        for one in reviews
        for fact in one.expired
    ]
    if knowledge.intent.about["trained_on"] != digest_of(examples_of(catalogue)):
        wrong.append(STALE)
    say("\n".join(["To be mended:", *(f"  {line}" for line in wrong)]) if wrong else "Nothing has to be mended.")
    return not wrong


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
    unread: tuple[Fact, ...]


def review(catalogue: Catalogue, today: date, languages: Sequence[str]) -> list[ProcedureReview]:
    """Review every procedure, in order."""
    asked = Counter((question.procedure, question.section, question.language) for question in catalogue.questions)
    return [_review(procedure, asked, today, languages) for procedure in catalogue.procedures.values()]


def _review(
    procedure: Procedure, asked: Mapping[tuple[str, str, str], int], today: date, languages: Sequence[str]
) -> ProcedureReview:
    facts, sections = procedure.facts, [section.id for section in procedure.sections]
    told = {section.id for section in procedure.sections if any(fact.published(today) for fact in section.facts)}
    thin = [
        f"{section} ({language}: {asked[procedure.id, section, language]})"
        for section in sorted({*sections} & {*MAIN_SECTIONS})
        for language in languages
        if asked[procedure.id, section, language] < LEAST_QUESTIONS.get(language, LEAST_FOREIGN_QUESTIONS)
    ]
    recorded = any(fact.reviewed for fact in facts)  # else its readings are told in docs/readings, and none is missing here
    return ProcedureReview(
        procedure=procedure,
        certainty=dict(Counter(fact.certainty for fact in facts)),
        untold_sections=tuple(name for name in sections if name not in told),
        missing_sections=tuple(name for name in MAIN_SECTIONS if name not in sections),
        expiring=tuple(fact for fact in facts if fact.validity.last and today <= fact.validity.last <= today + SOON),
        expired=tuple(fact for fact in facts if fact.validity.ended(today)) if procedure.closed_on is None else (),
        without_basis=tuple(fact for fact in facts if fact.certainty is Certainty.OFFICIAL and not fact.legal_basis),
        untranslated=tuple(name for name in languages if not procedure.vocabulary.get(name) or name not in procedure.name),
        thin_questions=tuple(thin),
        unread=tuple(fact for fact in facts if recorded and fact.published(today) and len(fact.readers) < READERS),
    )


def _lines(one: ProcedureReview) -> Iterator[str]:
    counts = ", ".join(f"{one.certainty[each]} {each.replace('_', ' ')}" for each in Certainty if each in one.certainty)
    yield f"{one.procedure.id}: {len(one.procedure.facts)} facts ({counts})"
    notes: dict[str, Sequence[str]] = {
        "EXPIRED, not told any more": _ids(one.expired),
        **_by_last_day(one.expiring),
        "sections without a fact to tell": one.untold_sections,
        "main sections that it does not have": one.missing_sections,
        "official facts without legal basis": _ids(one.without_basis),
        "languages without name or vocabulary": one.untranslated,
        "too few typical questions": one.thin_questions,
        "told, and found right by nobody else beside its article": _ids(one.unread),
    }
    for name, found in notes.items():
        if found:
            yield wrapped(f"{name}: {', '.join(found)}", "  ", "    ")


def _by_last_day(facts: Iterable[Fact]) -> dict[str, list[str]]:
    ending: dict[str, list[str]] = {}
    for fact in sorted(facts, key=lambda fact: str(fact.validity.last)):
        ending.setdefault(f"about to expire, last day {fact.validity.last}", []).append(fact.id)
    return ending


def _ids(facts: Iterable[Fact]) -> list[str]:
    return [fact.id for fact in facts]


def show(name: str, say: Say) -> None:
    """Print a procedure as a person would want to read it. Raises UnknownProcedureError, DataError."""
    catalogue = read_knowledge(resources() / "data").catalogue
    if name not in catalogue.procedures:
        raise UnknownProcedureError(f"there is no procedure '{name}'; the procedures are: {', '.join(catalogue.procedures)}")
    say("\n".join(page_of(catalogue.procedures[name], catalogue.places, madrid_today())))


def page_of(procedure: Procedure, places: Places, today: date) -> Iterator[str]:
    """Give the lines of a procedure: under each fact what it is said with, how sure it is, and where that can be read."""
    title = procedure.name["es"]
    yield title
    yield "=" * len(title)
    yield wrapped(f"Quién decide: {procedure.authority}")
    if procedure.closed_on:
        yield f"Cerrado desde el {_day(procedure.closed_on)}."
    texts = {fact.id: fact.text for fact in procedure.facts}
    for section in procedure.sections:
        yield from ("", section.title, "-" * len(section.title))
        for fact in section.facts:
            yield wrapped(f"• {fact.text}", "", "  ")
            yield from _evidence(fact, texts, places, today)


def _evidence(fact: Fact, texts: Mapping[str, str], places: Places, today: date) -> Iterator[str]:
    for condition in fact.conditions:
        yield wrapped(f"Se dice siempre con {condition}: {texts[condition]}", "    ", "      ")
    parts = [fact.id, _CERTAINTY[fact.certainty]]
    if fact.territory != STATE:
        parts.append(f"solo en {places.by_code[fact.territory].name} ({fact.territory})")
    parts += [f"desde el {_day(fact.validity.first)}"] if fact.validity.first else []
    parts += [f"hasta el {_day(fact.validity.last)}"] if fact.validity.last else []
    if fact.validity.ended(today):
        parts.append("CADUCADO: ya no se dice")
    elif not fact.validity.begun(today):
        parts.append("todavía no se dice")
    yield f"    {' · '.join(parts)}"
    if fact.legal_basis:
        bases = "; ".join(" ".join(filter(None, (basis.norm, basis.provision))) for basis in fact.legal_basis)
        yield wrapped(f"Norma: {bases}", "    ", "      ")
    for source in fact.sources:
        yield f"    {source.url} (comprobado: {shown_date(str(source.seen_on), 'es')})"


def _day(day: date) -> str:
    return shown_date(day.isoformat(), "es")
