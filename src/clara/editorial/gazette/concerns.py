"""Which items of the gazette concern us, why, and which facts they touch. Pure.

Four things count: what the gazette's own analysis says that an item does to a norm we cite; what its title (and, as long as
there is no analysis, the titles of its provisions) names; whether its title announces what sets yearly figures anew; and words
of our matters, which count only in the sections of dispositions and only in sum.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from clara.data_files import DataError, Fault, read_data
from clara.editorial.gazette.issues import Item, ItemDocument, Reference
from clara.knowledge.catalogue import Catalogue
from clara.knowledge.keyword_tier import NamedProcedures
from clara.knowledge.law.references import CitedFacts, NormNames
from clara.knowledge.renewals import RenewalRule
from clara.language.phrases import Phrases
from clara.language.tokens import words

FILE: Final = "gazette.json"


@dataclass(frozen=True, slots=True)
class Weighted:
    """A phrase, what it adds, and the procedures that it may be about. Of those with the same number one counts."""

    phrase: str
    number: int
    weight: float
    procedures: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Weights:
    """What each kind of reason adds to a score; the schema beside the data says what they are."""

    reference_changing: float
    reference_unknown: float
    reference_mentioning: float
    title_changing: float
    title_mentioning: float
    heading_changing: float
    renewal: float
    phrase: float
    single_word: float


@dataclass(frozen=True, slots=True, eq=False)
class GazetteRules:
    """How items are judged. `sections` are those whose words count, with their factor."""

    threshold: float
    sections: Mapping[str, float]
    read_sections: frozenset[str]
    read_again_sections: frozenset[str]
    weights: Weights
    changing_relations: tuple[tuple[str, ...], ...]
    mentioning_relations: tuple[tuple[str, ...], ...]
    changing: Phrases[str]
    spoken: Phrases[Weighted]
    noise: Phrases[Weighted]
    unread: Phrases[str]


def read_rules(folder: Path, procedures: Iterable[str]) -> GazetteRules:
    """Read `folder`/gazette.json, whose words speak of these procedures. Raises DataError."""
    document = read_data(folder, FILE, "gazette")
    named = {name for entry in document["words"] for name in entry["procedures"]}
    if unknown := sorted(named - set(procedures)):
        raise DataError([Fault(FILE, "$.words", f"{', '.join(unknown)} is no procedure; correct it")])
    return GazetteRules(
        threshold=document["threshold"],
        sections=document["sections"],
        read_sections=frozenset(document["read_sections"]),
        read_again_sections=frozenset(document["read_again_sections"]),
        weights=Weights(**document["weights"]),
        changing_relations=_beginnings(document["changing_relations"]),
        mentioning_relations=_beginnings(document["mentioning_relations"]),
        changing=Phrases((phrase, phrase) for phrase in document["changing_phrases"]),
        spoken=_weighted(document["words"]),
        noise=_weighted(document["noise"]),
        unread=Phrases((phrase, phrase) for phrase in document["unread"]),
    )


def _beginnings(phrases: Iterable[str]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(words(phrase)) for phrase in phrases)


def _weighted(entries: Iterable[Mapping[str, Any]]) -> Phrases[Weighted]:
    return Phrases(
        (phrase, Weighted(phrase, number, entry["weight"], tuple(entry.get("procedures", ()))))
        for number, entry in enumerate(entries)
        for phrase in entry["said"]
    )


LANGUAGE: Final = "es"
NO_FACTS: Final = CitedFacts()
NO_RENEWALS: Final = Phrases[RenewalRule](())


class ReasonKind(StrEnum):
    """What an item concerns us for."""

    REFERENCE = "reference"  # the gazette's analysis says that it does something to a norm we cite
    TITLE = "title"  # its title names one
    HEADING = "heading"  # the title of one of its provisions says that one is changed
    RENEWAL = "renewal"  # its title announces what sets figures anew that end
    WORDS = "words"  # it speaks of our matters


BY_WORDS: Final = frozenset({ReasonKind.WORDS, ReasonKind.RENEWAL})


@dataclass(frozen=True, slots=True)
class ConcernReason:
    """One reason: the norm and the relation to it, or the words; `text` is where it stands.

    `touches`: it does something to the norm, or is about it. Resting on a norm does not touch it.
    """

    kind: ReasonKind
    weight: float
    norm: str = ""
    relation: str = ""
    text: str = ""
    touches: bool = False


@dataclass(frozen=True, slots=True)
class Concern:
    """An item that concerns us: its score, why, the cited norms it does something to, and what of ours rests on those."""

    item: Item
    score: float
    reasons: tuple[ConcernReason, ...]
    norms: tuple[str, ...]
    facts: tuple[str, ...]
    procedures: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Watched:
    """What is looked for in the gazette: the norms that facts cite, how they are named, our matters, and the rules.

    `renewals` are titles of what sets yearly figures; `renewed` are the facts that end until then, by rule.
    """

    rules: GazetteRules
    cited: Mapping[str, CitedFacts]
    names: NormNames
    procedures: NamedProcedures
    renewals: Phrases[RenewalRule] = NO_RENEWALS
    renewed: Mapping[str, CitedFacts] = field(default_factory=dict)


def spanish_names(catalogue: Catalogue) -> NamedProcedures:
    """Give what finds the procedures' Spanish names: words of other languages would be found by accident."""
    spanish = {
        name: replace(
            procedure,
            name={LANGUAGE: procedure.name[LANGUAGE]},
            vocabulary={LANGUAGE: procedure.vocabulary.get(LANGUAGE, ())},
            lookalikes={LANGUAGE: procedure.lookalikes.get(LANGUAGE, ())},
        )
        for name, procedure in catalogue.procedures.items()
    }
    return NamedProcedures(replace(catalogue, procedures=spanish))


def worth_reading(item: Item, watched: Watched) -> bool:
    """Whether an item's own document is asked for: it may change norms, or its title names one that we cite."""
    if _cited(item.title, watched):
        return True
    return item.section in watched.rules.read_sections and not watched.rules.unread.longest_first(words(_shown(item)))


def concerns(item: Item, document: ItemDocument | None, watched: Watched) -> Concern | None:
    """Say why an item concerns us, None if it does not. `document` is its own, where it was read."""
    references = list(_references(document, watched)) if document else []
    reasons, renewals = list(references), list[RenewalRule]()
    if item.section in watched.rules.sections:
        weights = watched.rules.weights
        reasons += _named(ReasonKind.TITLE, item.title, watched, weights.title_changing, weights.title_mentioning)
        for heading in document.headings if document and not document.references else ():
            reasons += _named(ReasonKind.HEADING, heading, watched, weights.heading_changing)
        renewals = _once_each(watched.renewals, item.title)
        reasons += [ConcernReason(ReasonKind.RENEWAL, weights.renewal, text=rule.title) for rule in renewals]
        reasons += _words(item, watched)
    reasons = _strongest(reasons)
    score = round(sum(reason.weight for reason in reasons), 2)
    if score < watched.rules.threshold:
        return None
    norms = tuple(dict.fromkeys(reason.norm for reason in reasons if reason.touches))
    facts = [watched.cited.get(norm, NO_FACTS) for norm in norms] + [watched.renewed[rule.id] for rule in renewals]
    return Concern(
        item=item,
        score=score,
        reasons=tuple(sorted(reasons, key=lambda reason: -reason.weight)),
        norms=norms,
        facts=tuple(dict.fromkeys(fact for cited in facts for fact in cited.facts)),
        procedures=tuple(
            dict.fromkeys([procedure for cited in facts for procedure in cited.procedures] + _procedures(item, watched))
        ),
    )


def _references(document: ItemDocument, watched: Watched) -> Iterator[ConcernReason]:
    for reference in document.references:
        if reference.norm in watched.cited and reference.norm != document.id:
            weight = _weight_of(reference, watched.rules)
            touches = weight > watched.rules.weights.reference_mentioning
            yield ConcernReason(ReasonKind.REFERENCE, weight, reference.norm, reference.words, reference.text, touches)


def _weight_of(reference: Reference, rules: GazetteRules) -> float:
    said = tuple(words(reference.words))
    said = said[1:] if said[:1] == ("se",) and len(said) > 1 else said
    if any(said[: len(beginning)] == beginning for beginning in rules.changing_relations):
        return rules.weights.reference_changing
    if any(said[: len(beginning)] == beginning for beginning in rules.mentioning_relations):
        return rules.weights.reference_mentioning
    return rules.weights.reference_unknown


def _named(
    kind: ReasonKind, text: str, watched: Watched, changing: float, mentioning: float | None = None
) -> Iterator[ConcernReason]:
    """Give the cited norms that a text names, weighed by whether it says that they are changed, or only `mentioning` them."""
    change = _change(text, watched.rules)
    weight = changing if change else mentioning
    if weight is not None:
        for norm in _cited(text, watched):
            yield ConcernReason(kind, weight, norm, change, text, touches=True)


def _words(item: Item, watched: Watched) -> Iterator[ConcernReason]:
    """Weigh the words of title and heading; what only sounds like our matters takes away from the others, never more."""
    rules = watched.rules
    factor = rules.sections[item.section]
    spoken = words(_shown(item))
    found = [
        ConcernReason(ReasonKind.WORDS, entry.weight, text=entry.phrase) for entry in _once(rules.spoken.longest_first(spoken))
    ]
    for procedure, count in watched.procedures.find(_shown(item)).items():
        weight = rules.weights.phrase if count > 1 else rules.weights.single_word
        found.append(ConcernReason(ReasonKind.WORDS, weight, text=procedure))
    noise = sum(entry.weight for entry in _once(rules.noise.longest_first(spoken)))
    yield from _lessened([replace(reason, weight=reason.weight * factor) for reason in found], noise)


def _lessened(reasons: Sequence[ConcernReason], noise: float) -> Iterator[ConcernReason]:
    for reason in sorted(reasons, key=lambda reason: reason.weight):
        taken = min(noise, reason.weight)
        noise -= taken
        if (left := round(reason.weight - taken, 2)) > 0:
            yield replace(reason, weight=left)


def _strongest(reasons: Iterable[ConcernReason]) -> list[ConcernReason]:
    """Keep the strongest reason of each norm and kind, and one of all that only rest on a norm: some are cited daily."""
    kept: dict[tuple[str, ...], ConcernReason] = {}
    for reason in reasons:
        told_apart = reason.norm if reason.touches else reason.text if reason.kind in BY_WORDS else ""
        key = (reason.kind, str(reason.touches), told_apart)
        if key not in kept or kept[key].weight < reason.weight:
            kept[key] = reason
    return list(kept.values())


def _once_each(renewals: Phrases[RenewalRule], title: str) -> list[RenewalRule]:
    return list(dict.fromkeys(rule for _, _, rule in renewals.longest_first(words(title))))


def _procedures(item: Item, watched: Watched) -> list[str]:
    shown = _shown(item)
    spoken = _once(watched.rules.spoken.longest_first(words(shown)))
    return [*watched.procedures.find(shown), *(name for entry in spoken for name in entry.procedures)]


def _once(found: Sequence[tuple[int, int, Weighted]]) -> list[Weighted]:
    return list({entry.number: entry for _, _, entry in reversed(found)}.values())


def _cited(text: str, watched: Watched) -> list[str]:
    return [norm for norm in watched.names.find(text) if norm in watched.cited]


def _change(text: str, rules: GazetteRules) -> str:
    """Give the words with which a text says that something is changed, empty if it does not."""
    return ", ".join(dict.fromkeys(phrase for _, _, phrase in rules.changing.longest_first(words(text))))


def _shown(item: Item) -> str:
    return f"{item.heading}. {item.title}"
