"""Builds what the steps of a conversation work with, from data/."""

from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from zipfile import BadZipFile

from clara.answering.dialogue.choices import Choosing
from clara.answering.dialogue.clarification import Clarifying, read_ambiguous
from clara.answering.dialogue.commands import Commands
from clara.answering.dialogue.correction import Correcting
from clara.answering.dialogue.follow_ups import Following
from clara.answering.dialogue.menu import read_menu
from clara.answering.dialogue.message_parts import Asking
from clara.answering.dialogue.phrasebook import Phrasebook, read_phrasebooks
from clara.answering.dialogue.steps import Dialogue, Listing, Reaching
from clara.answering.journey import Tools
from clara.answering.ports import TextModel
from clara.answering.privacy.rights import Rights
from clara.answering.privacy.wishes import read_wishes
from clara.answering.safety.danger import Danger, read_danger
from clara.answering.safety.guard import Guard
from clara.answering.safety.scope import Scope, read_abuse
from clara.answering.texts import Texts
from clara.answering.verification.prover import Prover
from clara.answering.verification.statements import Subjects, read_bodies
from clara.answering.writing.extractive import ExtractiveWriter
from clara.answering.writing.frame import Framing
from clara.answering.writing.gates import Gates, read_sensitive
from clara.answering.writing.grounded import GroundedWriter, Grounding
from clara.answering.writing.prompt import read_prompts
from clara.answering.writing.reviewer import Reviewer
from clara.data_files import DataError, Fault
from clara.knowledge.keyword_tier import DOCUMENT_WEIGHT
from clara.knowledge.knowledge_base import Knowledge, KnowledgeVersion
from clara.knowledge.passages import CORPUS
from clara.knowledge.questions import OUTSIDE
from clara.language.detection import DEFAULT, LanguageDetector
from clara.language.figures.lexicon import read_lexicons
from clara.language.figures.reader import Reader
from clara.language.identity_data import identity_rules
from clara.language.packs import read_languages
from clara.language.phrases import Phrases, every
from clara.language.spelling import Spelling, SpellingLexicon, read_sounds
from clara.language.tokens import words
from clara.retrieval.arrays import read_arrays
from clara.retrieval.classifier import TextClassifier, read_classifier
from clara.retrieval.passage import Found, Query
from clara.retrieval.ports import IndexUnavailableError
from clara.retrieval.vocabulary import read_vocabulary


@lru_cache(maxsize=8)
def tools_from_data(knowledge: Knowledge, texts: Texts, danger: Danger, contact: str | None) -> Tools:
    """Build the tools that hang on data/ alone, which finds nothing: once a process, however many snapshots it has."""
    data = knowledge.data
    wishes = read_wishes(data)
    identity_rules()  # where they are broken, the start says so, and no message
    return Tools(
        corpus=CORPUS,
        retrieve=_nothing,
        texts=texts,
        detector=build_detector(knowledge, texts, classifier(data, "detection/model.npz", "language")),
        guard=Guard(danger, wishes, texts),
        rights=Rights(wishes, texts, classifier(data, "rights/model.npz", "wishes")),
        dialogue=build_dialogue(knowledge, texts, contact),
        scope=build_scope(data),
        clarifying=build_clarifying(knowledge, texts),
        spelling=build_spelling(knowledge),
        asking=Asking(read_phrasebooks(data)),
        writer=ExtractiveWriter(Framing(texts, knowledge.names, knowledge.passages, steps=knowledge.next_steps)),
        places=knowledge.catalogue.places,
    )


def _nothing(_query: Query) -> Found:
    raise IndexUnavailableError("no search has been joined to the tools yet")


def build_dialogue(knowledge: Knowledge, texts: Texts, human_contact: str | None) -> Dialogue:
    """Give the steps, ready. Raises DataError when a phrasebook has faults."""
    books = read_phrasebooks(knowledge.data)
    catalogue, named, names = knowledge.catalogue, knowledge.named, knowledge.names
    vocabulary = read_vocabulary(knowledge.data, "tramites")
    framing = Framing(texts, names, knowledge.passages, steps=knowledge.next_steps)

    # The names of procedures are never misspelt commands.
    said = [phrase for item in catalogue.procedures.values() for phrase in (*every(item.vocabulary), *item.name.values())]

    def matters(text: str) -> list[str]:
        return vocabulary.cues.meanings(words(text))

    def topics(text: str) -> tuple[Mapping[str, float], float]:
        understood = knowledge.understand(Query(text, CORPUS), None)
        likely = {name: weight / DOCUMENT_WEIGHT for name, weight in understood.documents.items()}
        return likely, understood.outside or 0.0

    following = Following(books, names, named, topics, catalogue.places, matters)

    def nearest(text: str) -> list[str]:
        likely = knowledge.intent.intent(text, None).documents
        return [name for name in sorted(likely, key=likely.__getitem__, reverse=True) if name != OUTSIDE]

    listing = Listing(texts, names, read_menu(knowledge.data, names, texts.by_language["es"].texts))
    return Dialogue(
        listing=listing,
        commands=Commands(texts, books, said),
        choosing=Choosing(books, named, listing.called, courtesies(texts, books)),
        correcting=Correcting(books, following, named),
        following=following,
        reaching=Reaching(framing, catalogue.procedures, catalogue.places, human_contact),
        named=named,
        places=catalogue.places,
        nearest=nearest,
    )


def courtesies(texts: Texts, books: Mapping[str, Phrasebook]) -> Phrases[bool]:
    """Give what people say besides, in any language: greetings, thanks, forms of address."""
    commands = (spoken.commands[name] for spoken in texts.by_language.values() for name in ("greeting", "thanks"))
    said = [phrase for phrases in commands for phrase in phrases]
    said += [" ".join(key) for book in books.values() for key in book.addressing.entries]
    return Phrases((phrase, True) for phrase in said)


def build_detector(knowledge: Knowledge, texts: Texts, model: TextClassifier) -> LanguageDetector:
    """Give what tells the language of a message; short ones by what people say while a conversation goes on."""
    data = knowledge.data
    books, served = read_phrasebooks(data), read_languages(data)
    scripts = {code: language.script for code, language in served.items()}
    late = [code for code, language in served.items() if language.late]
    procedures = knowledge.catalogue.procedures.values()
    spanish = [phrase for item in procedures for phrase in (*item.vocabulary.get("es", ()), item.name["es"])]
    places = [name for place in knowledge.catalogue.places.by_code.values() for name in (place.name, *place.aliases)]
    phrases = {
        language: [
            *(" ".join(key) for key in (*book.following.entries, *book.correcting.entries, *book.agreement)),
            *(phrase for said in texts.by_language[language].commands.values() for phrase in said),
            *texts.by_language[language].words,
        ]
        for language, book in books.items()
    }
    return LanguageDetector(scripts, model.shares, model.about.get("answered_in", {}), [*spanish, *places], phrases, late)


def build_clarifying(knowledge: Knowledge, texts: Texts) -> Clarifying:
    """Give what asks back. Raises DataError."""
    purposes = {procedure.id: procedure.purpose for procedure in knowledge.catalogue.procedures.values()}
    catalogue, named = knowledge.catalogue, knowledge.named
    return Clarifying(read_ambiguous(knowledge.data), texts, knowledge.names, purposes, catalogue.places, named)


def build_spelling(knowledge: Knowledge) -> Spelling:
    """Give what mends spelling, its words read by language as they are needed. Raises DataError."""
    data, catalogue = knowledge.data, knowledge.catalogue
    try:
        arrays = read_arrays(data / "spelling.npz")
    except (OSError, ValueError) as error:
        remedy = f"no usable words ({error}); restore it from the repository, or run `python -m clara_lab.training.spelling`"
        raise DataError([Fault("spelling.npz", "file", remedy)]) from error

    @cache
    def lexicon(language: str) -> SpellingLexicon | None:
        return SpellingLexicon.of(arrays, language) if f"{language}_words" in arrays else None

    places = [name for place in catalogue.places.by_code.values() for name in (place.name, *place.aliases)]
    sounds, kept = read_sounds(data), dict[str, frozenset[str]]()
    for language in sounds:  # of procedures the names alone: a vocabulary has misspelt ones
        names = [item.name[said] for item in catalogue.procedures.values() for said in {DEFAULT, language}]
        kept[language] = frozenset(word for name in (*places, *names) for word in words(name))
    return Spelling(lexicon, sounds, kept)


def build_scope(data: Path) -> Scope:
    """Read data/scope. Raises DataError."""
    vocabulary = read_vocabulary(data, "tramites")
    return Scope(read_abuse(data), classifier(data, "scope/topics.npz", "topics"), vocabulary.content)


def build_danger(data: Path) -> Danger:
    """Read what is said of danger, with its model. Raises DataError."""
    name = "danger/model.npz"
    try:
        return read_danger(data, classifier(data, name, "danger"))
    except (KeyError, TypeError) as error:
        remedy = f"no model of danger ({error!r}); restore it from the repository, or run `python -m clara_lab.training.danger`"
        raise DataError([Fault(name, "file", remedy)]) from error


def classifier(folder: Path, name: str, matter: str) -> TextClassifier:
    """Read the trained model `name` of the data folder, made by `python -m clara_lab.training.{matter}`. Raises DataError."""
    try:
        return read_classifier(folder / name)
    except (OSError, ValueError, KeyError, BadZipFile) as error:
        remedy = f"no usable model ({error}); restore it from the repository, or run `python -m clara_lab.training.{matter}`"
        raise DataError([Fault(name, "file", remedy)]) from error


def grounded_writer(
    knowledge: Knowledge, extractive: ExtractiveWriter, detector: LanguageDetector, prover: Prover, model: TextModel
) -> GroundedWriter:
    """Put a model between the extractive writer and the review. Raises DataError."""
    prompts = read_prompts(knowledge.data)
    gates = Gates(read_sensitive(knowledge.data), f"{prompts.instruction}\n{prompts.rewrite}")
    reviewer = Reviewer(gates, prover, detector)
    names = {code: place.name for code, place in knowledge.catalogue.places.by_code.items()}
    return GroundedWriter(extractive, model, reviewer, Grounding(prompts, names))


def build_prover(version: KnowledgeVersion) -> Prover:
    """Build what proves replies: the words of all languages, and what this version knows of procedures. Raises DataError."""
    passages = {passage.id: passage for passage in version.knowledge.passages}

    def in_force(name: str) -> bool:
        return name in passages and passages[name].holds(version.today())

    return Prover(*_reading(version.knowledge.base), in_force)


@lru_cache(maxsize=2)
def _reading(knowledge: Knowledge) -> tuple[Reader, Subjects]:
    """Read what no correction of a fact changes: words, and the names of procedures. Once a process."""
    return Reader(read_lexicons(knowledge.data)), Subjects(knowledge.catalogue, read_bodies(knowledge.data))
