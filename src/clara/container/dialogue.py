"""Builds the steps that know the conversation from what is read from data/."""

from collections.abc import Mapping

from clara.answering.dialogue.choices import Choosing
from clara.answering.dialogue.commands import Commands
from clara.answering.dialogue.contacts import Reaching
from clara.answering.dialogue.correction import Correcting
from clara.answering.dialogue.follow_ups import Following, Topics
from clara.answering.dialogue.phrasebook import Phrasebook, read_phrasebooks
from clara.answering.dialogue.steps import Dialogue, Listing
from clara.answering.texts import Texts
from clara.answering.writing.frame import Framing
from clara.container.knowledge import Knowledge
from clara.knowledge.passages import CORPUS
from clara.knowledge.question_analysis import DOCUMENT_WEIGHT
from clara.knowledge.questions import OUTSIDE
from clara.language.detection import LanguageDetector
from clara.language.packs import read_languages
from clara.language.phrases import every
from clara.language.tokens import words
from clara.retrieval.classifier import TextClassifier
from clara.retrieval.passage import Query
from clara.retrieval.vocabulary import read_vocabulary
from clara.settings import resources


def build_dialogue(knowledge: Knowledge, texts: Texts, human_contact: str | None) -> Dialogue:
    """Give the steps, ready. Raises DataError when a phrasebook has faults."""
    books = read_phrasebooks(resources() / "data")
    catalogue, named, names = knowledge.catalogue, knowledge.named, knowledge.names
    vocabulary = read_vocabulary(resources() / "data" / "vocabulary" / "tramites.json")
    framing = Framing(texts, names, knowledge.passages)

    def matters(text: str) -> list[str]:
        return vocabulary.cues.meanings(words(text))

    following = Following(books, names, named, _topics(knowledge), catalogue.places, matters)

    def nearest(text: str) -> list[str]:
        likely = knowledge.intent.intent(text, None).documents
        return [name for name in sorted(likely, key=likely.__getitem__, reverse=True) if name != OUTSIDE]

    return Dialogue(
        listing=Listing(texts, names),
        commands=build_commands(knowledge, texts, books),
        choosing=Choosing(books, named),
        correcting=Correcting(books, following, named),
        following=following,
        reaching=Reaching(framing, catalogue.procedures, knowledge.passages, catalogue.places, human_contact),
        named=named,
        places=catalogue.places,
        nearest=nearest,
    )


def build_commands(knowledge: Knowledge, texts: Texts, books: Mapping[str, Phrasebook]) -> Commands:
    """Give what recognises commands; the names of procedures are never misspelt commands."""
    procedures = knowledge.catalogue.procedures.values()
    known = [phrase for item in procedures for phrase in (*every(item.vocabulary), *item.name.values())]
    return Commands(texts, books, known)


def build_detector(knowledge: Knowledge, texts: Texts, model: TextClassifier) -> LanguageDetector:
    """Give what tells the language of a message; short ones by what people say while a conversation goes on."""
    data = resources() / "data"
    books, scripts = read_phrasebooks(data), {code: language.script for code, language in read_languages(data).items()}
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
    return LanguageDetector(scripts, model.shares, model.about.get("answered_in", {}), [*spanish, *places], phrases)


def _topics(knowledge: Knowledge) -> Topics:
    understand = knowledge.understand

    def topics(text: str) -> tuple[Mapping[str, float], float]:
        understood = understand(Query(text, CORPUS), None)
        likely = {name: weight / DOCUMENT_WEIGHT for name, weight in understood.documents.items()}
        return likely, understood.outside or 0.0

    return topics
